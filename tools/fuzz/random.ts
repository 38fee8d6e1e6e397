/** Pseudo-random numbers, reproducible by their seed (mulberry32). */
export type Random = {
  /** An integer from 0 to `below` - 1. */
  int(below: number): number;
  chance(oneIn: number): boolean;
  pick<T>(items: readonly T[]): T;
};

/** Each request has its own generator, so that it can be repeated without the requests before it. */
export function createRandom(seed: number, index: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const int = (below: number) => next() % below;
  return {
    int,
    chance: (oneIn) => int(oneIn) === 0,
    pick: (items) => items[int(items.length)] as never,
  };
}
