import { setTimeout } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import type { Log, Outages } from '../health/outages.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { afterId } from '../urls/integrity-rows.ts';
import { CHECKED_TABLES } from '../urls/integrity-rules.ts';
import type { CheckedPage, CheckedTable, Fault, UrlStore } from '../urls/store.ts';

type SweepOptions = {
  store: Pick<UrlStore, 'lastIds' | 'checkRows'>;
  /** From 0 to 1, without 1. */
  random(): number;
  /** A part of the database cannot be read. Called again for each round and each place. */
  onDamage(error: AppError): void;
  /** The number of faults that are known now has changed; 0: they are gone. `examples` are the first of them. */
  onFaults(count: number, examples: readonly Fault[]): void;
  /** The check itself failed: a defect of the program. The next part is still checked. */
  onFailure(error: unknown): void;
  /** Rejects after an abort. */
  pause?(ms: number, signal: AbortSignal): Promise<unknown>;
};

/** At most 1 % of a core. The pause after a page is 120 times its duration: 100 times, and a fifth more as a margin. */
const PAUSE_FACTOR = 120;
/** What a page costs besides: a timer, promises, the end of the transaction, garbage. Measured: 0.3 ms. */
const OVERHEAD_MS = 0.4;
/** Between two rounds. A small store is checked within seconds, and damage is rare. */
const ROUND_PAUSE_MS = 3_600_000;
/** After a page that could not be read, or a database that does not respond. */
const RETRY_MS = 10_000;
/** Places of each table that are checked immediately: some ten milliseconds in all on SQLite. */
const SAMPLE_PAGES = 5;
const MAX_EXAMPLES = 5;

type CheckParts = {
  store: SweepOptions['store'];
  outages: Outages;
  metrics: Metrics | undefined;
  log: Log<'error' | 'warn'>;
  /** Called when it changes whether there are faults. */
  onFaults(hasFaults: boolean): void;
};

/** The checks of a server. The metrics have the number of faults; the log has one line when there are any. */
export function startIntegrityChecks({ store, outages, metrics, log, onFaults }: CheckParts): { close(): void } {
  let faults = 0;
  metrics?.watchIntegrity(() => faults);
  return startIntegritySweep({
    store,
    random: Math.random,
    onDamage: outages.report,
    onFaults(count, examples) {
      if (faults === 0) log.error({ examples }, 'rows contradict each other: run urlwarden integrity');
      if (count === 0) log.warn({}, 'rows no longer contradict each other');
      faults = count;
      onFaults(count > 0);
    },
    onFailure: (err) => log.error({ err }, 'the check of the database failed'),
  });
}

/** Checks a sample of the rows, then all of them, again and again. */
export function startIntegritySweep(options: SweepOptions): { close(): void } {
  const { store, random, onDamage, onFailure, pause = unrefPause } = options;
  const controller = new AbortController();
  const { signal } = controller;
  const faults = createFaultCount(options.onFaults);

  async function check(table: CheckedTable, after: CheckedPage['next'], upToId: number) {
    const startedMs = performance.now();
    const { faults: found, next } = await store.checkRows(table, after ?? []);
    const tookMs = performance.now() - startedMs;
    faults.add(found.filter(({ key }) => Number.parseInt(key, 10) <= upToId));
    return { next, tookMs };
  }

  /** Waits while the database is unavailable. */
  async function checkWhenUp(...page: Parameters<typeof check>): ReturnType<typeof check> {
    for (;;) {
      try {
        return await check(...page);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
        await pause(RETRY_MS, signal);
      }
    }
  }

  /** One page in each of several equal parts of the table. */
  async function sample(table: CheckedTable, lastId: number): Promise<void> {
    for (let part = 0; part < SAMPLE_PAGES; part++) {
      const [fromId, upToId] = [part, part + 1].map((i) => Math.floor((i / SAMPLE_PAGES) * lastId)) as [number, number];
      await checkWhenUp(table, afterId(table, fromId + randomId(upToId - fromId)), upToId);
      await pause(0, signal);
    }
  }

  /** Checks the rows whose id is greater than `fromId` and at most `upToId`. */
  async function checkRange(table: CheckedTable, fromId: number, upToId: number): Promise<void> {
    for (let after: CheckedPage['next'] = afterId(table, fromId); after !== null && Number(after[0]) <= upToId; ) {
      const { next, tookMs } = await checkWhenUp(table, after, upToId);
      after = next;
      await pause(PAUSE_FACTOR * (tookMs + OVERHEAD_MS), signal);
    }
  }

  /** Returns whether the work was done; after a failure it waits. Throws only after an abort. */
  async function attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      if (!(error instanceof AppError)) onFailure(error);
      else if (error.code === 'damaged') onDamage(error);
      await pause(RETRY_MS, signal);
      return false;
    }
  }

  const randomId = (lastId: number) => Math.floor(random() * lastId);

  async function run(): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      let isComplete = true;
      for (const table of CHECKED_TABLES) {
        // From a random row on, so that servers that restart often check everything sooner or later.
        const isDone = await attempt(async () => {
          const { [table]: lastId } = await store.lastIds();
          if (isFirst) return sample(table, lastId);
          const startId = randomId(lastId);
          const isEndRead = await attempt(() => checkRange(table, startId, Number.POSITIVE_INFINITY));
          const isBeginningRead = await attempt(() => checkRange(table, 0, startId));
          isComplete &&= isEndRead && isBeginningRead;
        });
        isComplete &&= isDone;
      }
      faults.endRound(isComplete);
      if (!isFirst) await pause(ROUND_PAUSE_MS, signal);
    }
  }

  void run().catch((error) => {
    if (!signal.aborted) onFailure(error);
  });
  // Does not wait for the page in progress: on a PostgreSQL that hangs it takes 25 s, and its result is ignored.
  return { close: () => controller.abort() };
}

/** A timer that does not keep the process running. */
const unrefPause = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { ref: false, signal });

type RoundFaults = { count: number; examples: Fault[] };

/** The known faults are those of this round or, while they are fewer, those of the last complete round. */
function createFaultCount(onFaults: SweepOptions['onFaults']) {
  let last: RoundFaults = { count: 0, examples: [] };
  let current: RoundFaults = { count: 0, examples: [] };
  let reported = 0;

  function report(): void {
    const known = current.count > last.count ? current : last;
    if (known.count === reported) return;
    reported = known.count;
    onFaults(known.count, known.examples);
  }

  return {
    add(found: readonly Fault[]): void {
      current.count += found.length;
      current.examples.push(...found.slice(0, MAX_EXAMPLES - current.examples.length));
      report();
    },
    /** `isComplete`: all rows were read. */
    endRound(isComplete: boolean): void {
      if (isComplete || current.count > last.count) last = current;
      current = { count: 0, examples: [] };
      report();
    },
  };
}
