import type { Change, Changes, Fields, NewAuditEntry } from './entry.ts';

export type { Change, Fields };

export type AuditEntry = {
  id: number;
  ts: number;
  source: string;
  actor: string;
  origin: string;
  /** A text: a newer program may know more actions. */
  action: string;
  subject: string;
  changes: Changes;
};

/** Null does not restrict. `action` is an action, or the word before its dot. Both times are included. */
export type AuditFilter = {
  sinceTs: number;
  untilTs: number;
  subject: string | null;
  action: string | null;
  limit: number;
};

/** The audit log. Rows are never changed, and deleted only by the cleanup. */
export type AuditStore = {
  addAudit(entry: NewAuditEntry): Promise<void>;
  /** The newest first. */
  auditEntries(filter: AuditFilter): Promise<AuditEntry[]>;
  /** Deletes up to `limit` of the entries before `beforeTs`; returns how many. */
  removeOldAudit(beforeTs: number, limit: number): Promise<number>;
};

/** An account has passed its soft limit. */
export type SoftLimitEvent = {
  /** The same in every attempt to deliver it. */
  id: string;
  sub: string;
  username: string;
  tier: string;
  /** Queries per month. */
  limit: number;
  /** Queries in the month, when it was noticed. */
  count: number;
  /** Months since 1970. */
  month: number;
  ts: number;
};

/** An event that this node alone may send until the lease is over. */
export type ClaimedEvent = SoftLimitEvent & { attempts: number };

/** How an attempt ended. `nextTs` null: there is no further attempt. */
export type AttemptEnd = { deliveredTs: number | null; nextTs: number | null; error: string | null };

/** Queries of an account in a month. */
export type MonthUsage = { sub: string; username: string; tier: string; count: number };

/** Events of accounts that pass their soft limit: at most one per account and month, over all nodes. */
export type SoftLimitStore = {
  /** Adds the event and its entry in the audit log, both or none. False if the month of the account has one. */
  addSoftLimitEvent(event: SoftLimitEvent, nextTs: number | null, entry: NewAuditEntry): Promise<boolean>;
  /** The next event whose time has come. Counts the attempt, so that an event that ends the process is not sent forever. */
  claimSoftLimitEvent(nowTs: number, leaseUntilTs: number): Promise<ClaimedEvent | null>;
  endSoftLimitAttempt(event: Pick<SoftLimitEvent, 'sub' | 'month'>, end: AttemptEnd): Promise<void>;
  /** The next accounts after `sub` that have queries in the month and no event, in order of `sub`. */
  monthUsageWithoutEvent(month: number, sub: string, limit: number): Promise<MonthUsage[]>;
  removeSoftLimitEvents(beforeTs: number): Promise<void>;
};
