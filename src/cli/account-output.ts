import type { Account } from '../accounts/store.ts';
import { type Limits, limitsOf, type Tier } from '../core/tier.ts';

/** An account as programs get it; the keys stay as they are. */
export function accountJson({ sub, username, tier, isEnabled, createdTs }: Account) {
  return { sub, username, tier, enabled: isEnabled, created_ts: createdTs };
}

export function limitsJson({ trs, ads, qms, qmh, rlQps, rlQpm, rlQph }: Limits) {
  return { trs, ads, qms, qmh, rl_qps: rlQps, rl_qpm: rlQpm, rl_qph: rlQph };
}

/** A tier as programs get it, with every rate worked out. */
export function tierJson(tier: Tier, isBuiltIn: boolean) {
  return { name: tier.name, built_in: isBuiltIn, ...limitsJson(limitsOf(tier)) };
}
