/** One login in the queue. `isKnown`: its user has logged in from this address before. */
type QueuedLogin = { key: string; isKnown: boolean };

/**
 * Limits how many passwords are hashed at the same time and how many logins wait. One login per `key` waits. Known
 * logins have their own queue, which is served first: a flood of other logins does not delay them.
 */
type HashQueue = {
  /** Null when the queue is full or already has a login with this key: the client should retry later. */
  run<T>(login: QueuedLogin, hash: () => Promise<T>): Promise<T> | null;
};

/** At 46 ms a hash, with a thread for each, the last login of a full queue waits 0.7 s, and the last known one 1.5 s. */
const MAX_WAITING_PER_HASH = 16;
const MAX_KNOWN_WAITING_PER_HASH = 32;

/** One concurrent hash per two cores: the other core is for lookups. */
export const concurrentHashes = (cores: number): number => Math.max(1, Math.floor(cores / 2));

export function createHashQueue(cores: number): HashQueue {
  const maxRunning = concurrentHashes(cores);
  const known = createWaitingQueue(MAX_KNOWN_WAITING_PER_HASH * maxRunning);
  const others = createWaitingQueue(MAX_WAITING_PER_HASH * maxRunning);
  let running = 0;

  /** Starts the next login without lowering `running` in between, so that a new login cannot start before it. */
  async function runThenNext<T>(hash: () => Promise<T>): Promise<T> {
    try {
      return await hash();
    } finally {
      const startNext = known.shift() ?? others.shift();
      if (startNext === undefined) running--;
      else startNext();
    }
  }

  return {
    run({ key, isKnown }, hash) {
      if (running < maxRunning) {
        running++;
        return runThenNext(hash);
      }
      const started = (isKnown ? known : others).push(key);
      return started?.then(() => runThenNext(hash)) ?? null;
    },
  };
}

/** First in, first out, one entry per key. */
function createWaitingQueue(maxWaiting: number) {
  const starts = new Map<string, () => void>();
  return {
    /** Resolves when the login may start. Null when the queue is full or has this key. */
    push(key: string): Promise<void> | null {
      if (starts.size >= maxWaiting || starts.has(key)) return null;
      return new Promise((resolve) => starts.set(key, resolve));
    },
    /** Removes the first entry and returns the function that starts it. */
    shift(): (() => void) | undefined {
      const [first] = starts;
      if (first !== undefined) starts.delete(first[0]);
      return first?.[1];
    },
  };
}
