import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import type { Observation } from '../../src/core/observation.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { openReader, type Params, type Reader } from '../../src/database/sqlite/database.ts';
import { SEARCH_ROWS } from '../../src/urls/paged-search.ts';
import { createUrlDetails } from '../../src/urls/sqlite/details.ts';
import { createExportObservations, createExportUrls } from '../../src/urls/sqlite/export.ts';
import { createLookup } from '../../src/urls/sqlite/lookup.ts';
import { createSearch } from '../../src/urls/sqlite/search.ts';
import { createStreams } from '../../src/urls/sqlite/streams.ts';
import { cpuTimeMs } from '../cpu-time.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  ALWAYS,
  bounds,
  collect,
  collectFacts,
  DAY,
  hashOf,
  NEW_YEAR,
  searchKey,
  seen,
} from './contract/observations.ts';
import { historyOf, lastOf } from './results.ts';

// Costs that do not depend on the machine: the number of statements of a read, and the rows that each reads.

const URLS = 1_300;
/** With these times some buckets of 30 days are inside the window and some at its edges. */
const STEP_SECONDS = DAY / 10;
const WINDOW = { since: NEW_YEAR + 20 * DAY, until: NEW_YEAR + 100 * DAY };
const BUCKET_SECONDS = 30 * DAY;

const KEYS = [
  searchKey('ip', '192.0.2.0/24'),
  searchKey('asn', 64_500),
  searchKey('host', '192.0.2.1'),
  searchKey('malware_family', 'Mirai'),
  searchKey('sha256', hashOf('a')),
];

type Run = { sql: string; rows: number };

function observation(i: number): Observation {
  return seen({
    ts: NEW_YEAR + i * STEP_SECONDS,
    url: `http://192.0.2.1/${i}`,
    asn: 64_500,
    payload: { sha256: hashOf('a'), family: 'Mirai' },
  });
}

/** All reads of a filled store, which record their statements. */
async function recordingReads(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  await store.apply(Array.from({ length: URLS }, (_, i) => observation(i)));
  await store.close();
  const reader = openReader(dataFiles(dataDir).intelligence);
  t.after(() => reader.close());
  const runs: Run[] = [];
  const prepared: string[] = [];
  const db: Reader = {
    ...reader,
    prepare<Row extends unknown[]>(sql: string) {
      const query = reader.prepare<Row>(sql);
      const record = <T>(rows: T, count: number) => {
        runs.push({ sql, rows: count });
        return rows;
      };
      prepared.push(sql);
      return {
        ...query,
        get(...params: Params) {
          const row = query.get(...params);
          return record(row, row === undefined ? 0 : sql.includes('group_concat') ? Number(row[0]) : 1);
        },
        one: (...params: Params) => record(query.one(...params), 1),
        all(...params: Params) {
          const rows = query.all(...params);
          return record(rows, rows.length);
        },
      };
    },
  };
  const exportUrls = createExportUrls(db);
  const reads = {
    ...createLookup(db, null),
    urlDetails: createUrlDetails(db),
    ...createStreams(db),
    search: createSearch(db),
    exportUrls,
    exportObservations: createExportObservations(db, exportUrls),
  };
  return { reader, runs, prepared, reads };
}

test('urlLast is one statement, also for an unknown URL, once the names are cached', async (t) => {
  const { runs, reads } = await recordingReads(t);
  reads.urlLast(observation(0).url);
  runs.length = 0;
  assert.ok((await lastOf(reads, observation(1).url))?.payload);
  assert.equal(runs.length, 1);
  assert.equal(reads.urlLast('http://unknown.example/'), null);
  assert.equal(runs.length, 2);
});

test('lastOfMany is one statement once names and files are cached', async (t) => {
  const { runs, reads } = await recordingReads(t);
  const urls = [0, 1, 2].map((i) => observation(i).url);
  reads.lastOfMany(urls, 'last');
  runs.length = 0;
  const found = await reads.lastOfMany([...urls, 'http://unknown.example/'], 'last');
  assert.equal(runs.length, 1);
  assert.deepEqual(
    found,
    [...urls, null].map((url) => url && reads.urlLast(url)),
  );
});

test('urlHistory is three statements once names and files are cached', async (t) => {
  const { runs, reads } = await recordingReads(t);
  reads.urlHistory(observation(0).url, 100);
  runs.length = 0;
  assert.equal((await historyOf(reads, observation(1).url))?.payloads.length, 1);
  assert.equal(runs.length, 3);
});

test('no statement sorts or scans a table', async (t) => {
  const { reader, prepared } = await recordingReads(t);
  assert.ok(prepared.length > 15, `${prepared.length}`);
  for (const sql of prepared) {
    const steps = reader.prepare<[number, number, number, string]>(`explain query plan ${sql}`).all();
    for (const [, , , step] of steps) {
      // `r` is the page that the inner statement has selected, `k` the array of keys that is passed to the statement.
      const isScan = step.startsWith('SCAN') && step !== 'SCAN r' && !step.startsWith('SCAN k VIRTUAL TABLE');
      assert.ok(!/TEMP B-TREE|AUTOMATIC/.test(step) && !isScan, `${step}\n${sql}`);
    }
  }
});

test('no statement reads more rows than a page has', async (t) => {
  const { runs, reads } = await recordingReads(t);
  for (const key of KEYS) {
    assert.equal((await collectFacts(reads.search(key, ALWAYS, bounds()))).length, URLS, key.by);
  }
  await collect(reads.exportObservations({}));
  const longest = Math.max(...runs.map(({ rows }) => rows));
  assert.equal(longest, SEARCH_ROWS);
});

for (const key of KEYS) {
  test(`a search by ${key.by} reads only what it returns, plus at most its first and last bucket`, async (t) => {
    const { runs, reads } = await recordingReads(t);
    const found = await collectFacts(reads.search(key, WINDOW, bounds()));
    const inWindow = Math.floor((WINDOW.until - WINDOW.since) / STEP_SECONDS) + 1;
    assert.equal(found.length, inWindow);
    const facts = runs.filter(({ sql }) => sql.includes('urls.url'));
    const read = facts.reduce((sum, { rows }) => sum + rows, 0);
    const edges = key.by === 'ip' ? (2 * BUCKET_SECONDS) / STEP_SECONDS : 0;
    assert.ok(read >= found.length && read <= found.length + edges, `${read} rows for ${found.length}`);
  });
}

test('the newest of thousands of addresses of a URL is found by reading them a few times', async (t) => {
  const store = await openIntelligence({ dataDir: temporaryFolder(t) });
  t.after(() => store.close());
  const ip = Array.from({ length: 4_000 }, (_, i) => `198.18.${i >> 8}.${i & 255}`);
  await store.apply([
    seen({ ts: NEW_YEAR, url: 'http://flux.example/', ip }),
    seen({ ts: NEW_YEAR + DAY, url: 'http://flux.example/', ip: '198.18.9.9' }),
  ]);
  const start = cpuTimeMs();
  const [summary] = await store.lastStoredUrls(1);
  const [exported] = await collect(store.exportUrls({}, true));
  const spentMs = cpuTimeMs() - start;
  assert.equal(summary?.address?.ts, NEW_YEAR + DAY);
  assert.deepEqual(exported?.details?.address, { ip: '198.18.9.9', asn: null });
  assert.ok(spentMs < 400, `${spentMs} ms`); // once for each address took 1 s, twice
});
