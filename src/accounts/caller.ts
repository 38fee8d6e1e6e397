import type { Limits } from '../core/tier.ts';
import type { Account } from '../store/control.ts';

/** Who asks, and what they may. */
export type Caller = { account: Account; limits: Limits };
