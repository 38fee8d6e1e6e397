/** What must be reached: a bound on the ratio to the yardstick, or on our own figure. */
export type Mark = { of: 'ratio' | 'ours'; atLeast?: number; atMost?: number };

/** One line of the table. `ours` and `yardstick` have one number for each round, measured in turns. */
export type Figure = {
  name: string;
  unit: string;
  ours: number[];
  /** Null where the row stands for itself. */
  yardstick: number[] | null;
  /** Null where the number is only printed. */
  mark: Mark | null;
  note?: string;
};

/** A row that cannot be measured here, and why. */
export type Missing = { name: string; missing: string };

export type Result = Figure | Missing;

/** What every row is given. */
export type Bench = {
  /** The data folder with so many made-up URLs. */
  dataDir(urls: number): string;
  /** Of how many URLs the largest database is. */
  largest: number;
  rounds: number;
  /** How long one round of load lasts. */
  seconds: number;
  say(text: string): void;
};

/** Some kindred rows that are measured together, and the name that `npm run bench -- NAME` knows them by. */
export type Row = { name: string; measure(bench: Bench): Promise<Result[]> };

/** Yardstick and ours by turns, so that what else the machine does falls on both. */
export async function inTurns<T>(
  rounds: number,
  yardstick: () => Promise<T>,
  ours: () => Promise<T>,
): Promise<{ yardstick: T[]; ours: T[] }> {
  const results: { yardstick: T[]; ours: T[] } = { yardstick: [], ours: [] };
  for (let round = 0; round < rounds; round++) {
    results.yardstick.push(await yardstick());
    results.ours.push(await ours());
  }
  return results;
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 1 ? middle : middle - 1], sorted[middle]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

/** Of each round, because the two were measured right after each other. */
export function ratios({ ours, yardstick }: Figure): number[] {
  return yardstick === null ? [] : ours.map((value, round) => value / (yardstick[round] ?? Number.NaN));
}

/** Null where there is nothing to reach. */
export function isReached(figure: Figure): boolean | null {
  if (figure.mark === null) return null;
  const { of, atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = figure.mark;
  const value = median(of === 'ratio' ? ratios(figure) : figure.ours);
  return value >= atLeast && value <= atMost;
}
