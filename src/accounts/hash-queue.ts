/** Who waits for a hash: one at a time per `key`; known ones have a queue of their own, which goes first. */
export type Visitor = { key: string; isKnown: boolean };

/** Bounds how many passwords are judged at a time, and how many wait for it. */
export type HashQueue = {
  /** Null when there is no room: come again later. */
  run<T>(visitor: Visitor, work: () => Promise<T>): Promise<T> | null;
};

/** At 46 ms a hash the last one in line waits 0.7 s, and a known one behind a full line of known ones 1.5 s. */
const WAITING_PER_SLOT = 16;
const KNOWN_WAITING_PER_SLOT = 32;

/** One hash at a time per two cores: the other one is for lookups. */
export function createHashQueue(cores: number): HashQueue {
  const slots = Math.max(1, Math.floor(cores / 2));
  const known = createLine(KNOWN_WAITING_PER_SLOT * slots);
  const others = createLine(WAITING_PER_SLOT * slots);
  let running = 0;

  /** The slot is handed over, not given up and taken again: nobody can slip in between. */
  async function occupy<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      const next = known.next() ?? others.next();
      if (next === undefined) running--;
      else next();
    }
  }

  return {
    run({ key, isKnown }, work) {
      if (running < slots) {
        running++;
        return occupy(work);
      }
      const turn = (isKnown ? known : others).join(key);
      return turn?.then(() => occupy(work)) ?? null;
    },
  };
}

/** Those who wait, in order of arrival. */
function createLine(maxWaiting: number) {
  const waiting = new Map<string, () => void>();
  return {
    /** Null when the line is full or already has someone with this key. */
    join(key: string): Promise<void> | null {
      if (waiting.size >= maxWaiting || waiting.has(key)) return null;
      return new Promise((resolve) => waiting.set(key, resolve));
    },
    next(): (() => void) | undefined {
      const [first] = waiting;
      if (first !== undefined) waiting.delete(first[0]);
      return first?.[1];
    },
  };
}
