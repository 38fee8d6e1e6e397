/** Numbers that look random and are the same again for the same seed (mulberry32). */
export type Random = {
  /** An integer, 0 up to but without `below`. */
  int(below: number): number;
  chance(oneIn: number): boolean;
  pick<T>(items: readonly T[]): T;
};

/** Each request has a generator of its own, so that one can be repeated without all those before it. */
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
