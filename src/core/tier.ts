/** A named set of limits. A rate that is null follows from the hard monthly limit. */
export type Tier = {
  name: string;
  /** Access level. */
  trs: string;
  /** Datasets that may be queried. */
  ads: readonly string[];
  /** Queries a month: the soft limit is noted when it is passed, the hard one refuses. */
  qms: number;
  qmh: number;
  rlQps: number | null;
  rlQpm: number | null;
  rlQph: number | null;
};

/** The limits of an account, all rates worked out. */
export type Limits = Omit<Tier, 'name' | 'rlQps' | 'rlQpm' | 'rlQph'> & {
  rlQps: number;
  rlQpm: number;
  rlQph: number;
};

/** The dataset of everything under `byobject/url`. */
export const URL_DATASET = 'URL';
export const DEFAULT_TRS = 'base';

/** Greatest value that every client can hold in a signed 32-bit integer: as good as no limit. */
export const NO_LIMIT = 2_147_483_647;

const DAYS_IN_MONTH = 30;

export const OPERATOR_TIER = 'operator';
export const DEFAULT_TIER = 'standard';

export const BUILT_IN_TIERS: readonly Tier[] = [
  builtIn('developer', 5_000, 5_000),
  builtIn(DEFAULT_TIER, 100_000, 150_000),
  builtIn('enterprise', 10_000_000, 15_000_000),
  { ...builtIn(OPERATOR_TIER, NO_LIMIT, NO_LIMIT), rlQps: NO_LIMIT, rlQpm: NO_LIMIT, rlQph: NO_LIMIT },
];

/**
 * Rates that are not set follow from D, the most queries a day (a thirtieth of the hard monthly limit): 4·D an hour, D a
 * minute, D / 8 a second. With 5,000 a month D is 166, so 664 an hour, 166 a minute and 21 a second: ordinary clients send
 * 7 to 25 requests at once. Never below one, so that the smallest tier can send requests at all.
 */
export function limitsOf({ trs, ads, qms, qmh, rlQps, rlQpm, rlQph }: Tier): Limits {
  const daily = Math.max(1, Math.floor(qmh / DAYS_IN_MONTH));
  return { trs, ads, qms, qmh, rlQph: rlQph ?? 4 * daily, rlQpm: rlQpm ?? daily, rlQps: rlQps ?? Math.ceil(daily / 8) };
}

function builtIn(name: string, qms: number, qmh: number): Tier {
  return { name, trs: DEFAULT_TRS, ads: [URL_DATASET], qms, qmh, rlQps: null, rlQpm: null, rlQph: null };
}
