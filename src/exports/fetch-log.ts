import type { ListKey, ListStore } from './store.ts';

type Fetch = NonNullable<ListKey['lastFetch']>;

export type FetchLog = {
  /** Returns at once. */
  fetched(keyId: number, fetch: Fetch): void;
  /** Writes what is not written. */
  close(): Promise<void>;
};

type FetchLogOptions = { store: Pick<ListStore, 'recordFetch'>; onFailure(error: unknown): void };

/** A thousand devices must not be a thousand writes; people look at the last fetch to see whether a device still comes. */
const WRITE_MS = 5_000;

/** Keeps the last fetch of each key, and writes all of them every few seconds. */
export function createFetchLog({ store, onFailure }: FetchLogOptions): FetchLog {
  let waiting = new Map<number, Fetch>();

  async function write(): Promise<void> {
    const fetches = waiting;
    waiting = new Map();
    for (const [keyId, fetch] of fetches) await store.recordFetch(keyId, fetch).catch(onFailure);
  }

  let writing = Promise.resolve();
  const timer = setInterval(() => {
    if (waiting.size > 0) writing = writing.then(write);
  }, WRITE_MS).unref();
  return {
    fetched: (keyId, fetch) => void waiting.set(keyId, fetch),
    async close() {
      clearInterval(timer);
      await writing;
      await write();
    },
  };
}
