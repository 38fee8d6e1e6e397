import { randomUUID } from 'node:crypto';
import { monthText, windowIndex } from '../core/quota.ts';
import { PAGE_ROWS, rowPages } from '../database/pages.ts';
import { type Actor, changesOf, type NewAuditEntry } from './entry.ts';
import type { SoftLimitEvent, SoftLimitStore } from './store.ts';

/** The queries of an account in the month of `ts` are more than its soft limit. */
export type AboveSoftLimit = { sub: string; limit: number; count: number; ts: number };

type AccountName = { username: string; tier: string };

type WatchOptions = {
  store: Pick<SoftLimitStore, 'addSoftLimitEvent' | 'monthUsageWithoutEvent'>;
  /** Null if the account was removed. */
  accountOf(sub: string): Promise<AccountName | null>;
  /** By name of tier. */
  softLimits(): Promise<ReadonlyMap<string, number>>;
  /** Events are sent to a webhook. */
  hasWebhook: boolean;
  actor: Actor;
  /** A new event was stored, by this node. */
  onEvent(event: SoftLimitEvent, entry: NewAuditEntry): void;
  onFailure(error: unknown): void;
};

/** Makes one event per account and month of what the queries report. */
export type SoftLimitWatch = {
  /**
   * Called for each query above the soft limit, not only for the first one: a crossing may be missed when counts of several
   * nodes are joined, or when a process ends. Returns at once.
   */
  above(state: AboveSoftLimit): void;
  /** Tries again what could not be stored. */
  retry(): Promise<void>;
  /** Finds accounts above their limit that send no more queries, also after a tier was changed. */
  findAll(ts: number): Promise<void>;
  /** Waits for events that are being stored. */
  close(): Promise<void>;
};

export function createSoftLimitWatch(options: WatchOptions): SoftLimitWatch {
  const { store, accountOf, softLimits, hasWebhook, actor, onEvent, onFailure } = options;
  /** By account: the newest month whose event is stored, or is being stored. */
  const known = new Map<string, number>();
  const failed = new Map<string, AboveSoftLimit>();
  const storing = new Set<Promise<void>>();

  async function add(state: AboveSoftLimit, { username, tier }: AccountName): Promise<void> {
    const { sub, limit, count, ts } = state;
    const event = { id: randomUUID(), sub, username, tier, limit, count, month: windowIndex('month', ts), ts };
    const changes = changesOf({}, { month: monthText(event.month), limit, count });
    const entry: NewAuditEntry = { ts, actor, action: 'account.soft-limit', subject: username, changes };
    if (await store.addSoftLimitEvent(event, hasWebhook ? ts : null, entry)) onEvent(event, entry);
  }

  async function report(state: AboveSoftLimit): Promise<void> {
    try {
      const account = await accountOf(state.sub);
      if (account !== null) await add(state, account);
    } catch (error) {
      failed.set(state.sub, state);
      onFailure(error);
    }
  }

  return {
    above(state) {
      const month = windowIndex('month', state.ts);
      if (known.get(state.sub) === month) return;
      known.set(state.sub, month);
      const done = report(state).finally(() => storing.delete(done));
      storing.add(done);
    },

    async retry() {
      const states = [...failed.values()];
      failed.clear();
      for (const state of states) await report(state);
    },

    async findAll(ts) {
      const month = windowIndex('month', ts);
      const limits = await softLimits();
      const pages = rowPages(
        (after) => store.monthUsageWithoutEvent(month, after, PAGE_ROWS),
        '',
        ({ sub }) => sub,
      );
      for await (const page of pages) {
        for (const { sub, username, tier, count } of page) {
          const limit = limits.get(tier);
          if (limit !== undefined && count > limit) await add({ sub, limit, count, ts }, { username, tier });
        }
      }
    },

    async close() {
      await Promise.all(storing);
    },
  };
}
