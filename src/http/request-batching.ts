import type { RequestListener } from 'node:http';

/**
 * The same listener, called at the end of a turn of the event loop with all requests that came in it. Node would have each
 * answered before it reads the next one. In a row a look-up takes a third less of the processor's time, probably since its
 * caches then still hold the code of each step (docs/decisions/reads.md). A request that comes alone does not wait.
 */
export function batchRequests(listener: RequestListener): RequestListener {
  let waiting: Parameters<RequestListener>[] = [];

  function answerAll(): void {
    const all = waiting;
    waiting = [];
    for (const [request, response] of all) {
      if (!request.destroyed) listener(request, response); // else the client has left meanwhile
    }
  }

  return (request, response) => {
    if (waiting.length === 0) setImmediate(answerAll);
    waiting.push([request, response]);
  };
}
