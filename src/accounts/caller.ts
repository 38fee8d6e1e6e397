import type { Limits } from '../core/tier.ts';
import type { Account } from './store.ts';

/** Who asks, and what they may. */
export type Caller = { account: Account; limits: Limits };
