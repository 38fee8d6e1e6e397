import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import type { Intelligence } from '../../src/app/stores.ts';
import { newestNumber } from '../../src/changes/postgres/numbers.ts';
import { AppError } from '../../src/core/errors.ts';
import { openDatabase } from '../../src/database/postgres/database.ts';
import { isHostFailure } from '../../src/database/postgres/faults.ts';
import { hangPostgres } from '../servers/postgres.ts';
import { promote, startPair } from '../servers/postgres-pair.ts';
import { until } from '../until.ts';
import { NEW_YEAR, seen } from '../urls/contract/observations.ts';
import { lastOf } from '../urls/results.ts';

const T = NEW_YEAR;
/** How long the store may take to find the new primary. */
const RECOVERY_MS = 15_000;

test('after a primary is killed under load, the store uses its promoted standby and loses no acknowledged write', {
  timeout: 60_000,
}, async (t) => {
  const { primary, standby } = await startPair(t);
  const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`;
  const store = await openPostgresIntelligence({ url, readUrls: [], connections: 4 });
  t.after(() => store.close());
  const load = startLoad(store);
  t.after(() => load.stop());

  await until(() => load.acknowledged.length >= 20, 'load');
  await primary.stop('SIGQUIT');
  const before = load.acknowledged.length;
  await until(() => load.refusals.length > 0, 'the failure is noticed');
  await assert.rejects(store.ready(), isUnavailable);
  await promote(standby);
  const promotedAt = Date.now();
  await until(() => load.acknowledged.length >= before + 20, 'writes succeed again');
  assert.ok(Date.now() - promotedAt < RECOVERY_MS);
  await store.ready();
  await load.stop();

  for (const error of load.refusals) assert.ok(isUnavailable(error), String(error));
  for (const i of load.acknowledged) await checkBatch(store, i);
});

test('an unresponsive primary is abandoned, and its pending requests are refused in time', {
  timeout: 60_000,
}, async (t) => {
  const { primary, standby } = await startPair(t);
  const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`;
  const store = await openPostgresIntelligence({ url, readUrls: [], connections: 2 });
  t.after(() => store.close());
  await store.apply(batch(0));
  await checkChangesOn(t, standby.url);
  const resume = await hangPostgres(primary);
  try {
    await assert.rejects(Promise.all([store.urlLast(urlOf(0, 0)), store.apply(batch(1))]), isUnavailable);
    await promote(standby);
    await until(() => store.apply(batch(1)).then(() => true, isRefused), 'writes succeed again');
    await checkBatch(store, 0);
    await checkBatch(store, 1);
  } finally {
    resume();
  }
});

/** The number of a change is given by the primary only: a reader is refused, and the next one uses another host. */
async function checkChangesOn(t: TestContext, standbyUrl: string): Promise<void> {
  const db = openDatabase(standbyUrl, { connections: 1, role: 'any' });
  t.after(() => db.close());
  await until(async () => (await db.query(`select to_regclass('list_version')`))[0]?.[0] !== null, 'the tables');
  await assert.rejects(newestNumber(db), (error) => isUnavailable(error) && isHostFailure(error));
}

/** Applies batches and looks up acknowledged ones in a loop. A refused call is repeated. */
function startLoad(store: Intelligence) {
  const acknowledged: number[] = [];
  const refusals: unknown[] = [];
  let isStopped = false;
  const repeat = async (work: () => Promise<void>) => {
    while (!isStopped) {
      await work().catch(async (error) => {
        refusals.push(error);
        await setTimeout(10);
      });
    }
  };
  let next = 0;
  const write = async () => {
    const i = next++;
    await store.apply(batch(i));
    acknowledged.push(i);
  };
  const read = async () => {
    const i = acknowledged[Math.floor(Math.random() * acknowledged.length)];
    if (i === undefined) await setTimeout(1);
    else await checkBatch(store, i);
  };
  const running = [write, write, read, read, read].map(repeat);
  return {
    acknowledged,
    refusals,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

const URLS = 5;

function batch(i: number) {
  return Array.from({ length: URLS }, (_, j) => seen({ ts: T + i, url: urlOf(i, j), reporter: `reporter ${i}` }));
}

function urlOf(i: number, j: number): string {
  return `http://batch${i}.example/${j}`;
}

async function checkBatch(store: Intelligence, i: number): Promise<void> {
  for (let j = 0; j < URLS; j++) {
    const last = await lastOf(store, urlOf(i, j));
    assert.deepEqual(last?.status, { ts: T + i, status: 'online', removal: '', reporter: `reporter ${i}` });
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable';
}

function isRefused(error: unknown): false {
  assert.ok(isUnavailable(error), String(error));
  return false;
}
