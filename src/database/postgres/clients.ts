import type postgres from 'postgres';
import { noResponse } from './faults.ts';

/**
 * Clients of the driver with one connection each. The pool of the driver (postgres 3.4.9) is not used: while some but not
 * all of its connections are busy, it searches a list that grows with every statement. Under load a node needed four
 * times the CPU time for a request after seven minutes. With one connection the list never has more than one entry.
 */
export type Clients = {
  /**
   * A client that nobody else uses, without a promise if one is free. Throws `unavailable` if none becomes free in time,
   * and the reason of the signal after an abort.
   */
  acquire(waitMs: number, signal?: AbortSignal): postgres.Sql | Promise<postgres.Sql>;
  release(client: postgres.Sql): void;
  /** Instead of `release`, for a client that has lost its connection. Another one takes its place after a short delay. */
  replace(client: postgres.Sql): void;
  count(): ClientCounts;
  /** Running statements have this long to finish. Whoever waits for a client is refused. */
  end(timeoutSeconds: number): Promise<void>;
};

/** How many clients are used and free, and how many callers wait for one. */
export type ClientCounts = { inUse: number; idle: number; waiting: number };

/** Delay before another client is opened: a refused connection fails in less than a millisecond. */
const REPLACE_MS = 100;

type Waiter = { resolve(client: postgres.Sql): void; reject(error: unknown): void };

/** `first`: a client that is open already. */
export function createClients(open: () => postgres.Sql, connections: number, first?: postgres.Sql): Clients {
  const all = new Set(first === undefined ? [] : [first]);
  /** The last one released is the first one used again, so that a node with few requests keeps few connections busy. */
  const free = [...all];
  /** In the order of their calls. */
  const waiting = new Set<Waiter>();

  function openAnother(): postgres.Sql | undefined {
    if (all.size >= connections) return undefined;
    const client = open();
    all.add(client);
    return client;
  }

  function release(client: postgres.Sql): void {
    const [next] = waiting;
    if (next === undefined) {
      free.push(client);
      return;
    }
    waiting.delete(next);
    next.resolve(client);
  }

  function waitForClient(waitMs: number, signal?: AbortSignal): Promise<postgres.Sql> {
    const { promise, ...waiter } = Promise.withResolvers<postgres.Sql>();
    const leave = (reason: unknown) => {
      waiting.delete(waiter);
      waiter.reject(reason); // no effect if it has got a client just now
    };
    const abort = () => leave(signal?.reason);
    const timer = setTimeout(() => leave(noResponse()), waitMs);
    signal?.addEventListener('abort', abort);
    waiting.add(waiter);
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    });
  }

  return {
    acquire: (waitMs, signal) => free.pop() ?? openAnother() ?? waitForClient(waitMs, signal),

    release,

    // The driver (postgres 3.4.9) does not recover from a connection that closes before a statement is sent: it connects
    // again, but sends nothing, and the next statement waits until its time is over.
    replace(client) {
      void client.end({ timeout: 0 });
      const openNext = () => {
        all.delete(client);
        const another = waiting.size > 0 ? openAnother() : undefined;
        if (another !== undefined) release(another);
      };
      setTimeout(openNext, REPLACE_MS).unref();
    },

    count: () => ({ inUse: all.size - free.length, idle: free.length, waiting: waiting.size }),

    async end(timeoutSeconds) {
      for (const { reject } of waiting) reject(noResponse());
      waiting.clear();
      await Promise.all([...all].map((client) => client.end({ timeout: timeoutSeconds })));
    },
  };
}
