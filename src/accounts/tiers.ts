import { AppError } from '../core/errors.ts';
import { BUILT_IN_TIERS, type Tier } from '../core/tier.ts';
import type { AccountStore } from './store.ts';

/** Needs no quotes in a shell and no escaping in a table. */
const TIER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The built-in tiers, then those that an operator has set. */
export async function allTiers(store: AccountStore): Promise<Tier[]> {
  return [...BUILT_IN_TIERS, ...(await store.tiers())];
}

export async function requireTier(store: AccountStore, name: string): Promise<Tier> {
  const tiers = await allTiers(store);
  const tier = tiers.find((candidate) => candidate.name === name);
  if (tier !== undefined) return tier;
  const names = tiers.map((candidate) => candidate.name).join(', ');
  throw new AppError('not_found', `There is no tier ${JSON.stringify(name)}. There are: ${names}.`);
}

/** Creates a tier or replaces all of its values. Running servers apply it within five seconds. */
export async function setTier(store: AccountStore, tier: Tier): Promise<void> {
  refuseBuiltIn(tier.name);
  if (!TIER_NAME.test(tier.name)) {
    const rule = 'up to 64 letters, digits, dots, dashes and underscores, a letter or digit first';
    throw new AppError('bad_request', `${JSON.stringify(tier.name)} is not a valid tier name: use ${rule}.`);
  }
  await store.putTier(tier);
}

export async function removeTier(store: AccountStore, name: string): Promise<void> {
  refuseBuiltIn(name);
  const outcome = await store.removeTier(name);
  if (outcome === 'removed') return;
  if (outcome === 'unknown') await requireTier(store, name);
  const users = (await store.accounts()).filter((account) => account.tier === name).map(({ username }) => username);
  throw new AppError(
    'bad_request',
    `The tier ${name} is in use by ${shortList(users)}: assign another tier to them first (urlwarden account set USERNAME --tier NAME).`,
  );
}

/** In any letter case, because `Standard` and `standard` are easily confused. */
function refuseBuiltIn(name: string): void {
  if (!BUILT_IN_TIERS.some((tier) => tier.name === name.toLowerCase())) return;
  throw new AppError('bad_request', `The tier ${name} is built in and cannot be changed: choose another name.`);
}

const MAX_NAMES_SHOWN = 5;

function shortList(names: string[]): string {
  const shown = names.slice(0, MAX_NAMES_SHOWN).map((name) => JSON.stringify(name));
  return names.length > MAX_NAMES_SHOWN
    ? `${shown.join(', ')} and ${names.length - MAX_NAMES_SHOWN} more`
    : shown.join(', ');
}
