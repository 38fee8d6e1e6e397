import type { AuditAction, Changes } from '../src/audit/entry.ts';
import { ADMIN_API } from './admin.ts';
import { DAY, dayText, exactSpanText, NO_LIMIT, numberText, timeText, visible } from './format.ts';

// What the page of the audit log computes. The responses are in src/admin/wire.ts.

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

type ChangeText = { field: string; old: string | null; new: string | null };

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

/** What the server returns at most. */
export const AUDIT_LIMIT = 1_000;

export type AuditFilter = { action: string; subject: string; from: string; until: string };

export const NO_FILTER: AuditFilter = { action: '', subject: '', from: '', until: '' };

export function readAuditFilter(query: URLSearchParams): AuditFilter {
  const text = (name: string) => query.get(name) ?? '';
  return { action: text('action'), subject: text('subject'), from: text('from'), until: text('until') };
}

/** The address of the page with this filter. */
export function auditPath(filter: AuditFilter): string {
  const set = Object.entries(filter).filter(([, value]) => value !== '');
  return set.length === 0 ? '/admin/audit' : `/admin/audit?${new URLSearchParams(set)}`;
}

/** The request to the server: the last day is included. A text that is no day is left out. */
export function auditApi({ action, subject, from, until }: AuditFilter, limit = AUDIT_LIMIT): string {
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
