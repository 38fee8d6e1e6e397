import type { IncomingMessage, ServerResponse } from 'node:http';
import type { onRequestHookHandler } from 'fastify';
import type { Metrics, RecordAnswer } from '../metrics/metrics.ts';

/** What a request is counted under whose path is none of ours. */
export const UNKNOWN_ROUTE = 'unknown';

const RECORD = Symbol('record');
type Watched = ServerResponse & { [RECORD]?: RecordAnswer };

/**
 * Counts every answer, also those that Fastify never sees, and those that nobody waited for: its own hook for that
 * comes only when an answer was finished.
 */
export function watchAnswers(metrics: Metrics): (request: IncomingMessage, response: ServerResponse) => void {
  const recordUnknown = metrics.route(UNKNOWN_ROUTE);
  return (request, response: Watched) => {
    const startMs = performance.now();
    response.on('close', () => {
      const record = response[RECORD] ?? recordUnknown;
      const status = response.writableFinished ? response.statusCode : 'aborted';
      record(request.method, status, (performance.now() - startMs) / 1000);
    });
  };
}

/** In `onRequest` of a route: `request.routeOptions` would make an object of twelve keys for one of them. */
export function markRoute(record: RecordAnswer): onRequestHookHandler {
  return (_request, reply, done) => {
    (reply.raw as Watched)[RECORD] = record;
    done();
  };
}
