import { ADDRESS_DATASETS } from './evidence.ts';

/** A named set of limits. A rate of null is derived from the hard monthly limit. */
export type Tier = {
  name: string;
  /** Access level. */
  trs: string;
  /** The datasets that an account may query. */
  ads: readonly string[];
  /** Queries per month. Passing the soft limit (`qms`) is logged; the hard limit (`qmh`) refuses queries. */
  qms: number;
  qmh: number;
  rlQps: number | null;
  rlQpm: number | null;
  rlQph: number | null;
};

/** The limits of an account, with every rate set. */
export type Limits = Omit<Tier, 'name' | 'rlQps' | 'rlQpm' | 'rlQph'> & {
  rlQps: number;
  rlQpm: number;
  rlQph: number;
};

/** The dataset of every endpoint under `byobject/url`. */
export const URL_DATASET = 'URL';
/** The dataset of every endpoint about domains. */
export const DOMAIN_DATASET = 'DOMAIN';
/** Every dataset that an account may query. Those of addresses are datasets of their own. */
export const DATASETS: readonly string[] = [URL_DATASET, ...ADDRESS_DATASETS, DOMAIN_DATASET];

/** Datasets as a tier stores them: each once, in upper case. */
export function toDatasets(given: readonly string[]): string[] {
  return [...new Set(given.map((name) => name.toUpperCase()))];
}

export const DEFAULT_TRS = 'base';

/** No limit in practice: the greatest signed 32-bit integer, which every client can store. */
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
 * Rates that are not set follow from D, a thirtieth of the hard monthly limit: 4·D per hour, D per minute, D / 8 per second.
 * With 5,000 queries per month D is 166: 664 per hour, 166 per minute and 21 per second. Ordinary clients send 7 to 25
 * requests in parallel. D is at least one, so that the smallest tier can send requests.
 */
export function limitsOf({ trs, ads, qms, qmh, rlQps, rlQpm, rlQph }: Tier): Limits {
  const daily = Math.max(1, Math.floor(qmh / DAYS_IN_MONTH));
  return { trs, ads, qms, qmh, rlQph: rlQph ?? 4 * daily, rlQpm: rlQpm ?? daily, rlQps: rlQps ?? Math.ceil(daily / 8) };
}

function builtIn(name: string, qms: number, qmh: number): Tier {
  return { name, trs: DEFAULT_TRS, ads: DATASETS, qms, qmh, rlQps: null, rlQpm: null, rlQph: null };
}
