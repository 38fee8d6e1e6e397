import { AppError } from '../core/errors.ts';
import { type Counts, type Policy, WINDOWS, windowIndex } from '../core/quota.ts';
import type { RedisLink } from '../redis/link.ts';
import type { Reading } from './counters.ts';
import { GIVE_BACK, RAISE, READ, TAKE, TAKE_CALL, UNKNOWN_HERE } from './redis-scripts.ts';
import type { UsageStore } from './store.ts';
import type { UsageWriter } from './usage-writer.ts';

type Taken = Reading & { isAdmitted: boolean };

/** The counts that all nodes share, in Redis. Null while it is away. */
export type SharedCounts = {
  take(sub: string, policies: readonly Policy[], weight: number): Promise<Taken | null>;
  takeCall(sub: string, limit: number): Promise<Taken | null>;
  read(sub: string): Promise<Reading | null>;
  giveBack(sub: string, weight: number, ts: number): Promise<void>;
};

/** State, second, and the counts from second to month. */
type Reply = [state: number, ts: number, second: number, minute: number, hour: number, day: number, month: number];

/** A key that is missing again right after it was written: once may be chance. */
const MAX_TRIES = 3;

export function createSharedCounts(
  link: RedisLink,
  control: Pick<UsageStore, 'usage'>,
  { writer, nowMs }: { writer: UsageWriter; nowMs?: (() => number) | undefined },
): SharedCounts {
  const scripts = {
    take: link.script<Reply>(TAKE),
    takeCall: link.script<[state: number, ts: number, count: number]>(TAKE_CALL),
    read: link.script<Reply>(READ),
    raise: link.script<number>(RAISE),
    giveBack: link.script<number>(GIVE_BACK),
  };
  /** Accounts whose key holds at least what the store does, since the newest connection. */
  const raised = new Map<string, Promise<unknown>>();
  link.onRenewed(() => raised.clear());

  const keyOf = (sub: string) => link.key(sub, 'queries');
  const second = () => (nowMs === undefined ? '' : Math.floor(nowMs() / 1000));

  /**
   * What this node has counted is in the store first; of other nodes, what they have not written in the last second may
   * be missing. So an empty Redis, one with old data and one that was away while nodes counted by themselves are all
   * brought up to date in the same way, and nothing is ever added twice.
   */
  async function raise(sub: string): Promise<void> {
    await writer.flush();
    const reply = await scripts.read(keyOf(sub), second());
    if (reply === null) return;
    const [, ts] = reply;
    const [day, month] = [windowIndex('day', ts), windowIndex('month', ts)];
    const used = await control.usage(sub, day, month);
    await scripts.raise(keyOf(sub), second(), day, used.day, used.month);
  }

  function raisedOnce(sub: string): Promise<unknown> {
    const known = raised.get(sub);
    if (known !== undefined) return known;
    const raising = raise(sub);
    raised.set(sub, raising);
    raising.catch(() => forget(sub, raising));
    return raising;
  }

  /** Not what others have begun since. */
  function forget(sub: string, raising: Promise<unknown>): void {
    if (raised.get(sub) === raising) raised.delete(sub);
  }

  async function ask(sub: string, command: () => Promise<Reply | null>): Promise<Taken | null> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const raising = raisedOnce(sub);
      await raising;
      const reply = await command();
      if (reply === null) return null;
      if (reply[0] !== UNKNOWN_HERE) return takenFrom(reply);
      forget(sub, raising);
    }
    throw new AppError('unavailable', 'Redis loses counters at once: give it memory, or the policy noeviction');
  }

  return {
    take: (sub, policies, weight) => {
      const limits = WINDOWS.map((window) => limitIn(window, policies));
      return ask(sub, () => scripts.take(keyOf(sub), second(), weight, ...limits));
    },
    async read(sub) {
      const taken = await ask(sub, () => scripts.read(keyOf(sub), second()));
      return taken && { counts: taken.counts, ts: taken.ts };
    },
    async takeCall(sub, limit) {
      const reply = await scripts.takeCall(link.key(sub, 'calls'), second(), limit);
      if (reply === null) return null;
      const [state, ts, count] = reply;
      return { isAdmitted: state === 1, ts, counts: { second: count, minute: 0, hour: 0, day: 0, month: 0 } };
    },
    async giveBack(sub, weight, ts) {
      await scripts.giveBack(keyOf(sub), windowIndex('day', ts), weight);
    },
  };
}

function takenFrom([state, ts, second, minute, hour, day, month]: Reply): Taken {
  return { isAdmitted: state === 1, ts, counts: { second, minute, hour, day, month } satisfies Counts };
}

function limitIn(window: Policy['window'], policies: readonly Policy[]): number | '' {
  const limits = policies.filter((policy) => policy.window === window).map(({ limit }) => limit);
  return limits.length === 0 ? '' : Math.min(...limits);
}
