import { AppError } from '../core/errors.ts';
import type { RedisLink } from '../redis/link.ts';
import type { Counters, Reading } from './counters.ts';
import { createMemoryCounters } from './counters-memory.ts';
import { createSharedCounts } from './shared-counts.ts';
import type { UsageStore } from './store.ts';
import { createUsageWriter, type UsageWriterOptions } from './usage-writer.ts';

/** What becomes of queries while Redis is away: each node counts for itself, or refuses. */
export type WhenDown = 'local' | 'refuse';

export type RedisCountersOptions = UsageWriterOptions & {
  whenDown: WhenDown;
  /** A query was counted on this node only. */
  onCountedLocally?(): void;
  /** For tests: a clock in place of Redis's own, and of this node's while Redis is away. */
  nowMs?: () => number;
};

/** Redis is asked every second whether it is back. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Counters that all nodes share. Day and month are written to the store too, by the node that has counted them, so that
 * a Redis that lost everything is filled again.
 */
export function createRedisCounters(
  link: RedisLink,
  control: Pick<UsageStore, 'usage' | 'addUsage'>,
  options: RedisCountersOptions,
): Counters {
  const { whenDown, onCountedLocally = () => {}, nowMs = Date.now } = options;
  const writer = createUsageWriter(control, options);
  const shared = createSharedCounts(link, control, { writer, nowMs: options.nowMs });
  /** The newest of each account, from Redis or from here: where counting goes on when Redis is away. */
  const known = new Map<string, Reading>();
  const begin = () => createMemoryCounters(control, { nowMs, writer, known: (sub) => known.get(sub) ?? null });
  let local = begin();
  // The next time that Redis is away, other nodes will have counted meanwhile.
  link.onRenewed(() => {
    local = begin();
  });

  /** The counters of this node, where they may stand in. */
  function standIn(): Counters {
    if (whenDown === 'local') return local;
    // Deliberate, so no line in the log for each: that Redis is away has been logged.
    throw new AppError('overloaded', 'The counters of queries are away', { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  function noted<Noted extends Reading>(sub: string, reading: Noted): Noted {
    known.set(sub, reading);
    return reading;
  }

  return {
    async take(sub, policies, weight) {
      const taken = await shared.take(sub, policies, weight);
      if (taken !== null) {
        if (taken.isAdmitted) writer.note(sub, taken.ts, weight);
        return noted(sub, taken);
      }
      const here = await standIn().take(sub, policies, weight);
      onCountedLocally();
      return noted(sub, here);
    },
    takeCall: async (sub, limit) => (await shared.takeCall(sub, limit)) ?? standIn().takeCall(sub, limit),
    read: async (sub) => noted(sub, (await shared.read(sub)) ?? (await standIn().read(sub))),
    async giveBack(sub, weight, ts) {
      // Noted on this node in any case; what Redis does not hear now, it counts until its day and month are over.
      if (link.isUp() || whenDown === 'refuse') {
        writer.note(sub, ts, -weight);
        await shared.giveBack(sub, weight, ts);
      } else await local.giveBack(sub, weight, ts);
    },
    close: () => writer.close(),
  };
}
