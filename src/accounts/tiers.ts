import { AppError } from '../core/errors.ts';
import { BUILT_IN_TIERS, type Tier } from '../core/tier.ts';
import type { AccountStore } from './store.ts';

/** What can be typed without quotes, and read in a table. */
const TIER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The built-in tiers, then those of the operator. */
export async function allTiers(control: AccountStore): Promise<Tier[]> {
  return [...BUILT_IN_TIERS, ...(await control.tiers())];
}

export async function requireTier(control: AccountStore, name: string): Promise<Tier> {
  const tiers = await allTiers(control);
  const tier = tiers.find((candidate) => candidate.name === name);
  if (tier !== undefined) return tier;
  const names = tiers.map((candidate) => candidate.name).join(', ');
  throw new AppError('not_found', `There is no tier ${JSON.stringify(name)}. There are: ${names}.`);
}

/** Makes a tier, or replaces one as a whole; running servers go by it within seconds. */
export async function setTier(control: AccountStore, tier: Tier): Promise<void> {
  refuseBuiltIn(tier.name);
  if (!TIER_NAME.test(tier.name)) {
    const rule = 'up to 64 letters, digits, dots, dashes and underscores, a letter or digit first';
    throw new AppError('bad_request', `${JSON.stringify(tier.name)} is no name for a tier: use ${rule}.`);
  }
  await control.putTier(tier);
}

export async function removeTier(control: AccountStore, name: string): Promise<void> {
  refuseBuiltIn(name);
  const outcome = await control.removeTier(name);
  if (outcome === 'removed') return;
  if (outcome === 'unknown') await requireTier(control, name);
  const users = (await control.accounts()).filter((account) => account.tier === name).map(({ username }) => username);
  throw new AppError(
    'bad_request',
    `The tier ${name} is in use by ${listed(users)}: give them another one first (urlwarden account set USERNAME --tier NAME).`,
  );
}

/** In any letter case: `Standard` beside `standard` would be read as the same. */
function refuseBuiltIn(name: string): void {
  if (!BUILT_IN_TIERS.some((tier) => tier.name === name.toLowerCase())) return;
  throw new AppError('bad_request', `The tier ${name} is built in and stays as it is: choose another name.`);
}

/** How many names a message shows. */
const LISTED = 5;

function listed(names: string[]): string {
  const shown = names.slice(0, LISTED).map((name) => JSON.stringify(name));
  return names.length > LISTED ? `${shown.join(', ')} and ${names.length - LISTED} more` : shown.join(', ');
}
