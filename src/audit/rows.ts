import type { NewAuditEntry } from './entry.ts';
import type { AuditEntry, ClaimedEvent, MonthUsage, SoftLimitEvent } from './store.ts';

// Rows of the audit log and of soft limits, the same on both engines.

export const ENTRY_COLUMNS = 'ts, source, actor, origin, action, subject, changes';

type EntryRow = [
  ts: number,
  source: string,
  actor: string,
  origin: string,
  action: string,
  subject: string,
  changes: string,
];

export type StoredEntryRow = [id: number, ...EntryRow];

export function toEntryRow({ ts, actor, action, subject, changes }: NewAuditEntry): EntryRow {
  return [ts, actor.source, actor.name, actor.origin, action, subject, JSON.stringify(changes)];
}

export function toEntry([id, ts, source, actor, origin, action, subject, changes]: StoredEntryRow): AuditEntry {
  return { id, ts, source, actor, origin, action, subject, changes: JSON.parse(changes) };
}

export const EVENT_COLUMNS = 'sub, month, id, username, tier, soft_limit, count, ts';

type EventRow = [
  sub: string,
  month: number,
  id: string,
  username: string,
  tier: string,
  limit: number,
  count: number,
  ts: number,
];

export type ClaimedEventRow = [...EventRow, attempts: number];

export function toEventRow({ sub, month, id, username, tier, limit, count, ts }: SoftLimitEvent): EventRow {
  return [sub, month, id, username, tier, limit, count, ts];
}

export function toClaimedEvent(row: ClaimedEventRow): ClaimedEvent {
  const [sub, month, id, username, tier, limit, count, ts, attempts] = row;
  return { sub, month, id, username, tier, limit, count, ts, attempts };
}

export type MonthUsageRow = [sub: string, username: string, tier: string, count: number];

export function toMonthUsage([sub, username, tier, count]: MonthUsageRow): MonthUsage {
  return { sub, username, tier, count };
}
