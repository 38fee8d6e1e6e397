import { AppError } from '../core/errors.ts';
import { type Policy, WINDOWS, windowIndex } from '../core/quota.ts';
import type { RedisLink } from '../redis/link.ts';
import { addForStore } from './count-cells.ts';
import { createAccountCells, createMemoryCounters, createStreams } from './counters-memory.ts';
import { DELETE, KEY_MISSING, RAISE, READ, REFUND, TAKE, TAKE_CALL } from './redis-scripts.ts';
import type { CountsPort } from './shared-counts.ts';
import type { Admission, Counters, Reading, UsageStore } from './store.ts';

/** What happens to queries while Redis is down: each node counts on its own, or refuses them. */
export type WhenDown = 'local' | 'refuse';

export type RedisCountersOptions = {
  whenDown: WhenDown;
  /** The number of this thread in the process. */
  thread: number;
  /** Called for each query that was counted on this node only. */
  onCountedLocally?(): void;
  /** For tests: replaces the clock of Redis, and the clock of this node while Redis is down. */
  nowMs?: () => number;
};

/** Redis is probed every second while it is down. */
const RETRY_AFTER_SECONDS = 1;

/** The keys of an account. */
const QUERIES = 'queries';
const CALLS = 'calls';
const KEY_NAMES = [QUERIES, CALLS];

/** Redis may evict a key right after it was written. If it does so again and again, its memory is too small. */
const MAX_TRIES = 3;

/**
 * Counters that all nodes share. Day and month are also written to the store, by the node that counted them, so that a
 * Redis that lost its data can be filled again.
 */
export function createRedisCounters(
  link: RedisLink,
  store: Pick<UsageStore, 'usage'>,
  counts: CountsPort,
  options: RedisCountersOptions,
): Counters {
  const { whenDown, thread, onCountedLocally = () => {}, nowMs = Date.now } = options;
  const cellsOf = createAccountCells(counts.place);
  const shared = createSharedCounters(link, store, counts.flush, options.nowMs);
  /** The newest counts of each account, from Redis or from this node. Local counting starts from them. */
  const newest = new Map<string, Reading>();
  const createLocal = () =>
    createMemoryCounters(counts, { nowMs, thread, newestReading: (sub) => newest.get(sub) ?? null });
  let local = createLocal();
  /** Accounts that were counted locally: Redis lacks these counts. */
  const countedLocally = new Set<string>();
  // Local counts are outdated the next time that Redis is down: other nodes have counted in Redis since.
  link.onReconnect(() => {
    counts.unload();
    local = createLocal();
    void raiseCounted();
  });

  /** If only this node had lost Redis, the others have no new connection, and raise nothing. */
  async function raiseCounted(): Promise<void> {
    for (const sub of [...countedLocally]) {
      countedLocally.delete(sub);
      const reading = await shared.read(sub).catch(() => null);
      if (reading === null) countedLocally.add(sub);
    }
  }

  function localCounters(): Counters {
    if (whenDown === 'local') return local;
    // `overloaded` is not logged for each query: that Redis is down is logged once.
    const message = 'Redis, which holds the counters, does not answer';
    throw new AppError('overloaded', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  async function addToStore(sub: string, ts: number, count: number): Promise<void> {
    addForStore(await cellsOf(sub), thread, ts, count);
  }

  function keepNewest<R extends Reading>(sub: string, reading: R): R {
    newest.set(sub, reading);
    return reading;
  }

  return {
    async take(sub, policies, weight) {
      const admission = await shared.take(sub, policies, weight);
      if (admission !== null) {
        if (admission.isAdmitted) await addToStore(sub, admission.ts, weight);
        return keepNewest(sub, admission);
      }
      const localAdmission = await localCounters().take(sub, policies, weight);
      countedLocally.add(sub);
      onCountedLocally();
      return keepNewest(sub, localAdmission);
    },
    takeCall: async (sub, limit) => (await shared.takeCall(sub, limit)) ?? localCounters().takeCall(sub, limit),
    read: async (sub) => keepNewest(sub, (await shared.read(sub)) ?? (await localCounters().read(sub))),
    async refund(sub, weight, ts) {
      if (link.isUp() || whenDown === 'refuse') {
        // The store gets the refund in any case. If Redis fails now, it counts the query until its day and month end.
        await addToStore(sub, ts, -weight);
        await shared.refund(sub, weight, ts);
      } else await local.refund(sub, weight, ts);
    },
    ...createStreams(cellsOf, thread),
  };
}

/** The counters in Redis. Each result is null while Redis is down. */
type SharedCounters = {
  take(sub: string, policies: readonly Policy[], weight: number): Promise<Admission | null>;
  takeCall(sub: string, limit: number): Promise<Admission | null>;
  read(sub: string): Promise<Reading | null>;
  refund(sub: string, weight: number, ts: number): Promise<void>;
};

/** State, second, and the counts from second to month. */
type Reply = [state: number, ts: number, second: number, minute: number, hour: number, day: number, month: number];

function createSharedCounters(
  link: RedisLink,
  store: Pick<UsageStore, 'usage'>,
  flush: CountsPort['flush'],
  nowMs: (() => number) | undefined,
): SharedCounters {
  const scripts = {
    take: link.script<Reply>(TAKE),
    takeCall: link.script<[state: number, ts: number, count: number]>(TAKE_CALL),
    read: link.script<Reply>(READ),
    raise: link.script<number>(RAISE),
    refund: link.script<number>(REFUND),
  };
  /** By account: the counts in Redis were raised to those in the store, since the newest connection. */
  const raised = new Map<string, Promise<unknown>>();
  link.onReconnect(() => raised.clear());

  const keyOf = (sub: string) => link.key(sub, QUERIES);
  const second = () => (nowMs === undefined ? '' : Math.floor(nowMs() / 1000));

  /**
   * Raises the counts in Redis to at least those in the store. This node writes its own counts first; counts that other
   * nodes have not written yet, up to a second of them, may be missing. The same step fills an empty Redis, updates one
   * with old data, and adds what nodes counted while Redis was down. Nothing is added twice. Returns false if this node
   * could not write its counts: then the counts in Redis may be too low, and the next query raises them again.
   */
  async function raise(sub: string): Promise<boolean> {
    const isWritten = await flush();
    const reply = await scripts.read(keyOf(sub), second());
    if (reply === null) return false;
    const [, ts] = reply;
    const [day, month] = [windowIndex('day', ts), windowIndex('month', ts)];
    const used = await store.usage(sub, day, month);
    await scripts.raise(keyOf(sub), second(), day, used.day, used.month);
    return isWritten;
  }

  function raiseOnce(sub: string): Promise<unknown> {
    const cached = raised.get(sub);
    if (cached !== undefined) return cached;
    const raising = raise(sub);
    raised.set(sub, raising);
    raising.then(
      (isComplete) => isComplete || invalidate(sub, raising),
      () => invalidate(sub, raising),
    );
    return raising;
  }

  /** Keeps a newer promise that another caller has started since. */
  function invalidate(sub: string, raising: Promise<unknown>): void {
    if (raised.get(sub) === raising) raised.delete(sub);
  }

  async function run(sub: string, script: () => Promise<Reply | null>): Promise<Admission | null> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const raising = raiseOnce(sub);
      await raising;
      const reply = await script();
      if (reply === null) return null;
      if (reply[0] !== KEY_MISSING) return admissionFrom(reply);
      invalidate(sub, raising);
    }
    const message = 'Redis evicts counters right after they are written; give it more memory, or the policy noeviction';
    throw new AppError('unavailable', message);
  }

  return {
    take(sub, policies, weight) {
      const limits = WINDOWS.map((window) => limitIn(window, policies));
      return run(sub, () => scripts.take(keyOf(sub), second(), weight, ...limits));
    },
    async read(sub) {
      const admission = await run(sub, () => scripts.read(keyOf(sub), second()));
      return admission && { counts: admission.counts, ts: admission.ts };
    },
    async takeCall(sub, limit) {
      const reply = await scripts.takeCall(link.key(sub, CALLS), second(), limit);
      if (reply === null) return null;
      const [state, ts, count] = reply;
      return { isAdmitted: state === 1, ts, counts: { second: count, minute: 0, hour: 0, day: 0, month: 0 } };
    },
    async refund(sub, weight, ts) {
      await scripts.refund(keyOf(sub), windowIndex('day', ts), weight);
    },
  };
}

/** Deletes the counters of an account. False if Redis did not answer: they may still be there. */
export function createCounterDeletion(link: RedisLink): (sub: string) => Promise<boolean> {
  const remove = link.script<number>(DELETE);
  return async (sub) => {
    const replies = await Promise.all(KEY_NAMES.map((name) => remove(link.key(sub, name))));
    return !replies.includes(null);
  };
}

function admissionFrom([state, ts, second, minute, hour, day, month]: Reply): Admission {
  return { isAdmitted: state === 1, ts, counts: { second, minute, hour, day, month } };
}

function limitIn(window: Policy['window'], policies: readonly Policy[]): number | '' {
  const limits = policies.filter((policy) => policy.window === window).map(({ limit }) => limit);
  return limits.length === 0 ? '' : Math.min(...limits);
}
