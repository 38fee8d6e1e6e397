import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import type { Intelligence } from '../../src/app/stores.ts';
import { parseDomainName } from '../../src/core/domain-name.ts';
import type { DomainFact, ListEntry, ListingEvidence } from '../../src/core/evidence.ts';
import { formatKeyNetwork, parseKeyNetwork } from '../../src/core/ip/key-network.ts';
import type { ObservationInput } from '../../src/core/observation.ts';
import type { ListKind } from '../../src/exports/content.ts';
import { buildEntries, type ListWithoutSerial } from '../../src/exports/entries.ts';
import { explainEntry, isExplainable } from '../../src/exports/explain.ts';
import { renderVariant } from '../../src/exports/list-builder.ts';
import { packList } from '../../src/exports/packed-list.ts';
import type { Exclusion, ExclusionMatch, ListFilter } from '../../src/exports/store.ts';
import { listedUntil } from '../../src/reputation/score.ts';
import { DAY, NEW_YEAR, seen } from '../urls/contract/observations.ts';

export type OpenStore = (t: TestContext) => Promise<Intelligence>;

/** Not at a full hour: scores are those of the hour. */
const NOW = NEW_YEAR + 100;

const FILTER: ListFilter = {
  status: 'online',
  maxAgeSeconds: 30 * DAY,
  families: [],
  reporters: [],
  datasets: [],
  maxScore: null,
  listedDomains: false,
};

type Given = {
  filter?: Partial<ListFilter>;
  exclusions?: Exclusion[];
  nowTs?: number;
  maxEntries?: number;
  allowReserved?: boolean;
};

const definition = (kind: ListKind, filter: Partial<ListFilter> = {}) => {
  return { name: 'list', kind, description: '', filter: { ...FILTER, ...filter }, changedTs: 0 };
};

const optionsOf = ({ maxEntries, allowReserved = true }: Given) => {
  const options = { allowReserved };
  return maxEntries === undefined ? options : { ...options, maxEntries };
};

function build(store: Intelligence, kind: ListKind, given: Given = {}): Promise<ListWithoutSerial> {
  const { filter, exclusions = [], nowTs = NOW } = given;
  return buildEntries(store, definition(kind, filter), exclusions, nowTs, optionsOf(given));
}

/** The keys of the entries, in their order. */
async function keys(store: Intelligence, kind: ListKind, given: Given = {}): Promise<string[]> {
  const content = await build(store, kind, given);
  if (content.kind === 'urls') return content.entries.map(({ url }) => url);
  if (content.kind === 'hosts') return content.entries.map(({ host }) => host);
  return content.entries.map(({ network, dataset }) => `${formatKeyNetwork(network)} ${dataset}`);
}

async function reasons(store: Intelligence, kind: ListKind, text: string, given: Given = {}): Promise<string[]> {
  const { filter, exclusions = [], nowTs = NOW } = given;
  const found = await explainEntry(store, definition(kind, filter), exclusions, nowTs, optionsOf(given), text);
  assert.ok(found !== null, text);
  assert.equal(found.isOnList, found.reasons.length === 0);
  return found.reasons.map(({ reason, text: words }) => `${reason}: ${words}`);
}

function excluded(match: ExclusionMatch, more: Partial<Exclusion> = {}): Exclusion {
  return { id: 1, match, list: null, reason: 'our partner', setTs: NOW - DAY, untilTs: null, ...more };
}

const online = (url: string, day = 0, more: Partial<ObservationInput> = {}) =>
  seen({ ts: NOW + day * DAY, url, status: 'online', ...more });

const networkOf = (text: string) => parseKeyNetwork(text) ?? assert.fail(text);

function listed(cidr: string, given: Partial<ListingEvidence> = {}): ListingEvidence {
  const { ts = NOW } = given;
  return {
    source: 'feed',
    network: networkOf(cidr),
    dataset: 'BCL',
    family: null,
    port: null,
    details: '',
    listedTs: ts,
    ts,
    ...given,
  };
}

function addressFact(hostname: string, ...ips: string[]): DomainFact {
  const parsed = parseDomainName(hostname);
  assert.ok(parsed.ok);
  return { ts: NOW, name: parsed.name, kind: 'a', ips: ips.map((ip) => networkOf(ip).ip) };
}

const onList = (as: 'popular' | 'shared' | 'shortener' | 'dyndns', name: string): ListEntry => {
  return { as, name, source: `${as}-list`, ts: NOW };
};

/** The tests of what is on lists, for every engine. */
export function contentContract(open: OpenStore): void {
  suite('lists of URLs', () => urlTests(open));
  suite('lists of hosts', () => hostTests(open));
  suite('lists of addresses', () => addressTests(open));
}

function urlTests(open: OpenStore): void {
  test('each family of a URL fits, also if one row names several', async (t) => {
    const store = await open(t);
    const url = 'http://www.a.example/';
    await store.apply([
      online(url, -1, { payload: { family: 'Qakbot' } }),
      ...['Mirai', 'Gafgyt', 'Mozi'].map((family) => online(url, 0, { payload: { family } })),
    ]);
    for (const family of ['mirai', 'gafgyt', 'mozi']) {
      const given = { filter: { families: [family] } };
      assert.deepEqual(await keys(store, 'urls', given), [url]);
      assert.deepEqual(await keys(store, 'hosts', given), ['www.a.example']);
      assert.deepEqual(await reasons(store, 'urls', url, given), []);
    }
    const content = await build(store, 'hosts');
    const families = content.kind === 'hosts' ? content.entries.map((entry) => entry.families) : [];
    assert.deepEqual(families, [['Gafgyt', 'Mirai', 'Mozi']]);
    for (const family of ['Emotet', 'Qakbot']) {
      const given = { filter: { families: [family] } };
      assert.deepEqual(await keys(store, 'urls', given), []);
      assert.match(String(await reasons(store, 'urls', url, given)), /^filter: /);
    }
  });

  test('the filter, and what explains it', async (t) => {
    const store = await open(t);
    const offline = seen({ ts: NOW, url: 'http://off.example/', status: 'offline' });
    await store.apply([
      online('http://b.example/'),
      online('http://a.example/', 0, { reporter: 'anna', payload: { family: 'MIRAI' } }),
      online('http://old.example/', -31),
      offline,
    ]);
    const content = await build(store, 'urls');
    assert.deepEqual(await keys(store, 'urls'), ['http://a.example/', 'http://b.example/']);
    assert.deepEqual([content.leftOut, content.nextEndTs], [{}, NOW + 30 * DAY + 1]);
    assert.deepEqual(await keys(store, 'urls', { filter: { families: ['Mirai'] } }), ['http://a.example/']);
    assert.deepEqual(await keys(store, 'urls', { filter: { reporters: ['anna'] } }), ['http://a.example/']);
    assert.deepEqual(await keys(store, 'urls', { filter: { status: 'offline' } }), ['http://off.example/']);
    const everything = { status: 'any', maxAgeSeconds: 365 * DAY } as const;
    assert.equal((await keys(store, 'urls', { filter: everything })).length, 4);

    assert.deepEqual(await reasons(store, 'urls', 'HTTP://A.example'), []);
    assert.match(
      String(await reasons(store, 'urls', 'http://old.example/')),
      /^filter: last seen 2025-12-01, .* 30 days$/,
    );
    assert.match(
      String(await reasons(store, 'urls', 'off.example')),
      /^filter: 1 URL: the status is offline, the list has online$/,
    );
    const given = { filter: { families: ['Mozi'], reporters: ['otto'] } };
    assert.deepEqual(await reasons(store, 'urls', 'http://a.example/', given), [
      'filter: the malware family is MIRAI, the list has Mozi',
      'filter: reported by anna, the list has otto',
    ]);
    assert.match(String(await reasons(store, 'urls', 'http://new.example/')), /^unknown: no status of/);
    assert.match(String(await reasons(store, 'urls', '192.0.2.0/24')), /^kind: /);
  });

  test('a defanged text is explained as it really is', async (t) => {
    const store = await open(t);
    for (const [given = '', real] of [
      [' hxxp://shop[.]example/a[.]b ', 'http://shop.example/a.b'],
      ['shop[.]example', 'shop.example'],
      ['203[.]0[.]113[.]0/24', '203.0.113.0/24'],
    ]) {
      const found = await explainEntry(store, definition('urls'), [], NOW, optionsOf({}), given);
      assert.equal(found?.subject, real);
      assert.ok(isExplainable(given));
    }
    assert.ok(!isExplainable('no[.]t a host'));
  });

  test('a list of hosts says that no list of names is imported', async (t) => {
    const store = await open(t);
    await store.apply([seen({ ts: NOW - DAY, url: 'http://short.example/xyz' })]);
    const lacking = await build(store, 'hosts');
    assert.equal(lacking.lacksNameLists, true);
    assert.equal((await build(store, 'urls')).lacksNameLists, undefined);
    const comments = (list: ListWithoutSerial) =>
      Buffer.concat(
        renderVariant({ ...list, serial: 1 }, { format: 'rpz', profile: null, max: null }).pieces,
      ).toString();
    assert.match(comments(lacking), /^; No list of popular sites, shared sites or URL shorteners is imported: .+/m);
    await store.applyLists([{ source: 'list', ts: NOW, as: 'shortener', name: 'other.example' }]);
    const complete = await build(store, 'hosts');
    assert.doesNotMatch(comments(complete), /is imported/);
    assert.deepEqual(complete.entries, lacking.entries);
    const [before, after] = [lacking, complete].map(packList);
    assert.notDeepEqual(before?.keysHash, after?.keysHash, 'the serial grows with the comment');
  });

  test('exclusions match as meant, and end', async (t) => {
    const store = await open(t);
    const urls = [
      'http://good.example/',
      'http://sub.good.example/',
      'http://notgood.example/',
      'http://p.example/dir/a',
    ];
    await store.apply([...urls, 'http://p.example/direct', 'http://192.0.2.7/'].map((url) => online(url)));
    const without = async (...exclusions: Exclusion[]) => {
      const left = await keys(store, 'urls', { exclusions });
      const all = await keys(store, 'urls');
      return all.filter((url) => !left.includes(url)).map((url) => url.slice(7));
    };
    const host = { kind: 'host', host: 'good.example', withSubdomains: false } as const;
    assert.deepEqual(await without(excluded(host)), ['good.example/']);
    assert.deepEqual(await without(excluded({ ...host, withSubdomains: true })), [
      'good.example/',
      'sub.good.example/',
    ]);
    assert.deepEqual(await without(excluded({ kind: 'url', prefix: 'HTTP://P.example:80/dir/' })), ['p.example/dir/a']);
    assert.deepEqual(await without(excluded({ kind: 'network', network: '192.0.2.0/24' })), ['192.0.2.7/']);
    assert.deepEqual(await without(excluded(host, { list: 'other' })), []);
    assert.deepEqual(await without(excluded(host, { untilTs: NOW })), []);
    const ending = excluded(host, { list: 'list', untilTs: NOW + 60 });
    const content = await build(store, 'urls', { exclusions: [ending] });
    assert.deepEqual([content.leftOut, content.nextEndTs], [{ excluded: 1 }, NOW + 60]);
    const explained = String(await reasons(store, 'urls', 'http://good.example/', { exclusions: [ending] }));
    assert.match(explained, /^excluded: .*good\.example, on this list, .*until 2026-01-01T00:02:40Z\): our partner$/);
  });

  test('the newest entries, if there are more than a list may have', async (t) => {
    const store = await open(t);
    await store.apply(Array.from({ length: 9 }, (_, i) => online(`http://${i}.example/`, -i)));
    const content = await build(store, 'urls', { maxEntries: 3 });
    assert.deepEqual(
      await keys(store, 'urls', { maxEntries: 3 }),
      [0, 1, 2].map((i) => `http://${i}.example/`),
    );
    assert.deepEqual(content.leftOut, { 'over-limit': 6 });
  });
}

function hostTests(open: OpenStore): void {
  test('names of URLs, with the score of the API', async (t) => {
    const store = await open(t);
    await store.apply([
      online('http://www.site.example/a', 0, { payload: { family: 'Mozi' } }),
      online('http://www.site.example/b', -1, { payload: { family: 'Mirai' } }),
      online('http://192.0.2.1/'),
      online('http://[2001:db8::1]/'),
      online('http://github.io/'),
    ]);
    const { kind: _, name: __, ...content } = await build(store, 'hosts');
    const entry = {
      host: 'www.site.example',
      domain: 'site.example',
      sinceTs: NOW,
      seenTs: NOW,
      urls: 2,
      families: ['Mirai', 'Mozi'],
    };
    assert.deepEqual(content, {
      entries: [{ ...entry, score: -26.8 }],
      leftOut: { address: 2, 'shared-site': 1 },
      lacksNameLists: true,
      nextEndTs: NEW_YEAR + 3_600,
    });
    assert.match(String(await reasons(store, 'hosts', '192.0.2.1')), /^address: /);
    assert.match(String(await reasons(store, 'hosts', 'github.io')), /^shared-site: github.io is a public suffix/);
    assert.match(String(await reasons(store, 'hosts', 'site.example')), /^unknown: no URL of site.example is known$/);
    assert.deepEqual(await keys(store, 'hosts', { filter: { maxScore: -30 } }), []);
    assert.match(
      String(await reasons(store, 'hosts', 'www.site.example', { filter: { maxScore: -30 } })),
      /^filter: the score of the domain is -26.8, the list has -30 and lower$/,
    );
  });

  test('sites that many share are left out, whatever the evidence', async (t) => {
    const store = await open(t);
    const shared = [
      'raw.githubusercontent.com',
      'drive.google.com',
      'download7.mediafire.com',
      'popular.example',
      'www.popular.example',
      'docs.site.example',
      'short.example',
      'dyn.example',
      'suffix.dyn2.example',
      'github.io',
    ];
    const kept = [
      'hacked.popular.example',
      'user.dyn.example',
      'own.site.example',
      'ranked.example',
      'x.github.io',
      'a.x.github.io',
    ];
    await store.apply([...shared, ...kept].map((host) => online(`http://${host}/`)));
    await store.applyLists([
      onList('popular', 'popular.example'),
      onList('shared', 'docs.site.example'),
      onList('dyndns', 'dyn.example'),
      onList('shortener', 'short.example'),
      onList('dyndns', 'suffix.dyn2.example'),
    ]);
    const name = { hostname: 'ranked.example', domain: 'ranked.example' };
    await store.applyDomains([], [{ ts: NOW, name, kind: 'rank', source: 'top', rank: 100_001 }]);
    const content = await build(store, 'hosts');
    assert.deepEqual(await keys(store, 'hosts'), kept.toSorted());
    assert.deepEqual(content.leftOut, { 'shared-site': shared.length });
    for (const host of kept) assert.deepEqual(await reasons(store, 'hosts', host), [], host);
    const explained = async (host: string) => String(await reasons(store, 'hosts', host));
    assert.match(await explained('raw.githubusercontent.com'), /^shared-site: the path, .*\(built-in\)/);
    assert.match(
      await explained('docs.site.example'),
      /shared-site: docs.site.example is on a list of shared sites \(shared-list\)/,
    );
    assert.match(
      await explained('www.popular.example'),
      /shared-site: .*\(popular-list\),abused-domain: popular.example is /,
    );
    assert.match(
      await explained('a.b.x.github.io'),
      /^unknown: no URL .*,covered: x\.github\.io above it is on the list/,
    );
    assert.match(await explained('a.hacked.popular.example'), /,covered: hacked\.popular\.example above it/);
    for (const host of ['a.popular.example', 'a.unknown.example', 'unknown.github.io'])
      assert.doesNotMatch(await explained(host), /covered/);
    assert.equal((await keys(store, 'urls')).length, shared.length + kept.length);
  });

  test('a name above one that many share is left out: most formats also block the names below', async (t) => {
    const store = await open(t);
    const above = new Map([
      ['scw.cloud', 'the public suffix cockpit.fr-par.scw.cloud is below it'],
      ['fr-par.scw.cloud', 'the public suffix cockpit.fr-par.scw.cloud is below it'],
      ['kobe.jp', 'the public suffix *.kobe.jp is below it'],
      ['compute.amazonaws.com', 'the public suffix *.compute.amazonaws.com is below it'],
      ['usercontent.google.com', 'of drive.usercontent.google.com (built-in) below it'],
      ['sub.site.example', 'a.files.sub.site.example below it is on a list of shared sites (shared-list)'],
      ['files.sub.site.example', 'a.files.sub.site.example below it is on a list of shared sites (shared-list)'],
      ['pages.popular.example', 'x.pages.popular.example below it is on a list of popular sites (popular-list)'],
    ]);
    const kept = [
      'bad.fr-par.scw.cloud',
      'city.kobe.jp', // an exception: no public suffix
      'other.google.com',
      'www.sub.site.example',
      'b.files.sub.site.example',
      'notsub.site.example',
    ];
    await store.apply([...above.keys(), ...kept].map((host) => online(`http://${host}/`)));
    await store.setDomain('google.com', { human: 0, isAbused: false, reason: '', setTs: NOW });
    await store.applyLists([
      onList('shared', 'a.files.sub.site.example'),
      onList('popular', 'x.pages.popular.example'),
      onList('dyndns', 'far.away.dyn.example'),
    ]);
    const content = await build(store, 'hosts');
    assert.deepEqual(await keys(store, 'hosts'), kept.toSorted());
    assert.deepEqual(content.leftOut, { 'shared-site': above.size });
    for (const [host, text] of above) {
      const found = await reasons(store, 'hosts', host);
      assert.equal(found.length, 1, host);
      assert.match(found[0] ?? '', /^shared-site: .*, and most formats also block names below a name$/);
      assert.ok(found[0]?.includes(text), `${found[0]}`);
    }
    for (const host of kept) assert.deepEqual(await reasons(store, 'hosts', host), [], host);
    assert.equal((await keys(store, 'urls')).length, above.size + kept.length);
  });

  test('a domain above a public suffix is not on a list of listed domains', async (t) => {
    const store = await open(t);
    await store.setDomain('render.com', { human: -50, isAbused: null, reason: '', setTs: NOW });
    await store.setDomain('listed.example', { human: -50, isAbused: null, reason: '', setTs: NOW });
    const given = { filter: { listedDomains: true } };
    assert.deepEqual(await keys(store, 'hosts', given), ['listed.example']);
    assert.deepEqual((await build(store, 'hosts', given)).leftOut, { 'shared-site': 1 });
  });

  test('an abused domain and its www are left out; its names stay while they are listed themselves', async (t) => {
    const store = await open(t);
    const hosts = ['hacked.example', 'www.hacked.example', 'shop.hacked.example'];
    await store.apply([...hosts.map((host) => online(`http://${host}/`)), online('http://old.hacked.example/', -20)]);
    await store.setDomain('hacked.example', { human: 0, isAbused: true, reason: 'ours', setTs: NOW });
    const content = await build(store, 'hosts');
    assert.deepEqual(await keys(store, 'hosts'), ['shop.hacked.example']);
    assert.deepEqual(content.leftOut, { 'abused-domain': 3 });
    const [first] = await reasons(store, 'hosts', 'www.hacked.example');
    assert.match(
      first ?? '',
      /^abused-domain: hacked.example is a good site that somebody misused: the operator says .*ours$/,
    );
    const [old] = await reasons(store, 'hosts', 'old.hacked.example');
    assert.match(old ?? '', /the evidence on old.hacked.example alone does not list it$/);
    // Its one URL lists it for 15 days and some hours, as the known answers of the score say.
    const end = await build(store, 'hosts', { nowTs: NOW + 15 * DAY });
    assert.deepEqual(await keys(store, 'hosts', { nowTs: NOW + 15 * DAY }), ['shop.hacked.example']);
    assert.ok(end.nextEndTs !== null);
    assert.deepEqual(await keys(store, 'hosts', { nowTs: NOW + 16 * DAY }), []);
  });

  test('a name of an abused domain with more URLs than its score reads', async (t) => {
    const store = await open(t);
    const many = Array.from({ length: 100 }, (_, i) => online(`http://busy.site.example/${i}`));
    await store.apply([...many, online('http://quiet.site.example/', -1)]);
    await store.applyLists([onList('shared', 'site.example')]);
    assert.deepEqual(await keys(store, 'hosts'), ['busy.site.example', 'quiet.site.example']);
  });

  test('domains that are listed by their score', async (t) => {
    const store = await open(t);
    await store.apply([
      online('http://www.two.example/', -3),
      seen({ ts: NOW, url: 'http://www.two.example/', status: 'offline' }),
    ]);
    await store.apply([online('http://stale.example/', -40), online('http://good.example/')]);
    await store.setDomain('good.example', { human: 50, isAbused: null, reason: '', setTs: NOW });
    await store.setDomain('set.example', { human: -20, isAbused: null, reason: '', setTs: NOW - 90 * DAY });
    await store.setDomain('short.example', { human: -50, isAbused: null, reason: '', setTs: NOW });
    await store.applyLists([onList('shortener', 'short.example')]);
    // Two addresses of controllers are enough, without any URL or evidence.
    await store.applyListings([listed('192.0.2.1'), listed('192.0.2.0/30', { dataset: 'DROP', source: 'drop' })]);
    await store.applyDomains([], [addressFact('fact.example', '192.0.2.1', '192.0.2.2')]);
    const filter = { listedDomains: true };
    assert.deepEqual(await keys(store, 'hosts', { filter }), [
      'two.example',
      'set.example',
      'fact.example', // nothing says since when
    ]);
    const content = await build(store, 'hosts', { filter: { listedDomains: true, maxScore: -10 } });
    assert.deepEqual(content.leftOut, { 'shared-site': 1 });
    assert.equal(content.kind, 'hosts');
    for (const { domain, score } of content.kind === 'hosts' ? content.entries : []) assert.ok(score <= -10, domain);
    assert.deepEqual(await keys(store, 'hosts', { filter: { ...filter, maxScore: -10 } }), [
      'two.example',
      'set.example',
      'fact.example',
    ]);
    assert.match(
      String(await reasons(store, 'hosts', 'stale.example', { filter })),
      /last seen .*not listed by its score/,
    );
    assert.deepEqual(await reasons(store, 'hosts', 'set.example', { filter }), []);
  });

  test('on a list of any status, a host is not newer because it went offline', async (t) => {
    const store = await open(t);
    await store.apply([online('http://gone.example/', -9), online('http://here.example/', -1)]);
    await store.apply([seen({ ts: NOW, url: 'http://gone.example/', status: 'offline' })]);
    const filter = { status: 'any', listedDomains: true } as const;
    assert.deepEqual(await keys(store, 'hosts', { filter }), ['here.example', 'gone.example']);
    const content = await build(store, 'hosts', { filter });
    const since = content.kind === 'hosts' ? content.entries.map(({ sinceTs }) => sinceTs) : [];
    assert.deepEqual(since, [NOW - DAY, NOW - 9 * DAY]);
    const offline = await build(store, 'hosts', { filter: { status: 'offline' } });
    assert.deepEqual(offline.kind === 'hosts' && offline.entries.map(({ sinceTs }) => sinceTs), [NOW]);
  });

  test('a list of listed domains has no host of another domain, whatever its own bound is', async (t) => {
    const store = await open(t);
    await store.apply([
      online('http://www.listed.example/'),
      seen({ ts: NOW, url: 'http://gone.old.example/', status: 'offline' }),
      online('http://www.good.example/'),
    ]);
    await store.setDomain('good.example', { human: 25, isAbused: null, reason: '', setTs: NOW });
    for (const maxScore of [null, 50, -10]) {
      const given = { filter: { listedDomains: true, status: 'any', maxScore } } as const;
      assert.deepEqual((await keys(store, 'hosts', given)).sort(), ['listed.example', 'www.listed.example']);
      assert.match(
        String(await reasons(store, 'hosts', 'www.good.example', given)),
        /^filter: the score of the domain is [\d.]+, the list has -10 and lower$/,
      );
    }
    const lower = { filter: { listedDomains: true, status: 'any', maxScore: -30 } } as const;
    assert.deepEqual(await keys(store, 'hosts', lower), []);
  });

  test('a list ends with a score that decays', async (t) => {
    const store = await open(t);
    await store.apply([online('http://site.example/'), online('http://shop.hacked.example/')]);
    await store.setDomain('hacked.example', { human: 0, isAbused: true, reason: '', setTs: NOW });
    const piece = { source: 'URL data', trust: 0.9, kind: 'url', subject: '', ts: NOW, newestTs: NOW } as const;
    const endTs = listedUntil({ pieces: [piece], isAbused: false, createdTs: null, rank: null, human: 0 }, NOW);
    const at = (nowTs: number, maxScore: number | null) => ({ filter: { maxScore }, nowTs });
    assert.equal((await build(store, 'hosts', at(endTs - 5, -10))).nextEndTs, endTs);
    assert.deepEqual(await keys(store, 'hosts', at(endTs - 1, -10)), ['site.example']);
    assert.deepEqual(await keys(store, 'hosts', at(endTs, -10)), []);
    // Without a bound of the score only the name of the abused domain ends.
    assert.equal((await build(store, 'hosts', at(endTs - 5, null))).nextEndTs, endTs);
    assert.deepEqual(await keys(store, 'hosts', at(endTs - 1, null)), ['shop.hacked.example', 'site.example']);
    assert.deepEqual(await keys(store, 'hosts', at(endTs, null)), ['site.example']);
  });

  test('excluded hosts, and hosts whose URLs are all excluded', async (t) => {
    const store = await open(t);
    await store.apply([online('http://a.example/x'), online('http://b.example/x'), online('http://b.example/y')]);
    const exclusions = [
      excluded({ kind: 'url', prefix: 'http://a.example/' }),
      excluded({ kind: 'url', prefix: 'http://b.example/x' }, { id: 2 }),
    ];
    assert.deepEqual(await keys(store, 'hosts', { exclusions }), ['b.example']);
    assert.deepEqual((await build(store, 'hosts', { exclusions })).leftOut, { excluded: 1 });
    assert.match(String(await reasons(store, 'hosts', 'a.example', { exclusions })), /^excluded: 1 URL: excluded by/);
    const host = excluded({ kind: 'host', host: 'b.example', withSubdomains: false });
    assert.deepEqual(await keys(store, 'hosts', { exclusions: [host] }), ['a.example']);
  });

  test('a name is left out while a name below it is excluded: most formats block that too', async (t) => {
    const store = await open(t);
    const hosts = ['site.example', 'a.site.example', 'ok.a.site.example', 'b.site.example', 'notsite.example'];
    await store.apply(hosts.map((host) => online(`http://${host}/`)));
    const host = { kind: 'host', host: 'ok.a.site.example' } as const;
    for (const withSubdomains of [false, true]) {
      const given = { exclusions: [excluded({ ...host, withSubdomains })] };
      assert.deepEqual(await keys(store, 'hosts', given), ['b.site.example', 'notsite.example']);
      assert.deepEqual((await build(store, 'hosts', given)).leftOut, { excluded: 3 });
      assert.deepEqual(await reasons(store, 'hosts', 'site.example', given), [
        'excluded: ok.a.site.example below it is excluded, and most formats also block names below a name',
      ]);
      assert.equal((await keys(store, 'urls', given)).length, 4);
    }
    const ended = { exclusions: [excluded({ ...host, withSubdomains: true }, { untilTs: NOW })] };
    assert.equal((await keys(store, 'hosts', ended)).length, 5);
  });
}

function addressTests(open: OpenStore): void {
  test('live listings, one entry for each network and dataset', async (t) => {
    const store = await open(t);
    await store.applyListings([
      listed('192.0.2.1', { ts: NOW - DAY, listedTs: NOW - 2 * DAY, family: 'Mirai', port: 443 }),
      listed('192.0.2.1', { source: 'another', ts: NOW - 60 }),
      listed('192.0.2.1', { dataset: 'DROP' }),
      listed('192.0.2.2', { ts: NOW - 8 * DAY }),
      listed('192.0.2.3'),
    ]);
    await store.apply([online('http://192.0.2.9/'), online('http://192.0.2.10/', -8)]);
    const network = networkOf('192.0.2.3');
    const sources = await store.sourceNames();
    const sourceId = [...sources].find(([, name]) => name === 'feed')?.[0] as number;
    const removal = { network, dataset: 'BCL', sourceId, removedTs: NOW, untilTs: NOW + DAY, reason: 'wrong' } as const;
    await store.removeListings([removal]);
    assert.deepEqual(await keys(store, 'addresses'), ['192.0.2.1 DROP', '192.0.2.9 XBL', '192.0.2.1 BCL']);
    const content = await build(store, 'addresses', { filter: { datasets: ['BCL'] } });
    assert.ok(content.kind === 'addresses');
    const shown = content.entries.map((entry) => ({ ...entry, network: formatKeyNetwork(entry.network) }));
    assert.deepEqual(shown, [
      {
        network: '192.0.2.1',
        dataset: 'BCL',
        listedTs: NOW - 2 * DAY,
        seenTs: NOW - 60,
        validUntilTs: NOW - 60 + 7 * DAY,
        family: 'Mirai',
        port: 443,
        sources: ['another', 'feed'],
      },
    ]);
    assert.equal(content.nextEndTs, NOW + 6 * DAY);
    const explained = async (text: string) => String(await reasons(store, 'addresses', text));
    assert.deepEqual(await reasons(store, 'addresses', 'http://192.0.2.9/x'), []);
    assert.match(await explained('192.0.2.2'), /^filter: 192.0.2.2 \(BCL, feed\): expired /);
    assert.match(await explained('192.0.2.3'), /removed by the operator: wrong$/);
    assert.match(await explained('192.0.2.4'), /^unknown: no listing/);
    assert.match(await explained('site.example'), /^kind: the list has addresses/);
    assert.deepEqual(await keys(store, 'addresses', { filter: { families: ['mirai'] } }), ['192.0.2.1 BCL']);
  });

  test('allowed, shared and excluded addresses are left out, also inside wider networks', async (t) => {
    const store = await open(t);
    const entry = { source: 'list', ts: NOW, reason: 'ours' };
    await store.applyLists([
      ...['192.0.2.1', '192.0.2.8', '192.0.2.9'].map(
        (cidr) => ({ ...entry, as: 'allow', network: networkOf(cidr) }) as const,
      ),
      { ...entry, as: 'shared', network: networkOf('198.51.100.128/25') },
    ]);
    await store.applyListings([
      ...['192.0.2.0/30', '192.0.2.1', '192.0.2.8/31', '198.51.100.200', '198.51.100.0/24', '203.0.113.7'].map((cidr) =>
        listed(cidr),
      ),
      listed('2001:db8::1'),
    ]);
    const exclusions = ['203.0.113.0/24', '192.0.2.3'].map((network) => excluded({ kind: 'network', network }));
    const content = await build(store, 'addresses', { exclusions });
    assert.deepEqual(await keys(store, 'addresses', { exclusions }), [
      '192.0.2.0 BCL',
      '192.0.2.2 BCL',
      '198.51.100.0/25 BCL',
      '2001:db8::1 BCL',
    ]);
    assert.deepEqual(content.leftOut, { allowed: 3, 'shared-address': 2, excluded: 2 });
    const explained = async (text: string) => String(await reasons(store, 'addresses', text, { exclusions }));
    assert.match(await explained('192.0.2.1'), /allowed: allowed by 192.0.2.1 \(list: ours\)/);
    assert.match(await explained('192.0.2.8/31'), /^allowed: allowed by 192.0.2.8 .*,allowed: allowed by 192.0.2.9 /);
    assert.match(
      await explained('198.51.100.200'),
      /^shared-address: a range that many share: 198.51.100.128\/25 \(list: ours\)$/,
    );
    assert.match(await explained('203.0.113.7'), /^excluded: .*our partner$/);
    assert.match(await explained('203.0.113.0/24'), /^excluded: /);
    assert.match(await explained('203.0.0.0/16'), /^excluded: /);
    assert.match(await explained('198.51.100.192/26'), /^shared-address: /);
    for (const network of ['192.0.2.0/30', '192.0.2.2/31', '198.51.100.0/23'])
      assert.equal(await explained(network), '');
  });

  test('reserved ranges are left out, also inside wider networks', async (t) => {
    const store = await open(t);
    const wide = ['172.0.0.0/8', '192.168.0.0/15', '2001::/16'];
    await store.applyListings([...wide, '192.0.2.1', '8.8.8.0/24'].map((cidr) => listed(cidr, { dataset: 'DROP' })));
    const real = { allowReserved: false };
    assert.deepEqual(
      (await keys(store, 'addresses', real)).map((key) => key.replace(' DROP', '')),
      [
        '8.8.8.0/24',
        '172.0.0.0/12',
        '172.32.0.0/11',
        '172.64.0.0/10',
        '172.128.0.0/9',
        '192.169.0.0/16',
        // Without 2001::/23 and 2001:db8::/32.
        '2001:200::/23',
        '2001:400::/22',
        '2001:800::/22',
        '2001:c00::/24',
        '2001:d00::/25',
        '2001:d80::/27',
        '2001:da0::/28',
        '2001:db0::/29',
        '2001:db9::/32',
        '2001:dba::/31',
        '2001:dbc::/30',
        '2001:dc0::/26',
        '2001:e00::/23',
        '2001:1000::/20',
        '2001:2000::/19',
        '2001:4000::/18',
        '2001:8000::/17',
      ],
    );
    assert.deepEqual((await build(store, 'addresses', real)).leftOut, { reserved: 3 });
    for (const text of ['192.168.1.1', '172.16.0.0/12', '2001:db8::7']) {
      assert.deepEqual(await reasons(store, 'addresses', text, real), [
        `reserved: ${text} is in a private or reserved range`,
      ]);
    }
    assert.match(String(await reasons(store, 'addresses', '192.0.2.1', real)), /^filter: .*,reserved: 192.0.2.1 is in/);
    for (const text of ['192.169.1.1', '172.0.0.0/8', '2001:db9::7']) {
      assert.deepEqual(await reasons(store, 'addresses', text, real), []);
    }
    assert.equal((await keys(store, 'addresses')).length, 5);
    assert.deepEqual(await reasons(store, 'addresses', '192.168.1.1'), []);
  });

  test('an address that more than 20 registrable domains resolve to is left out', async (t) => {
    const store = await open(t);
    const facts = (ip: string, count: number) =>
      Array.from({ length: count }, (_, i) => [
        addressFact(`d${i}.example`, ip),
        addressFact(`www.d${i}.example`, ip),
      ]).flat();
    await store.applyDomains([], [...facts('192.0.2.20', 20), ...facts('192.0.2.21', 15)]);
    await store.apply(Array.from({ length: 6 }, (_, i) => online(`http://u${i}.example/`, -1, { ip: '192.0.2.21' })));
    await store.applyListings(['192.0.2.20', '192.0.2.21'].map((cidr) => listed(cidr)));
    assert.deepEqual(await keys(store, 'addresses'), ['192.0.2.20 BCL']);
    assert.deepEqual(await reasons(store, 'addresses', '192.0.2.21/32'), [
      'shared-address: 21 registrable domains resolved to 192.0.2.21 in the last 90 days',
    ]);
    await store.applyListings([listed('192.0.2.0/24')]);
    assert.deepEqual(await keys(store, 'addresses'), ['192.0.2.0/24 BCL', '192.0.2.20 BCL']);
    assert.deepEqual((await build(store, 'addresses')).leftOut, { 'shared-address': 1 });
    assert.deepEqual(await reasons(store, 'addresses', '192.0.2.21'), [], 'the wider network blocks it');
  });
}
