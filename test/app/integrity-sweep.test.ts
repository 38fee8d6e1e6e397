import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { startIntegritySweep } from '../../src/app/integrity-sweep.ts';
import { type Intelligence, openIntelligence } from '../../src/app/stores.ts';
import { AppError } from '../../src/core/errors.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { withWriter } from '../../src/database/sqlite/database.ts';
import { CHECKED_TABLES } from '../../src/urls/integrity-rules.ts';
import type { Fault } from '../../src/urls/store.ts';
import { NO_IDS, stubStore } from '../http/build.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hashOf, NEW_YEAR, seen } from '../urls/contract/observations.ts';

const ROUND_PAUSE_MS = 3_600_000;
const RETRY_MS = 10_000;

type Options = Parameters<typeof startIntegritySweep>[0];

/** A sweep that waits for no time; `rounds` resolves when so many more rounds, after the sample, are complete. */
function sweep(t: TestContext, store: Options['store'], options: Partial<Options> = {}) {
  const seenBy = {
    pauses: [] as number[],
    faults: [] as number[],
    examples: [] as Fault[],
    damages: [] as string[],
    failures: [] as unknown[],
    rows: 0,
  };
  let ended = 0;
  const { close } = startIntegritySweep({
    store: {
      lastIds: store.lastIds,
      async checkRows(...page) {
        const checked = await store.checkRows(...page);
        seenBy.rows += checked.rows;
        return checked;
      },
    },
    random: Math.random,
    onDamage: (error) => seenBy.damages.push(error.message),
    onFaults(count, examples) {
      seenBy.faults.push(count);
      seenBy.examples = [...examples];
    },
    onFailure: (error) => seenBy.failures.push(error),
    async pause(ms, signal) {
      seenBy.pauses.push(ms);
      if (ms === ROUND_PAUSE_MS) ended++;
      await setImmediate(undefined, { signal });
    },
    ...options,
  });
  t.after(close);
  const rounds = async (count: number) => {
    const until = ended + count;
    while (ended < until) await setImmediate();
  };
  return { ...seenBy, state: seenBy, close, rounds };
}

const URLS = 500;

async function filledStore(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  t.after(() => store.close());
  await store.apply(
    Array.from({ length: URLS }, (_, i) =>
      seen({ ts: NEW_YEAR + i, url: `http://u${i}.example/`, payload: { sha256: hashOf('a'), family: 'Mirai' } }),
    ),
  );
  const run = (sql: string) => withWriter(dataFiles(dataDir).intelligence, (db) => db.exec(sql));
  return { store, run };
}

test('every row is checked in a round, from any start', async (t) => {
  const { store } = await filledStore(t);
  for (const start of [0, 0.31, 0.999]) {
    const checked = new Set<string>();
    const watched: Options['store'] = {
      lastIds: store.lastIds,
      async checkRows(table, after) {
        const page = await store.checkRows(table, after);
        for (let id = Number(after[0]) + 1; id <= Number(page.next?.[0] ?? URLS); id++) checked.add(`${table} ${id}`);
        return page;
      },
    };
    const { rounds, close } = sweep(t, watched, { random: () => start });
    await rounds(1);
    checked.clear();
    await rounds(2);
    await close();
    for (const table of ['urls', 'events', 'payloads']) {
      for (let id = 1; id <= URLS; id++) assert.ok(checked.has(`${table} ${id}`), `${start}: ${table} ${id}`);
    }
  }
});

test('after a page the sweep waits at least a hundred times as long as the page took', async (t) => {
  const { store } = await filledStore(t);
  const took: number[] = [];
  const timed: Options['store'] = {
    lastIds: store.lastIds,
    async checkRows(table, after) {
      const startedMs = performance.now();
      const page = await store.checkRows(table, after);
      took.push(performance.now() - startedMs);
      return page;
    },
  };
  const { pauses, rounds } = sweep(t, timed);
  await rounds(1);
  const sampled = pauses.filter((ms) => ms === 0).length;
  assert.equal(sampled, 5 * CHECKED_TABLES.length);
  const afterPages = pauses.slice(sampled, pauses.indexOf(ROUND_PAUSE_MS));
  assert.ok(afterPages.length > URLS / 20);
  for (const [i, ms] of afterPages.entries()) assert.ok(ms >= 100 * (took[sampled + i] ?? Number.NaN), `${ms}`);
});

test('faults are counted once, with examples, and are gone after a round that finds none', async (t) => {
  const { store, run } = await filledStore(t);
  run('update urls set event_ts = 1 where id in (3, 398)');
  await setImmediate();
  // From 395 on. The last page of the round, after 380, has 398 again.
  const { state, rounds } = sweep(t, store, { random: () => 0.79 });
  await rounds(1);
  assert.equal(state.faults.at(-1), 2);
  assert.deepEqual(state.examples.map(({ table, key }) => `${table} ${key}`).sort(), ['urls 3', 'urls 398']);
  await store.repairRows('urls', [0]);
  await rounds(2); // the first of them may have begun before the repair
  assert.deepEqual(state.faults.slice(-2), [2, 1], 'the first page is repaired');
  for (let after: Awaited<ReturnType<Intelligence['repairRows']>>['next'] = [0]; after !== null; ) {
    after = (await store.repairRows('urls', after)).next;
  }
  await rounds(2);
  assert.equal(state.faults.at(-1), 0);
  assert.deepEqual([state.damages, state.failures], [[], []]);
  assert.ok(state.rows > 4 * URLS);
});

test('damage is reported, and both sides of it are checked', async (t) => {
  const tables: string[] = [];
  const store = stubStore({
    lastIds: async () => ({ ...NO_IDS, urls: 100 }),
    async checkRows(table, after) {
      tables.push(`${table} ${after[0]}`);
      if (table === 'urls' && Number(after[0]) > 40) throw new AppError('damaged', 'page 7');
      return { rows: 1, faults: [], next: null };
    },
  });
  const { state, rounds } = sweep(t, store, { random: () => 0.5 });
  await rounds(1);
  assert.deepEqual(state.damages, ['page 7', 'page 7'], 'once in the sample, once in the round');
  assert.deepEqual(tables.slice(tables.lastIndexOf('urls 50')).slice(0, 2), ['urls 50', 'urls 0']);
  assert.ok(tables.includes('listed 0'));
  assert.deepEqual(state.failures, []);
});

test('a database that does not respond is no fault: the sweep waits and goes on', async (t) => {
  let isAway = true;
  const { store } = await filledStore(t);
  const away = () => {
    throw new AppError('unavailable', 'away');
  };
  const { state, rounds } = sweep(t, {
    lastIds: async () => (isAway ? away() : store.lastIds()),
    checkRows: async (...page) => (isAway ? away() : store.checkRows(...page)),
  });
  await rounds(1);
  assert.equal(state.rows, 0);
  assert.ok(state.pauses.filter((ms) => ms === RETRY_MS).length >= CHECKED_TABLES.length);
  isAway = false;
  await rounds(3);
  assert.ok(state.rows >= URLS);
  assert.deepEqual([state.damages, state.failures, state.faults], [[], [], []]);
});

test('a defect of the check is reported, and does not end the sweep', async (t) => {
  const { state, rounds } = sweep(t, stubStore({ checkRows: async () => ({}) as never }));
  await rounds(2);
  assert.ok(state.failures.length > 0 && state.failures.every((error) => error instanceof TypeError));
});

test('close does not wait for the page in progress, and no other page is read', async (t) => {
  const gate = Promise.withResolvers<void>();
  let pages = 0;
  const { close } = sweep(
    t,
    stubStore({
      async checkRows() {
        pages++;
        await gate.promise;
        return { rows: 0, faults: [], next: [1] };
      },
    }),
  );
  await setImmediate();
  close();
  gate.resolve();
  for (let i = 0; i < 5; i++) await setImmediate();
  assert.equal(pages, 1);
});
