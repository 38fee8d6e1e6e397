import type { AccountItem, HealthResponse } from '../src/admin/wire.ts';
import type { AuditAction, Changes } from '../src/audit/entry.ts';
import { limitsOf } from '../src/core/tier.ts';
import { ApiError } from './api.ts';
import {
  bytesText,
  DAY,
  dayText,
  exactSpanText,
  NO_LIMIT,
  nowTs,
  numberText,
  spanText,
  timeText,
  visible,
} from './format.ts';
import { encoded } from './question.ts';

// What the pages of administrators compute. The answers are in src/admin/wire.ts.

export const ADMIN_API = '/api/admin/v1';

export const accountPath = (username: string): string => `/admin/accounts?name=${encoded(username)}`;
/** Of an account. A name of blanks can be seen and clicked too. */
export const accountName = (username: string): string =>
  username.trim() === '' ? `“${visible(username)}” (blanks)` : visible(username);
export const accountApi = (username: string): string => `${ADMIN_API}/accounts/${encoded(username)}`;

/** A mistake in a form that the page finds itself. The status is that of a refused request. */
export const mistake = (text: string): ApiError => new ApiError(400, text);

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

/** Enabled accounts that have used most of their month, the fullest first. */
export function nearLimit(accounts: readonly AccountItem[]): AccountItem[] {
  const share = (account: AccountItem) => usedShare(account) ?? 0;
  return accounts
    .filter((account) => account.enabled && share(account) >= NEAR_SHARE)
    .toSorted((a, b) => share(b) - share(a));
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

// --- audit log ---

/** Every action in words. */
const ACTION_WORDS: Record<AuditAction, string> = {
  'account.add': 'Account added',
  'account.set': 'Account changed',
  'account.disable': 'Account disabled',
  'account.enable': 'Account enabled',
  'account.passwd': 'Password changed',
  'account.revoke': 'Sessions and tokens ended',
  'account.sign-out': 'Signed out',
  'account.remove': 'Account removed',
  'account.soft-limit': 'Soft limit passed',
  'tier.set': 'Tier set',
  'tier.remove': 'Tier removed',
  'key.add': 'Key made',
  'key.rotate': 'Key rotated',
  'feed.add': 'Feed added',
  'feed.set': 'Feed changed',
  'feed.pause': 'Feed paused',
  'feed.resume': 'Feed resumed',
  'feed.remove': 'Feed removed',
  'listing.add': 'Listing added',
  'listing.remove': 'Listing removed',
  'allow.add': 'Added to the allow list',
  'allow.remove': 'Taken from the allow list',
  'domain.set': 'Domain set by hand',
  'list.add': 'List defined',
  'list.set': 'List changed',
  'list.remove': 'List removed',
  'exclusion.add': 'Excluded from lists',
  'exclusion.remove': 'Exclusion removed',
  'list-key.add': 'Key of a list made',
  'list-key.remove': 'Key of a list revoked',
  'audit.clean-up': 'Old entries deleted',
};

export const actionText = (action: string): string => ACTION_WORDS[action as AuditAction] ?? visible(action);

const KIND_WORDS: Record<string, string> = {
  account: 'All about accounts',
  tier: 'All about tiers',
  key: 'All about keys',
  feed: 'All about feeds',
  listing: 'All about listings',
  allow: 'All about the allow list',
  domain: 'All about domains',
  list: 'All about lists for devices',
  exclusion: 'All about exclusions',
  'list-key': 'All about keys of lists',
};

/** For the filter: each kind, then its actions. */
export function actionOptions(): { value: string; text: string }[] {
  const actions = Object.entries(ACTION_WORDS);
  const kinds = new Set(actions.map(([action]) => action.replace(/\..*/, '')));
  const options = [...kinds].flatMap((kind) => [
    ...(KIND_WORDS[kind] ? [{ value: kind, text: KIND_WORDS[kind] }] : []),
    ...actions.filter(([action]) => action.startsWith(`${kind}.`)).map(([value, text]) => ({ value, text })),
  ]);
  return [{ value: '', text: 'All changes' }, ...options];
}

export type ChangeText = { field: string; old: string | null; new: string | null };

/** Names that the pages call otherwise. */
const FIELD_WORDS: Record<string, string> = {
  qms: 'soft limit',
  qmh: 'hard limit',
  rl_qph: 'per hour',
  rl_qpm: 'per minute',
  rl_qps: 'per second',
  ads: 'datasets',
  trs: 'access level',
  admin: 'administrator',
  sub: 'subscription',
  url: 'address',
  human: 'points',
  botname: 'malware family',
  dstport: 'port',
  max_score: 'highest score of the domain',
  age_seconds: 'seen in the last',
  every_seconds: 'interval',
  until_ts: 'ends',
  valid_until: 'ends',
  removed_until: 'can be listed again',
};

/** Old and new value of each field as texts; null for a value that did not exist. */
export function changeTexts(changes: Changes): ChangeText[] {
  return Object.entries(changes).map(([field, { old, new: value }]) => ({
    field: fieldText(field),
    old: valueText(field, old),
    new: valueText(field, value),
  }));
}

const fieldText = (field: string): string =>
  Object.hasOwn(FIELD_WORDS, field)
    ? (FIELD_WORDS[field] ?? '')
    : visible(field.replace(/_(ts|seconds)$/, '').replaceAll('_', ' '));

function valueText(field: string, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && /_(ts|until)$/.test(field)) return timeText(value);
  if (typeof value === 'number' && field.endsWith('_seconds')) return exactSpanText(value);
  if (typeof value === 'number') return value >= NO_LIMIT ? 'no limit' : numberText(value);
  if (Array.isArray(value)) return visible(value.join(', '));
  return visible(typeof value === 'string' ? value : JSON.stringify(value));
}

export const AUDIT_LIMIT = 100;
export const AUDIT_LIMIT_MAX = 1_000;

export type AuditFilter = { action: string; subject: string; from: string; until: string; limit: number };

export const NO_FILTER: AuditFilter = { action: '', subject: '', from: '', until: '', limit: AUDIT_LIMIT };

export function readAuditFilter(query: URLSearchParams): AuditFilter {
  const text = (name: string) => query.get(name) ?? '';
  const limit = text('limit') === String(AUDIT_LIMIT_MAX) ? AUDIT_LIMIT_MAX : AUDIT_LIMIT;
  return { action: text('action'), subject: text('subject'), from: text('from'), until: text('until'), limit };
}

/** The address of the page with this filter. */
export function auditPath({ action, subject, from, until, limit }: AuditFilter): string {
  const shown = { action, subject, from, until, limit: limit === AUDIT_LIMIT ? '' : String(limit) };
  const set = Object.entries(shown).filter(([, value]) => value !== '');
  return set.length === 0 ? '/admin/audit' : `/admin/audit?${new URLSearchParams(set)}`;
}

/** The question to the server: the last day is included. A text that is no day is left out. */
export function auditApi({ action, subject, from, until, limit }: AuditFilter): string {
  const [since, end] = [dayTs(from), dayTs(until)];
  const set = new URLSearchParams({ limit: String(limit) });
  if (action !== '') set.set('action', action);
  if (subject !== '') set.set('subject', subject);
  if (since !== null) set.set('since', String(since));
  if (end !== null) set.set('until', String(end + DAY - 1));
  return `${ADMIN_API}/audit?${set}`;
}

function dayTs(day: string): number | null {
  const ts = Date.parse(day) / 1_000;
  // `Date` would continue into the next month: 2026-02-30 would be 2 March.
  return ts >= 0 && dayText(ts) === day ? ts : null;
}

// --- health ---

/** Nodes write every 20 s that they run: after three times that, one is away. */
const NODE_AWAY_SECONDS = 60;
/** Below this the store may soon not be able to write. */
const LITTLE_SPACE_BYTES = 2_000_000_000;

export type HealthLine = { tone: 'ok' | 'late' | 'danger' | 'off'; state: string; text: string };

/** One line each about store, disk, Redis and servers. */
export function healthLines({ store, redis, nodes }: HealthResponse, now: number = nowTs()): HealthLine[] {
  return [storeLine(store), ...spaceLine(store.free_bytes), redisLine(redis), nodesLine(nodes, now)];
}

const ENGINE_WORDS = { sqlite: 'The embedded store', postgres: 'PostgreSQL' };

export const engineText = (engine: HealthResponse['store']['engine']): string => ENGINE_WORDS[engine];

function storeLine({ engine, ready, problem, faults }: HealthResponse['store']): HealthLine {
  const name = ENGINE_WORDS[engine];
  if (!ready) return { tone: 'danger', state: 'down', text: `${name} does not answer: ${visible(problem ?? '')}` };
  if (faults) {
    const text = `${name} answers, but has rows that contradict each other. Run urlwarden integrity.`;
    return { tone: 'late', state: 'faults', text };
  }
  return { tone: 'ok', state: 'well', text: `${name} answers.` };
}

function spaceLine(free: number | null): HealthLine[] {
  if (free === null || free >= LITTLE_SPACE_BYTES) return [];
  return [{ tone: 'late', state: 'full soon', text: `Only ${bytesText(free)} are free on the disk of the store.` }];
}

function redisLine({ used, up, limits }: HealthResponse['redis']): HealthLine {
  if (!used) return { tone: 'off', state: 'not used', text: 'Redis is not used: each server counts queries alone.' };
  if (up) return { tone: 'ok', state: 'well', text: 'Redis answers: all servers count queries together.' };
  if (limits === 'refused') return { tone: 'danger', state: 'down', text: 'Redis is down, and queries are refused.' };
  return { tone: 'late', state: 'down', text: 'Redis is down: each server counts queries alone until it is back.' };
}

export const isAway = ({ seen_ts: seenTs }: { seen_ts: number }, now: number = nowTs()): boolean =>
  now - seenTs > NODE_AWAY_SECONDS;

function nodesLine(nodes: HealthResponse['nodes'], now: number): HealthLine {
  const away = nodes.filter((node) => isAway(node, now));
  const running = nodes.length - away.length;
  const count = running === 1 ? 'One server runs.' : `${running} servers run.`;
  const newest = away.toSorted((a, b) => b.seen_ts - a.seen_ts)[0];
  if (newest === undefined) return { tone: 'ok', state: 'well', text: count };
  const quiet = `${visible(newest.name)} was last seen ${spanText(now - newest.seen_ts)} ago.`;
  return { tone: 'late', state: 'quiet', text: `${count} ${quiet}` };
}
