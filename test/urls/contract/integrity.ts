import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import type { Intelligence } from '../../../src/app/stores.ts';
import type { Observation } from '../../../src/core/observation.ts';
import { afterId } from '../../../src/urls/integrity-rows.ts';
import { CHECKED_TABLES } from '../../../src/urls/integrity-rules.ts';
import type { Fault, RowKey } from '../../../src/urls/store.ts';
import { lastOf } from '../results.ts';
import type { OpenTables } from '../tables.ts';
import { dump } from './dump.ts';
import { DAY, hashOf, NEW_YEAR, seen } from './observations.ts';

const T = NEW_YEAR;

/** Replaced by the number of a case, so that all cases share a store. */
const CASE = 'case0';
const A = `http://a.${CASE}.example/`;
const B = `http://192.0.2.1/${CASE}`;
const LISTED = `http://listed.${CASE}.example/`;

/** Two URLs with what observations leave, and one that a feed no longer lists. */
async function fill(store: Intelligence, name: string): Promise<Observation[]> {
  const [a, b, listed] = [A, B, LISTED].map((url) => url.replace(CASE, name)) as [string, string, string];
  const ada = { reporter: `ada ${name}` };
  const rita = { reporter: `rita ${name}` };
  const sha256 = hash('sha256', name);
  const observations = [
    seen({ ...ada, ts: T, url: a, tags: [`Elf ${name}`], payload: { sha256, family: `Mirai ${name}` } }),
    seen({ ...ada, ts: T + 10, url: a, status: 'offline', payload: { sha256: hash('sha256', sha256) } }),
    seen({ ...ada, ts: T + 10, url: a, status: null, payload: { sha256 } }),
    seen({ ...rita, ts: T + 5 * DAY, url: b, asn: 64_500, payload: { fileType: name } }),
    seen({ ...rita, ts: T + 6 * DAY, url: b, status: 'removed', removal: `abuse ${name}` }),
    seen({ ...rita, ts: T + 7 * DAY, url: b, status: 'removed', removal: `takedown ${name}` }),
  ];
  await store.apply(observations);
  const feed = `feed ${name}`;
  await store.apply([seen({ ...ada, ts: T, url: listed })], { feed, ts: T });
  await store.finishListing({ feed, ts: T });
  await store.finishListing({ feed, ts: T + 10 });
  return observations;
}

type Visit = (table: (typeof CHECKED_TABLES)[number], after: RowKey) => ReturnType<Intelligence['repairRows']>;

async function visitAll(visit: Visit) {
  const all = { rows: 0, faults: [] as Fault[], repaired: [] as Fault[] };
  for (const table of CHECKED_TABLES) {
    for (let after: RowKey | null = afterId(table, 0); after !== null; ) {
      const page: Awaited<ReturnType<Visit>> = await visit(table, after);
      all.rows += page.rows;
      all.faults.push(...page.faults);
      all.repaired.push(...page.repaired);
      after = page.next;
    }
  }
  return all;
}

const checkAll = (store: Intelligence) =>
  visitAll(async (table, after) => ({ ...(await store.checkRows(table, after)), repaired: [] }));
const repairAll = (store: Intelligence) => visitAll(store.repairRows);

const ofUrl = (url: string) => `(select id from urls where url = '${url}')`;
const textOf = ({ table, problem }: Fault) => `${table}: ${problem}`;

/** What is broken by hand, and what is reported. */
type Broken = [sql: string, expected: RegExp[]];

const REPAIRABLE: Broken[] = [
  [
    `update urls set event_ts = ${T}, event_kind = 0 where url = '${A}'`,
    [/^urls: the last status is added@\d+ \(removal \d+, reporter \d+\), the newest event is offline@\d+/],
  ],
  [
    `update urls set event_ts = null, event_kind = null, event_removal_id = null, event_reporter_id = null
     where url = '${A}'`,
    [/^urls: the last status is none/],
  ],
  [`update urls set event_removal_id = event_removal_id + 1 where url = '${B}'`, [/^urls: the last status/]],
  [`update urls set event_reporter_id = 0 where url = '${LISTED}'`, [/^urls: the last status/]],
  [`update urls set payload_ts = ${T} where url = '${A}'`, [/^urls: the last payload is file \d+@/]],
  [
    `update urls set payload_file_id = (
       select p.file_id from payloads p join files f on f.id = p.file_id
       where p.url_id = urls.id and p.ts = ${T + 10} order by f.file_key limit 1)
     where url = '${A}'`,
    [/^urls: the last payload is file/],
  ],
  [
    `update urls set payload_ts = null, payload_file_id = null where url = '${B}'`,
    [/^urls: the last payload is none, the newest one is file/],
  ],
  [
    `update urls set payload_ts = ${T}, payload_file_id = 1 where url = '${LISTED}'`,
    [/^urls: the last payload is file 1@\d+, the newest one is none/],
  ],
  [
    `update urls set host_id = (select host_id from urls u where u.url = '${B}') where url = '${A}'`,
    [
      /^urls: host_id is not the id of the host of the URL$/,
      /^events: the host is \d+, that of the URL is/,
      /^events: the host/,
    ],
  ],
  [`delete from hosts where host = 'a.${CASE}.example'`, [/^urls: host_id is not the id of the host of the URL$/]],
  [
    `delete from url_sightings where url_id = ${ofUrl(A)}`,
    [/^urls: the time last seen online is none, by the events it is \d+ \(domain \d+, host \d+\)$/],
  ],
  [`update url_sightings set online_ts = 7 where url_id = ${ofUrl(A)}`, [/^urls: the time last seen online is 7 \(/]],
  [
    `update url_sightings set domain_id = 0 where url_id = ${ofUrl(A)}`,
    [/^urls: the time last seen online is \d+ \(domain 0, host \d+\), by the events it is \d+ \(domain [1-9]/],
  ],
  [
    `insert into url_sightings select id, 1, host_id, 7 from urls where url = '${B}'`,
    [/^urls: the time last seen online is 7 \(.*\), by the events it is none$/],
  ],
  [
    `update events set host_id = 0 where url_id = ${ofUrl(A)} and kind = 0`,
    [/^events: the host is 0, that of the URL/],
  ],
  [
    `update payloads set family_id = null where url_id = ${ofUrl(A)}`,
    [/^payloads: the family \d+ of its file is missing/, /^payloads: the family/],
  ],
  [`update resolutions set bucket = 7 where url_id = ${ofUrl(B)}`, Array(3).fill(/^resolutions: the bucket .*, not 7/)],
  [`update families set folded = 'other' where name = 'Mirai ${CASE}'`, [/^families: folded is not the folded name/]],
  [`update tags set folded = 'other' where name = 'Elf ${CASE}'`, [/^tags: folded is not the folded name/]],
];

const LOST: Broken[] = [
  [`delete from tags where name = 'Elf ${CASE}'`, [/^url_tags: there is no tag \d+$/]],
  [
    `insert into url_tags select 999999999, id from tags where name = 'Elf ${CASE}'`,
    [/^url_tags: there is no URL 999999999$/],
  ],
  [`update urls set url_key = (select file_key from files limit 1) where url = '${A}'`, [/^urls: url_key is not/]],
  [
    `update urls set url = 'http://A.${CASE}.example/' where url = '${A}'`,
    [/^urls: the URL is not in its normalized form/, /^urls: url_key is not the hash of the URL/],
  ],
  [
    `delete from urls where url = '${B}'`,
    [
      ...Array(3).fill(/^events: there is no URL/),
      /^payloads: there is no URL/,
      ...Array(3).fill(/^resolutions: there is no URL/),
    ],
  ],
  [
    `delete from urls where url = '${LISTED}'`,
    [/^events: there is no URL/, /^events: there is no URL/, /^listed: there is no URL/],
  ],
  [`delete from removals where reason = 'abuse ${CASE}'`, [/^events: there is no removal \d+/]],
  [`delete from reporters where name = 'rita ${CASE}'`, Array(3).fill(/^events: there is no reporter/)],
  [`delete from reporters where name = 'feed ${CASE}'`, [/^events: there is no reporter/, /^listed: there is no feed/]],
  [`update events set kind = 9 where url_id = ${ofUrl(B)} and kind = 5`, [/^events: there is no kind 9/]],
  [
    `update events set confirmed_ts = ts - 1 where url_id = ${ofUrl(A)} and kind = 2`,
    [/^events: the newest sighting is older than the event/],
  ],
  [
    `delete from events where url_id = ${ofUrl(A)} and kind = 0;
     delete from url_sightings where url_id = ${ofUrl(A)}`,
    [/^events: offline@\d+, entry 1 of the timeline, cannot follow: the URL was unknown/],
  ],
  [
    `update events set kind = 3 where url_id = ${ofUrl(B)} and kind = 5;
     update urls set event_ts = ${T + 7 * DAY}, event_removal_id = (
       select id from removals where reason = 'takedown ${CASE}') where url = '${B}'`,
    [/^events: removed@\d+, entry 3 of the timeline, cannot follow: the URL was removed/],
  ],
  [
    `delete from files where id in (select file_id from payloads where url_id = ${ofUrl(B)})`,
    [/^payloads: there is no file/],
  ],
  [
    `delete from families where name = 'Mirai ${CASE}'`,
    [/^files: there is no family/, /^payloads: there is no family/, /^payloads: there is no family/],
  ],
  [
    `update files set family_id = null where id in (select file_id from payloads where url_id = ${ofUrl(A)})`,
    [/^payloads: the family is \d+, and its file has none/, /^payloads: the family is/],
  ],
  [
    `update resolutions set day = day + 100 where url_id = ${ofUrl(B)} and ts = ${T + 5 * DAY}`,
    [/^resolutions: the time \d+ is not on the day/],
  ],
  [
    `update resolutions set ip = (select file_key from files where length(file_key) = 32 limit 1) where url_id = ${ofUrl(B)} and ts = ${T + 5 * DAY}`,
    [/^resolutions: the address has 32 bytes/],
  ],
  [
    `update listed set missed_ts = null where url_id = ${ofUrl(LISTED)}`,
    [/^events: an offline without a sighting, which no listing implies/, /^listed: missed_ts is not/],
  ],
  [`delete from listed where url_id = ${ofUrl(LISTED)}`, [/^events: an offline without a sighting/]],
  [
    `delete from events where url_id = ${ofUrl(LISTED)} and kind = 2;
     update urls set event_kind = 0, event_ts = ${T},
       event_reporter_id = (select id from reporters where name = 'ada ${CASE}') where url = '${LISTED}'`,
    [/^listed: no feed lists the URL any more/],
  ],
  [
    `delete from listings where ts = ${T + 10} and feed_id = (select id from reporters where name = 'feed ${CASE}')`,
    [/^listed: missed_ts is not the first complete listing/],
  ],
];

export function integrityContract(open: OpenTables): void {
  describe('integrity', () => {
    test('a store that only observations and listings have changed has no fault', async (t) => {
      const { store } = await open(t);
      assert.deepEqual(await checkAll(store), { rows: 0, faults: [], repaired: [] });
      await fill(store, CASE);
      const { rows, faults } = await checkAll(store);
      assert.deepEqual(faults, []);
      assert.equal(rows, 1 + 3 + 3 + 7 + 4 + 3 + 1 + 1 + 1);
      assert.equal((await store.lastIds()).urls, 3);
    });

    test('random histories, out of order and with listings of several feeds, leave no fault', async (t) => {
      const { store } = await open(t);
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(STEP, { minLength: 1, maxLength: 8 }), async (steps) => {
          run++;
          for (const step of steps) await step(store, `${run}`);
          assert.deepEqual((await checkAll(store)).faults, []);
        }),
        { numRuns: 20, seed: 12, endOnFailure: true },
      );
    });

    test('what follows from other rows is reported and repaired', async (t) => {
      const { store, run } = await open(t);
      for (const [i, [sql, expected]] of REPAIRABLE.entries()) {
        const name = `case${i}`;
        const observations = await fill(store, name);
        const before = await dump(store, observations);
        await run(sql.replaceAll(CASE, name));
        const { faults } = await checkAll(store);
        assertFaults(faults, expected, sql);
        assert.ok(
          faults.every(({ isRepairable }) => isRepairable),
          sql,
        );
        const repair = await repairAll(store);
        assert.deepEqual([repair.faults, (await checkAll(store)).faults], [[], []], sql);
        assert.ok(repair.repaired.length > 0, sql);
        assert.deepEqual((await repairAll(store)).repaired, [], 'a second repair has nothing to do');
        assert.deepEqual(await dump(store, observations), before, sql);
      }
    });

    test('what does not follow from other rows is reported, and a repair leaves it as it is', async (t) => {
      const { store, run } = await open(t);
      const known = new Set<string>();
      const keyOf = (fault: Fault) => `${fault.key} ${textOf(fault)}`;
      for (const [i, [sql, expected]] of LOST.entries()) {
        const name = `case${i}`;
        await fill(store, name);
        await fill(store, `${name}-after`); // SQLite gives the id of a deleted last row to the next one
        await run(sql.replaceAll(CASE, name));
        const faults = (await checkAll(store)).faults.filter((fault) => !known.has(keyOf(fault)));
        assertFaults(faults, expected, sql);
        assert.ok(
          faults.every(({ isRepairable }) => !isRepairable),
          sql,
        );
        const repair = await repairAll(store);
        assert.deepEqual(repair.repaired, [], sql);
        assert.equal(repair.faults.length, known.size + faults.length);
        for (const fault of faults) known.add(keyOf(fault));
      }
    });

    test('an event that was lost is not known any more, and the one before it becomes the last status', async (t) => {
      const { store, run } = await open(t);
      await fill(store, CASE);
      await run(`delete from events where url_id = ${ofUrl(A)} and kind = 2`);
      assert.equal((await lastOf(store, A))?.status?.status, 'offline');
      assert.equal((await repairAll(store)).repaired.length, 1);
      assert.equal((await lastOf(store, A))?.status?.status, 'online');
    });

    test('a host without a domain, from an older program, has no sighting, also while a rebuild is unfinished', async (t) => {
      const { store, run } = await open(t);
      await fill(store, CASE);
      const noSighting = `delete from url_sightings where url_id = ${ofUrl(A)}`;
      await run(`update hosts set domain_id = null where host = 'a.${CASE}.example'; ${noSighting}`);
      assert.deepEqual((await checkAll(store)).faults, []);
      await run(`update hosts set domain_id = 1 where host = 'a.${CASE}.example'`);
      assert.equal((await checkAll(store)).faults.length, 1);
      await run('insert into domain_rebuild values (1, 1, 0, 1)');
      assert.deepEqual((await checkAll(store)).faults, []);
    });

    test('a URL with more entries than a page is read over several pages', async (t) => {
      const { store, run } = await open(t);
      const long = Array.from({ length: 1_100 }, (_, i) =>
        seen({ ts: T + i, url: A, status: i % 2 === 0 ? 'online' : 'offline' }),
      );
      await store.apply([...long, seen({ ts: T, url: B })]);
      assert.deepEqual((await checkAll(store)).faults, []);
      await run(`update events set host_id = 0 where ts = ${T + 700};
        update events set host_id = 0 where url_id = ${ofUrl(B)}`);
      const { faults } = await repairAll(store);
      assert.deepEqual(faults, []);
      assert.deepEqual((await checkAll(store)).faults, []);
    });

    test('a check beside batches and listings reports nothing', async (t) => {
      const { store } = await open(t);
      let isDone = false;
      const writing = writeBatches(store).finally(() => {
        isDone = true;
      });
      let rows = 0;
      while (!isDone) {
        const all = await checkAll(store);
        assert.deepEqual(all.faults, []);
        rows += all.rows;
        await setImmediate();
      }
      await writing;
      assert.ok(rows > 0);
      assert.deepEqual((await checkAll(store)).faults, []);
    });
  });
}

function assertFaults(faults: readonly Fault[], expected: readonly RegExp[], sql: string): void {
  const found = faults.map(textOf);
  assert.equal(found.length, expected.length, [sql, ...found].join('\n'));
  for (const [i, text] of found.entries()) assert.match(text, expected[i] as RegExp, sql);
}

/** Batches that change what the checks compare: statuses out of order, files whose family is known later, listings. */
async function writeBatches(store: Intelligence): Promise<void> {
  const urls = Array.from({ length: 300 }, (_, i) => `http://u${i}.example/`);
  for (let round = 0; round < 6; round++) {
    const ts = T + ((round * 7) % 5) * 10;
    const listing = { feed: `feed ${round % 2}`, ts: T + round };
    const observations = urls.map((url, i) =>
      seen({
        ts: ts + (i % 3),
        url,
        status: (['online', 'offline', 'removed'] as const)[(i + round) % 3] ?? 'online',
        payload: { sha256: hash('sha256', `${i % 20}`), family: round % 3 === 0 ? null : `Family ${i % 20}` },
      }),
    );
    await store.apply(observations);
    await store.apply(
      urls.filter((_, i) => i % (round + 2) === 0).map((url) => seen({ ts, url, status: null })),
      listing,
    );
    await store.finishListing(listing);
  }
}

const URLS = ['a', 'b', 'c'];
const FILES = ['1', '2', null];
const FAMILIES = ['Mirai', 'Gafgyt', null];

type Step = (store: Intelligence, run: string) => Promise<unknown>;

const urlOf = (name: string, run: string) => `http://${name}.run${run}.example/`;
const ts = fc.integer({ min: T, max: T + 20 });

const APPLY: fc.Arbitrary<Step> = fc
  .array(
    fc.record({
      name: fc.constantFrom(...URLS),
      ts,
      status: fc.constantFrom('online' as const, 'offline' as const, 'removed' as const, null),
      removal: fc.constantFrom('', 'abuse', 'takedown'),
      reporter: fc.constantFrom('ada', 'rita'),
      digit: fc.constantFrom(...FILES),
      family: fc.constantFrom(...FAMILIES),
      hasPayload: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((given) => (store, run) => {
    const observations = given.map(({ name, status, removal, digit, family, hasPayload, ...rest }) =>
      seen({
        ...rest,
        url: urlOf(name, run),
        status,
        ...(status === 'removed' && { removal }),
        ...(hasPayload && { payload: { sha256: digit && hashOf(digit), family, fileType: 'zip' } }),
      }),
    );
    return store.apply(observations);
  });

const LISTING: fc.Arbitrary<Step> = fc
  .record({ names: fc.subarray(URLS), feed: fc.constantFrom('one', 'two'), ts, seenTs: fc.option(ts) })
  .map(({ names, feed, ts: listingTs, seenTs }) => async (store, run) => {
    const listing = { feed: `${feed} ${run}`, ts: listingTs };
    const status = seenTs === null ? null : ('online' as const);
    const observations = names.map((name) => seen({ ts: seenTs ?? listingTs, url: urlOf(name, run), status }));
    if (observations.length > 0) await store.apply(observations, listing);
    await store.finishListing(listing);
  });

const STEP = fc.oneof(APPLY, LISTING);
