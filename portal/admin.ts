import type { AccountItem } from '../src/admin/wire.ts';
import { limitsOf } from '../src/core/tier.ts';
import { mistake } from './api.ts';
import { hasText, NO_LIMIT, numberText, visible } from './format.ts';
import type { Option } from './formats.ts';
import { encoded } from './query.ts';

// What the pages about accounts and tiers compute. The responses are in src/admin/wire.ts.

export const ADMIN_API = '/api/admin/v1';

export const accountPath = (username: string): string => `/admin/accounts?name=${encoded(username)}`;
/** Of an account. A name of blanks can be seen and clicked too. */
export const accountName = (username: string): string =>
  username.trim() === '' ? `“${visible(username)}” (blanks)` : visible(username);
export const accountApi = (username: string): string => `${ADMIN_API}/accounts/${encoded(username)}`;

/** An empty field and the word of no limit give `empty`. `150,000` is a number as well. */
export function readCount(text: string | undefined, label: string, empty: number | null): number | null {
  const digits = (text ?? '').replaceAll(/[\s,]/g, '');
  if (digits === '') return empty;
  if (!/^\d{1,10}$/.test(digits) || Number(digits) > NO_LIMIT) {
    throw mistake(`${label}: write a whole number up to ${numberText(NO_LIMIT)}, or leave the field empty.`);
  }
  return Number(digits);
}

export const limitText = (limit: number | null): string => {
  if (limit === null) return 'unknown';
  return limit >= NO_LIMIT ? 'no limit' : numberText(limit);
};

export type Rates = { rl_qph: number; rl_qpm: number; rl_qps: number };

/** The rates that follow from the hard limit of a month. */
export function derivedRates(qmh: number): Rates {
  const none = { trs: '', ads: [], qms: qmh, rlQps: null, rlQpm: null, rlQph: null };
  const { rlQph, rlQpm, rlQps } = limitsOf({ name: '', ...none, qmh });
  return { rl_qph: rlQph, rl_qpm: rlQpm, rl_qps: rlQps };
}

/** Which part of its hard limit an account has used: 0 to 1 and more; null without a limit. */
export function usedShare({ queries_month: used, hard }: AccountItem): number | null {
  if (hard === null || hard >= NO_LIMIT) return null;
  return hard === 0 ? 1 : used / hard;
}

/** From here on an account is worth a look: there is time to ask the customer before queries are refused. */
const NEAR_SHARE = 0.8;

const isNearLimit = (account: AccountItem) => account.enabled && (usedShare(account) ?? 0) >= NEAR_SHARE;

/** Enabled accounts that have used most of their month, the fullest first. */
export function nearLimit(accounts: readonly AccountItem[]): AccountItem[] {
  return accounts.filter(isNearLimit).toSorted((a, b) => (usedShare(b) ?? 0) - (usedShare(a) ?? 0));
}

const ACCOUNT_STATES: readonly (Option & { has(account: AccountItem): boolean })[] = [
  { value: '', text: 'all', has: () => true },
  { value: 'enabled', text: 'enabled', has: ({ enabled }) => enabled },
  { value: 'disabled', text: 'disabled', has: ({ enabled }) => !enabled },
  { value: 'admin', text: 'administrators', has: ({ admin }) => admin },
  { value: 'near', text: 'near their limit', has: isNearLimit },
];

export const ACCOUNT_STATE_OPTIONS: readonly Option[] = ACCOUNT_STATES;

export const NEAR_LIMIT_PATH = '/admin/accounts?state=near';

/** `find=ada&tier=standard&state=disabled` of the address: `find` is a part of the name, or a subscription number. */
export function filterAccounts(accounts: readonly AccountItem[], query: URLSearchParams): AccountItem[] {
  const find = (query.get('find') ?? '').trim();
  const tier = query.get('tier');
  const state = ACCOUNT_STATES.find(({ value }) => value === query.get('state'));
  return accounts.filter(
    (account) =>
      (tier === null || account.tier === tier) &&
      (state === undefined || state.has(account)) &&
      (account.sub === find || hasText(account.username, find)),
  );
}

/** 18 bytes are 24 letters, as strong as the passwords that the server generates. */
const PASSWORD_BYTES = 18;

export function newPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(PASSWORD_BYTES));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_');
}

/** The name may have characters that nobody can type: what is shown counts as well. */
export function requireTyped(typed: string | undefined, name: string): void {
  if (typed !== name && typed !== visible(name)) {
    throw mistake(`That is not the name. Type ${visible(name)} to confirm.`);
  }
}
