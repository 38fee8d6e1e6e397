import { randomBytes } from 'node:crypto';
import { createAccount } from '../../../src/accounts/manage.ts';
import { setTier } from '../../../src/accounts/tiers.ts';
import { openControl } from '../../../src/app/stores.ts';
import { NO_LIMIT, OPERATOR_TIER, URL_DATASET } from '../../../src/core/tier.ts';

/** What the server may respond to requests with this token, from some moment on. */
export type Phase = {
  authorization: string;
  isAccepted: boolean;
  /** The status with which requests may be refused; null: none may be. */
  refusal: 401 | 403 | null;
};

/** An account, and what its requests must have added to its counter of the month. */
export type LoadAccount = {
  username: string;
  password: string;
  /** Parts of all requests. */
  parts: number;
  /** Whether it has a limit that refuses requests (429). */
  isLimited: boolean;
  /** The newest phase is the last one. */
  phases: Phase[];
  /** The weights of all queries that were answered with 200 or 404. */
  charged: number;
  /** The weights of all queries whose response was lost: each of them may have been counted or not. */
  uncertain: number;
  openStreams: number;
};

/** Queries a second that the limited account may send. */
const LIMITED_QPS = 20;
const LIMITED_TIER = 'soak-limited';

/** Only the account `CHANGED` is changed during the run. */
export const STEADY = ['soak-1', 'soak-2', 'soak-3', 'soak-4'];
export const LIMITED = 'soak-limited';
export const CHANGED = 'soak-changed';

/** Adds the accounts to a data folder. */
export async function addAccounts(dataDir: string): Promise<LoadAccount[]> {
  const accounts = [
    ...STEADY.map((username) => accountOf(username, 22, false)),
    accountOf(LIMITED, 2, true),
    accountOf(CHANGED, 10, false),
  ];
  const control = await openControl({ dataDir });
  try {
    const limits = { qms: NO_LIMIT, qmh: NO_LIMIT, rlQps: LIMITED_QPS, rlQpm: NO_LIMIT, rlQph: NO_LIMIT };
    await setTier(control, { name: LIMITED_TIER, trs: 'base', ads: [URL_DATASET], ...limits });
    for (const { username, password, isLimited } of accounts) {
      const tier = isLimited ? LIMITED_TIER : OPERATOR_TIER;
      await createAccount(control, { username, password, tier }, Math.floor(Date.now() / 1000));
    }
  } finally {
    await control.close();
  }
  return accounts;
}

function accountOf(username: string, parts: number, isLimited: boolean): LoadAccount {
  const password = randomBytes(12).toString('hex');
  return { username, password, parts, isLimited, phases: [], charged: 0, uncertain: 0, openStreams: 0 };
}

export const newestPhase = ({ phases }: LoadAccount): Phase => phases.at(-1) as Phase;

/** From now on every request must be accepted. */
export function accept(account: LoadAccount, authorization = newestPhase(account).authorization): void {
  account.phases.push({ authorization, isAccepted: true, refusal: null });
}

/** The account is being changed: from now on a request may be accepted or refused with this status. */
export function maybeRefuse(account: LoadAccount, refusal: 401 | 403): void {
  account.phases.push({ authorization: newestPhase(account).authorization, isAccepted: true, refusal });
}

/** From now on every request must be refused with this status. */
export function refuse(account: LoadAccount, refusal: 401 | 403): void {
  account.phases.push({ authorization: newestPhase(account).authorization, isAccepted: false, refusal });
}
