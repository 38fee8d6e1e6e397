import { AppError, badRequest } from '../core/errors.ts';
import { BUILT_IN_TIERS, DATASETS, type Limits, NO_LIMIT, type Tier } from '../core/tier.ts';
import type { AccountStore } from './store.ts';

/** Needs no quotes in a shell and no escaping in a table. */
const TIER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The built-in tiers, then those that an operator has set. */
export async function allTiers(store: Pick<AccountStore, 'tiers'>): Promise<Tier[]> {
  return [...BUILT_IN_TIERS, ...(await store.tiers())];
}

export async function findTier(store: AccountStore, name: string): Promise<Tier | null> {
  return (await allTiers(store)).find((tier) => tier.name === name) ?? null;
}

export async function requireTier(store: Pick<AccountStore, 'tiers'>, name: string): Promise<Tier> {
  const tiers = await allTiers(store);
  const tier = tiers.find((candidate) => candidate.name === name);
  if (tier !== undefined) return tier;
  const names = tiers.map((candidate) => candidate.name).join(', ');
  throw new AppError('not_found', `There is no tier ${JSON.stringify(name)}. There are: ${names}.`);
}

const ACCESS_LEVEL = /^[A-Za-z0-9._-]{1,64}$/;

/** A field that has an impossible value, and what it must be. */
type TierFault = { field: 'ads' | 'trs' | 'qms' | 'qmh' | 'rl_qps' | 'rl_qpm' | 'rl_qph'; rule: string };

/** The first impossible value of a tier, or null. A rate of 0 looks like "no limit" but would refuse every query. */
export function tierFault({ ads, trs, qms, qmh, rlQps, rlQpm, rlQph }: Tier): TierFault | null {
  if (!ads.every((dataset) => DATASETS.includes(dataset)))
    return { field: 'ads', rule: `some of ${DATASETS.join(', ')}` };
  if (!ACCESS_LEVEL.test(trs)) return { field: 'trs', rule: 'one word of letters and digits' };
  const rates = { rl_qps: rlQps ?? 1, rl_qpm: rlQpm ?? 1, rl_qph: rlQph ?? 1 };
  const numbers = Object.entries({ qms, qmh, ...rates }) as [TierFault['field'], number][];
  for (const [field, value] of numbers) {
    const min = field in rates ? 1 : 0;
    const isPossible = Number.isInteger(value) && value >= min && value <= NO_LIMIT;
    if (!isPossible) return { field, rule: `a whole number from ${min} to ${NO_LIMIT} (no limit)` };
  }
  // Queries are refused before they pass such a soft limit, so nobody would be warned.
  if (qms > qmh && qms !== NO_LIMIT) {
    return { field: 'qms', rule: `at most the hard limit (qmh), ${qmh}, or ${NO_LIMIT} (no limit)` };
  }
  return null;
}

/** Creates a tier or replaces all of its values. Running servers apply it within five seconds. */
export async function setTier(store: AccountStore, tier: Tier): Promise<void> {
  refuseBuiltIn(tier.name);
  if (!TIER_NAME.test(tier.name)) {
    const rule = 'up to 64 letters, digits, dots, dashes and underscores, a letter or digit first';
    throw badRequest(`${JSON.stringify(tier.name)} is not a valid tier name: use ${rule}.`);
  }
  const fault = tierFault(tier);
  if (fault !== null) throw badRequest(`"${fault.field}" must be ${fault.rule}.`);
  await store.putTier(tier);
}

export async function removeTier(store: AccountStore, name: string): Promise<void> {
  refuseBuiltIn(name);
  const outcome = await store.removeTier(name);
  if (outcome === 'removed') return;
  if (outcome === 'unknown') await requireTier(store, name);
  const users = (await store.accounts()).filter((account) => account.tier === name).map(({ username }) => username);
  throw badRequest(
    `The tier ${name} is in use by ${shortList(users)}: assign another tier to them first (urlwarden account set USERNAME --tier NAME).`,
  );
}

/** Limits for programs; the keys are stable. */
export function limitsJson({ trs, ads, qms, qmh, rlQps, rlQpm, rlQph }: Limits) {
  return { trs, ads, qms, qmh, rl_qps: rlQps, rl_qpm: rlQpm, rl_qph: rlQph };
}

/** In any letter case, because `Standard` and `standard` are easily confused. */
function refuseBuiltIn(name: string): void {
  if (!BUILT_IN_TIERS.some((tier) => tier.name === name.toLowerCase())) return;
  throw badRequest(`The tier ${name} is built in and cannot be changed: choose another name.`);
}

const MAX_NAMES_SHOWN = 5;

function shortList(names: string[]): string {
  const shown = names.slice(0, MAX_NAMES_SHOWN).map((name) => JSON.stringify(name));
  return names.length > MAX_NAMES_SHOWN
    ? `${shown.join(', ')} and ${names.length - MAX_NAMES_SHOWN} more`
    : shown.join(', ');
}
