import type { Fields } from '../audit/store.ts';
import { limitsOf } from '../core/tier.ts';
import type { Account, AccountStore } from './store.ts';
import { findTier, limitsJson } from './tiers.ts';

// What the audit log has about accounts, tiers and keys, whoever changes them.

/** The generation shows that tokens were revoked. */
export function accountFields({ sub, tier, isEnabled, isAdmin, generation }: Account): Fields {
  return { sub, tier, enabled: isEnabled, admin: isAdmin, generation };
}

/** The limits of a tier; empty if there is no such tier. */
export async function tierFields(store: AccountStore, name: string): Promise<Fields> {
  const tier = await findTier(store, name);
  return tier === null ? {} : limitsJson(limitsOf(tier));
}

/** The ids of all keys. */
export async function keyFields(store: AccountStore): Promise<Fields> {
  return { keys: (await store.keys()).map(({ kid }) => kid) };
}
