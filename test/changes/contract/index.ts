import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import type { Intelligence } from '../../../src/app/stores.ts';
import type { AskedChanges } from '../../../src/changes/store.ts';
import { parseDomainName } from '../../../src/core/domain-name.ts';
import type { DomainEvidence } from '../../../src/core/evidence.ts';
import { parseKeyNetwork } from '../../../src/core/ip/key-network.ts';
import { URL_SOURCE } from '../../../src/reputation/store.ts';
import { listed } from '../../reputation/contract/evidence.ts';
import { DAY, hashOf, NEW_YEAR, seen } from '../../urls/contract/observations.ts';
import { ALL, type Line, readLines, textOf } from './reader.ts';

/** Opens an empty store that is closed and deleted after the test. */
export type OpenStore = (t: TestContext) => Promise<Intelligence>;

const T = NEW_YEAR;
const HOUR = 3_600;
const URL = 'http://www.site.example/a';
const SHA = hashOf('a');

/** What a step records, `op kind key`, and the state in the lines. */
type Step = (work: () => Promise<unknown>) => Promise<{ recorded: string[]; lines: Line[] }>;

async function openSteps(open: OpenStore, t: TestContext): Promise<{ store: Intelligence; step: Step }> {
  const store = await open(t);
  const step: Step = async (work) => {
    const after = await store.newestChange();
    await work();
    const lines = await readLines(store, after, { now: T + HOUR });
    return { recorded: textOf(lines), lines };
  };
  return { store, step };
}

function named(hostname: string, more: Partial<DomainEvidence> = {}): DomainEvidence {
  const parsed = parseDomainName(hostname);
  if (!parsed.ok) throw new Error(parsed.reason);
  const plain = { source: 'feed', kind: 'malware', confidence: 100, botname: null, isAbused: null } as const;
  return { ...plain, name: parsed.name, ts: T, tags: [], ...more };
}

/** The tests that every engine must pass. */
export function changesContract(open: OpenStore): void {
  suite('the change feed', () => {
    test('a URL: first known, another status, another payload; not what is only seen again', async (t) => {
      const { store, step } = await openSteps(open, t);
      const added = await step(() => store.apply([seen({ ts: T, url: URL, status: 'online', reporter: 'ada' })]));
      deepEqual(added.recorded, ['add domain site.example', `add url ${URL}`]);
      const line = added.lines.find(({ kind }) => kind === 'url');
      deepEqual(line?.status, { ts: T, status: 'online', removal: '', reporter: 'ada' });
      equal(line?.payload, null);
      ok(Math.abs((line?.ts ?? 0) - Date.now() / 1000) < 60, 'the time of the write');

      const before = await store.newestChange();
      const again = await step(() => store.apply([seen({ ts: T + 600, url: URL, status: 'online', reporter: 'ada' })]));
      deepEqual(again.recorded, []);
      ok((await store.newestChange()) > before, 'lists for devices have to look again');
      const later = await step(() =>
        store.apply([seen({ ts: T + 2 * HOUR, url: URL, status: 'online', reporter: 'ada' })]),
      );
      deepEqual(later.recorded, ['update domain site.example']);

      const gone = await step(() => store.apply([seen({ ts: T + DAY, url: URL, status: 'offline', reporter: 'bob' })]));
      deepEqual(gone.recorded, [`update url ${URL}`]);
      equal(gone.lines[0]?.status?.status, 'offline');
      const old = await step(() =>
        store.apply([seen({ ts: T + DAY / 2, url: URL, status: 'offline', reporter: 'bob' })]),
      );
      deepEqual(old.recorded, [`update url ${URL}`]);

      const payload = await step(() =>
        store.apply([seen({ ts: T + DAY, url: URL, status: null, payload: { sha256: SHA } })]),
      );
      deepEqual(payload.recorded, [`update url ${URL}`]);
      deepEqual(payload.lines[0]?.payload, { ts: T + DAY, sha256_hash: SHA, 'malware-family': null });
      const older = await step(() =>
        store.apply([seen({ ts: T + 2, url: URL, status: null, payload: { sha256: hashOf('b') } })]),
      );
      deepEqual(older.recorded, []);
      const family = await step(() =>
        store.applyFiles([
          {
            sha256: SHA,
            family: 'Mirai',
            mimeType: null,
            fileType: null,
            fileExt: null,
            fileSize: null,
            fileName: null,
          },
        ]),
      );
      deepEqual(family.recorded, [`update url ${URL}`]);
      equal(family.lines[0]?.payload?.['malware-family'], 'Mirai');
    });

    test('a URL that a complete listing does not have any more', async (t) => {
      const { store, step } = await openSteps(open, t);
      const listing = { feed: 'feed', ts: T };
      await store.apply([seen({ ts: T, url: URL, status: 'online', reporter: 'feed' })], listing);
      await store.finishListing(listing);
      const { recorded, lines } = await step(() => store.finishListing({ feed: 'feed', ts: T + DAY }));
      deepEqual(recorded, [`update url ${URL}`]);
      equal(lines[0]?.status?.status, 'offline');
    });

    test('a listing of a source: first known, its end an hour later, removed by hand, and again', async (t) => {
      const { store, step } = await openSteps(open, t);
      const key = 'DROP|192.0.2.0/24|feed||';
      const at = (ts: number) => () => store.applyListings([listed('192.0.2.0/24', { dataset: 'DROP', ts })]);
      const added = await step(at(T));
      deepEqual(added.recorded, [`add listing ${key}`]);
      equal(added.lines[0]?.valid_until, T + 3 * DAY);
      deepEqual((await step(at(T + 600))).recorded, []);
      const moved = await step(at(T + 2 * HOUR));
      deepEqual(moved.recorded, [`update listing ${key}`]);
      equal(moved.lines[0]?.valid_until, T + 2 * HOUR + 3 * DAY);

      const network = parseKeyNetwork('192.0.2.0/24') ?? { ip: new Uint8Array(16), prefix: 0 };
      const [source] = [...(await store.sourceNames())].find(([, name]) => name === 'feed') ?? [0];
      const removal = {
        network,
        dataset: 'DROP',
        sourceId: source,
        removedTs: T + 3 * HOUR,
        reason: 'mistake',
      } as const;
      const removed = await step(() => store.removeListings([{ ...removal, untilTs: T + DAY }]));
      deepEqual(removed.recorded, [`remove listing ${key}`]);
      const hidden = await step(at(T + 5 * HOUR));
      deepEqual(hidden.recorded, [`remove listing ${key}`]);
      const again = await step(at(T + DAY + HOUR));
      deepEqual(again.recorded, [`update listing ${key}`]);
      const expired = await step(at(T + 30 * DAY));
      deepEqual(expired.recorded, [`add listing ${key}`]);
    });

    test('a listing that follows from URLs', async (t) => {
      const { store, step } = await openSteps(open, t);
      const url = (path: string) => `http://192.0.2.1/${path}`;
      const key = `XBL|192.0.2.1|${URL_SOURCE.name}||`;
      const added = await step(() => store.apply([seen({ ts: T, url: url('a'), status: 'online' })]));
      deepEqual(added.recorded, [`add listing ${key}`, `add url ${url('a')}`]);
      equal(added.lines.find(({ kind }) => kind === 'listing')?.valid_until, T + 7 * DAY);
      const second = await step(() => store.apply([seen({ ts: T + DAY, url: url('b'), status: 'online' })]));
      deepEqual(second.recorded, [`add url ${url('b')}`, `update listing ${key}`]);
      equal(second.lines.find(({ kind }) => kind === 'listing')?.valid_until, T + 8 * DAY);
      const network = parseKeyNetwork('192.0.2.1') ?? { ip: new Uint8Array(16), prefix: 0 };
      const removal = {
        network,
        dataset: 'XBL',
        sourceId: URL_SOURCE.id,
        removedTs: T + DAY,
        untilTs: T + 9 * DAY,
      } as const;
      const removed = await step(() => store.removeListings([{ ...removal, reason: 'mistake' }]));
      deepEqual(removed.recorded, [`remove listing ${key}`]);
    });

    test('a domain: first known, evidence, facts, settings', async (t) => {
      const { store, step } = await openSteps(open, t);
      const evidence = (ts: number, more: Partial<DomainEvidence> = {}) =>
        step(() => store.applyDomains([named('www.site.example', { ts, ...more })], []));
      const added = await evidence(T, { kind: 'botnetcc' });
      deepEqual(added.recorded, ['add domain site.example']);
      ok(Math.abs((added.lines[0]?.ts ?? 0) - Date.now() / 1000) < 60, 'the time of the write');
      equal(added.lines[0]?.['is-listed'], true);
      ok((added.lines[0]?.['listed-until'] ?? 0) > T);
      deepEqual((await evidence(T + 600, { kind: 'botnetcc' })).recorded, []);
      deepEqual((await evidence(T + 2 * HOUR, { kind: 'botnetcc' })).recorded, ['update domain site.example']);
      deepEqual((await evidence(T, { kind: 'phishing' })).recorded, ['update domain site.example']);
      const { name } = named('site.example');
      const whois = { kind: 'whois', ts: T, createdTs: T - DAY, expiresTs: null, registrar: null, name } as const;
      deepEqual((await step(() => store.applyDomains([], [whois]))).recorded, ['update domain site.example']);
      deepEqual((await step(() => store.applyDomains([], [whois]))).recorded, []);
      const address = { kind: 'a', ts: T, ips: [parseKeyNetwork('192.0.2.9')?.ip as Uint8Array], name } as const;
      deepEqual((await step(() => store.applyDomains([], [address]))).recorded, ['update domain site.example']);
      deepEqual((await step(() => store.applyDomains([], [{ ...address, ts: T + 60 }]))).recorded, []);
      const settings = { human: 50, isAbused: null, reason: 'ours', setTs: T };
      const set = await step(() => store.setDomain('site.example', settings));
      deepEqual(set.recorded, ['update domain site.example']);
      equal(set.lines[0]?.['is-listed'], false);
      equal(set.lines[0]?.['listed-until'], undefined);
    });

    test('every write makes the newest number grow, also one that records nothing', async (t) => {
      const store = await open(t);
      await store.apply([seen({ ts: T, url: URL, status: 'online' })]);
      const network = parseKeyNetwork('198.51.100.0/24') ?? { ip: new Uint8Array(16), prefix: 0 };
      const source = { name: 'feed', trustPermille: 500, lifeSeconds: null, intervalSeconds: null };
      const writes: (() => Promise<unknown>)[] = [
        () => store.apply([seen({ ts: T, url: URL, tags: ['word'] })]),
        () => store.apply([seen({ ts: T, url: URL, ip: '192.0.2.7' })]),
        () => store.putSources([source]),
        () => store.putSources([{ ...source, trustPermille: 400 }]),
        () => store.applyLists([{ source: 'list', ts: T, as: 'allow', network, reason: '' }]),
        () => store.applyLists([{ source: 'list', ts: T, as: 'popular', name: 'site.example' }]),
        () => store.setNetworks([{ ip: parseKeyNetwork('192.0.2.7')?.ip as Uint8Array, asn: 64500 }]),
        () => store.removeAllowEntries(network),
        () => store.finishList('list', T + 1),
      ];
      for (const write of writes) {
        const before = await store.newestChange();
        await write();
        ok((await store.newestChange()) > before, String(write));
        deepEqual(await readLines(store, before, { now: T }), []);
      }
    });

    test('only the datasets of the caller', async (t) => {
      const store = await open(t);
      await store.apply([seen({ ts: T, url: URL, status: 'online' })]);
      await store.applyListings([
        listed('192.0.2.0/24', { dataset: 'DROP', ts: T }),
        listed('192.0.2.5', { dataset: 'BCL', ts: T, port: 443, family: 'Mirai' }),
      ]);
      const read = async (asked: Partial<AskedChanges>) =>
        textOf(
          await readLines(store, null, { now: T, asked: { urls: false, datasets: [], domains: false, ...asked } }),
        );
      deepEqual(await read({ urls: true }), [`add url ${URL}`]);
      deepEqual(await read({ domains: true }), ['add domain site.example']);
      deepEqual(await read({ datasets: ['BCL'] }), ['add listing BCL|192.0.2.5|feed|Mirai|443']);
    });

    test('pages of every size have the same lines, each once', async (t) => {
      const store = await open(t);
      const urls = Array.from({ length: 210 }, (_, i) => `http://host${i}.example/`);
      await store.apply(urls.map((url) => seen({ ts: T, url, status: 'online' })));
      await store.apply(urls.map((url) => seen({ ts: T + 1, url, status: 'offline' })));
      const all = await readLines(store, 0, { now: T });
      equal(all.length, 210 * 3);
      for (const limit of [29, 200, 201, 999]) {
        const read: Line[] = [];
        for (let cursor = 0; ; cursor = read.at(-1)?.seq ?? 0) {
          const lines = await readLines(store, cursor, { now: T, limit });
          ok(lines.length <= limit);
          if (lines.length === 0) break;
          read.push(...lines);
        }
        deepEqual(read, all);
      }
    });

    test('old changes are deleted, and a cursor before them is refused; numbers are never used again', async (t) => {
      const store = await open(t);
      const apply = (n: number) => store.apply([seen({ ts: T, url: `http://host${n}.example/`, status: 'online' })]);
      const cursors = [0];
      for (const n of [1, 2, 3]) {
        await apply(n);
        cursors.push(await store.newestChange());
      }
      const [, first = 0, , third = 0] = cursors;
      const future = Math.floor(Date.now() / 1000) + 60;
      equal(await store.removeOldChanges(0, 0, 100), null);
      equal(await store.removeOldChanges(future, 0, 2), first);
      equal(await store.changesAfter(0, ALL, 10), 'gone');
      notEqual(await store.changesAfter(first, ALL, 10), 'gone');
      equal(await store.changesAfter(third + 1, ALL, 10), 'unknown');
      equal(await store.oldestCursor(), first);
      equal(await store.removeOldChanges(future, first, 100), third);
      equal(await store.removeOldChanges(future, third, 100), null);
      equal(await store.newestChange(), third);
      equal(await store.oldestCursor(), third);
      equal(await store.changesAfter(first, ALL, 10), 'gone');
      deepEqual(await store.changesAfter(third, ALL, 10), { changes: [], lastSeq: third });
      await apply(4);
      deepEqual(textOf(await readLines(store, third, { now: T })), [
        'add domain host4.example',
        'add url http://host4.example/',
      ]);
      equal(await store.changesAfter(first, ALL, 10), 'gone');
    });
  });
}
