/** The required value: a limit on the ratio to the yardstick, or on our own figure. */
export type Mark = { of: 'ratio' | 'ours'; atLeast?: number; atMost?: number };

/** One line of the table. `ours` and `yardstick` have one number per round and are measured alternately. */
export type Figure = {
  name: string;
  unit: string;
  ours: number[];
  /** Null when there is nothing to compare with. */
  yardstick: number[] | null;
  /** Null when no value is required. */
  mark: Mark | null;
  note?: string;
};

/** A row that cannot be measured on this machine, and the reason. */
type Missing = { name: string; missing: string };

export type Result = Figure | Missing;

/** The input of every row. */
export type Bench = {
  /** The data folder with this number of generated URLs. */
  dataDir(urls: number): string;
  /** The data folder with the generated listings of addresses. */
  listingsDir(): Promise<string>;
  /** The data folder with the generated domains, each with many URLs. */
  domainsDir(): Promise<string>;
  /** The number of URLs in the largest database. */
  largest: number;
  rounds: number;
  /** The duration of one round of load. */
  seconds: number;
  log(text: string): void;
};

/** Figures that are measured together; `npm run bench -- NAME` selects them. */
export type Row = { name: string; measure(bench: Bench): Promise<Result[]> };

/** Measures yardstick and ours alternately, so that other load on the machine affects both. */
export async function alternate<T>(
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

/** One ratio per round, because the two values of a round were measured directly after each other. */
export function ratios({ ours, yardstick }: Figure): number[] {
  return yardstick === null ? [] : ours.map((value, round) => value / (yardstick[round] ?? Number.NaN));
}

/** Null when no value is required. */
export function isReached(figure: Figure): boolean | null {
  if (figure.mark === null) return null;
  const { of, atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = figure.mark;
  const value = median(of === 'ratio' ? ratios(figure) : figure.ours);
  return value >= atLeast && value <= atMost;
}
