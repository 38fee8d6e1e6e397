import type { LastFetch } from './store.ts';

/** Last fetches of keys that are not written yet. */
type FetchTimes = {
  add(id: number, fetch: LastFetch): void;
  /** Writes those that wait. A failure loses them, and is no reason not to close a store. */
  close(): Promise<void>;
};

export type KeyFetch = LastFetch & { id: number };

/**
 * Long enough that a thousand devices that fetch every minute cost one transaction of some rows every few seconds; short
 * enough for somebody who watches the first fetch of a new device.
 */
const WRITE_EVERY_MS = 5_000;

/**
 * Keeps the newest fetch of each key in memory, and writes all of them together. A write that fails is repeated with the
 * next ones: what is lost with the process is only the time of a fetch.
 */
export function createFetchTimes(
  write: (fetches: KeyFetch[]) => Promise<unknown>,
  everyMs: number = WRITE_EVERY_MS,
): FetchTimes {
  let waiting = new Map<number, KeyFetch>();
  let writing: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  function writeWaiting(): void {
    const fetches = waiting;
    waiting = new Map();
    timer = undefined;
    writing = (async () => write([...fetches.values()]))().catch(() => {
      for (const [id, fetch] of fetches) if (!waiting.has(id)) add(id, fetch);
    });
  }

  function add(id: number, { ts, address, etag }: LastFetch): void {
    const known = waiting.get(id);
    if (known === undefined || known.ts <= ts) waiting.set(id, { id, ts, address, etag });
    timer ??= setTimeout(writeWaiting, everyMs).unref();
  }

  return {
    add,
    async close() {
      await writing;
      if (waiting.size > 0) {
        clearTimeout(timer);
        writeWaiting();
        await writing;
      }
      clearTimeout(timer);
    },
  };
}
