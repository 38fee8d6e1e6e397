import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ADDRESS_DATASETS, DOMAIN_KINDS } from '../../src/core/evidence.ts';
import { abusedDecision } from '../../src/reputation/abused.ts';
import type { LiveListing } from '../../src/reputation/address-report.ts';
import {
  addressScore,
  domainReport,
  findDomain,
  isHostListed,
  type ListedAddresses,
  listedAddresses,
  serverScore,
} from '../../src/reputation/domain-report.ts';
import { type Reason, reasonsOf } from '../../src/reputation/explain.ts';
import { DIMENSIONS } from '../../src/reputation/score.ts';
import type { DomainState } from '../../src/reputation/store.ts';
import { DAY, evidenceOf, ipOf, NOW, sourceOf, stateOf } from './domain-state.ts';

const reportOf = (state: Partial<DomainState>, listed: Record<string, LiveListing[]> = {}) =>
  domainReport(stateOf(state), new Map(Object.entries(listed)), NOW);
const url = (hostname = 'site.example', days = 0) => ({ hostname, onlineTs: NOW - days * DAY });
const live = (dataset: LiveListing['dataset'], source = 'a feed', days = 0): LiveListing => ({
  network: { ip: ipOf('192.0.2.1'), prefix: 128 },
  dataset,
  source,
  trustPermille: 900,
  seenTs: NOW - days * DAY,
  validUntilTs: NOW + DAY,
});
const address = (text: string, lastTs = NOW) => ({ ip: ipOf(text), lastTs, days: 1 });
const sender = (text: string, helo = '') => ({ ip: ipOf(text), helo, lastTs: NOW });
const server = (hostname: string, ...ips: string[]) => ({ hostname, lastTs: NOW, days: 1, ips: ips.map(ipOf) });
const popular = (rank: number | null, source = 'top') => ({ kind: 'popular' as const, source, rank, ts: NOW - DAY });

describe('abused', () => {
  const oldWhois = { ts: NOW - DAY, createdTs: NOW - 800 * DAY, expiresTs: null, registrar: null };
  const onOneHost = {
    urls: [url('x.site.example')],
    firstUrlTs: NOW,
    evidenceHosts: ['x.site.example'],
    whois: oldWhois,
  };
  const set = (isAbused: boolean | null) => ({ human: 0, isAbused, reason: 'a ticket', setTs: NOW });
  const claim = { source: 'a feed', ts: NOW };
  const rows: [what: string, state: Partial<DomainState>, isAbused: boolean | undefined, text: RegExp][] = [
    ['nothing known', {}, undefined, /^$/],
    ['the operator said yes', { settings: set(true) }, true, /the operator says that it is abused: a ticket/],
    ['the operator said no', { settings: set(false), lists: [popular(1)] }, false, /it is not abused/],
    ['the operator said nothing', { settings: set(null) }, undefined, /^$/],
    ['a source says so', { abusedClaim: claim }, true, /^a feed says that the site was broken into/],
    ['the operator before a source', { settings: set(false), abusedClaim: claim }, false, /operator/],
    ['rank 100,000', { lists: [popular(100_000)] }, true, /rank 100000 .*\(top\)/],
    ['rank 100,001', { lists: [popular(100_001)] }, undefined, /^$/],
    ['the best rank', { lists: [popular(900), popular(5, 'other')] }, true, /rank 5 .*\(other\)/],
    ['a popularity list without ranks', { lists: [popular(null)] }, true, /list of popular sites \(top\)/],
    ['shared', { lists: [{ kind: 'shared', source: 's', rank: null, ts: 1 }] }, true, /shared sites \(s\)/],
    ['shortener', { lists: [{ kind: 'shortener', source: 's', rank: null, ts: 1 }] }, true, /URL shorteners/],
    ['dyndns', { lists: [{ kind: 'dyndns', source: 's', rank: null, ts: 1 }] }, true, /dynamic-DNS/],
    ['on the built-in list', { name: 'raw.githubusercontent.com' }, true, /tenants of raw\.githubusercontent\.com/],
    ['a host of it is on the built-in list', { name: 'discordapp.com' }, true, /tenants of cdn\.discordapp\.com/],
    ['below a private suffix', { name: 'user.github.io' }, undefined, /^$/],
    [
      'old, and all evidence on one host name',
      onOneHost,
      true,
      /more than a year .* all evidence is on x\.site\.example/,
    ],
    ['two host names', { ...onOneHost, evidenceHosts: ['x.site.example', 'y.site.example'] }, undefined, /^$/],
    ['the domain itself', { ...onOneHost, evidenceHosts: ['site.example'] }, undefined, /^$/],
    ['www', { ...onOneHost, evidenceHosts: ['www.site.example'] }, undefined, /^$/],
    ['registered a year before', { ...onOneHost, firstUrlTs: NOW - 435 * DAY }, undefined, /^$/],
    ['registered a second more before', { ...onOneHost, firstUrlTs: NOW - 435 * DAY + 1 }, true, /one|evidence/],
    [
      'earlier evidence of a feed',
      { ...onOneHost, evidence: [evidenceOf({ firstTs: NOW - 700 * DAY })] },
      undefined,
      /^$/,
    ],
    ['no registration data', { ...onOneHost, whois: null }, undefined, /^$/],
    ['no time of the evidence', { ...onOneHost, firstUrlTs: null }, undefined, /^$/],
  ];
  for (const [what, state, isAbused, text] of rows) {
    test(`${what}: ${isAbused}`, () => {
      const decision = abusedDecision(stateOf(state));
      assert.equal(decision?.isAbused, isAbused);
      assert.match(decision?.text ?? '', text);
    });
  }

  test('on an abused domain the guilt stays with the host name', () => {
    const report = reportOf({ ...onOneHost, urls: Array.from({ length: 64 }, () => url('x.site.example')) });
    assert.deepEqual([report.score, report.isListed], [-7.2, false]);
    const host = { hostname: 'x.site.example', lastTs: NOW, urlTs: [NOW], evidence: [] };
    assert.equal(isHostListed(host, NOW), true);
    assert.equal(isHostListed({ ...host, urlTs: [NOW - 21 * DAY] }, NOW), false);
    assert.equal(isHostListed({ ...host, urlTs: [], evidence: [evidenceOf({ kind: 'botnetcc' })] }, NOW), true);
  });
});

describe('dimensions', () => {
  test('each kind of evidence counts in its dimension, with the trust of its source', () => {
    const { dimensions, score, isListed } = reportOf(
      {
        urls: [url()],
        evidence: [
          evidenceOf({ kind: 'botnetcc', source: sourceOf('b', 450), bestConfidence: 50 }),
          evidenceOf({ kind: 'phishing' }),
        ],
        addresses: [address('192.0.2.1')],
        servers: [server('ns.other.example', '192.0.2.2', '192.0.2.3')],
        senders: [sender('192.0.2.4')],
        lists: [popular(1_000_000)],
        settings: { human: 3, isAbused: null, reason: '', setTs: NOW },
      },
      {
        '192.0.2.1': [live('DROP', 'drop', 14)],
        '192.0.2.3': [live('BCL', 'drop', 14), live('XBL', 'drop')],
        '192.0.2.4': [live('CSS', 'spam', 7), live('DROP', 'spam')],
      },
    );
    // malware: 1 − (1 − 0.9·(1 − e^−0.7))·(1 − 0.45·(1 − e^−0.75)); infra: 0.7 and, by another source, 2 · 0.35; smtp: 0.35
    assert.deepEqual(dimensions, { human: 3, identity: 0, infra: -10.5, malware: -23.3, smtp: -4 });
    assert.deepEqual([score, isListed], [-34.8, true]);
  });

  test('listings of one source for one address are one piece, for two addresses two', () => {
    const listed = { '192.0.2.1': [live('DROP'), live('BCL'), live('BCL', 'a feed', 3)], '192.0.2.2': [live('BCL')] };
    assert.equal(reportOf({ addresses: [address('192.0.2.1')] }, listed).dimensions.infra, -6.8);
    assert.equal(reportOf({ addresses: [address('192.0.2.1'), address('192.0.2.2')] }, listed).dimensions.infra, -10.2);
  });

  test('a sender with two HELO names is one piece', () => {
    const senders = [sender('192.0.2.1', 'a'), sender('192.0.2.1', 'b')];
    assert.equal(reportOf({ senders }, { '192.0.2.1': [live('XBL')] }).dimensions.smtp, -6.8);
  });

  test('of an evidence the sighting that contributes most counts', () => {
    const { dimensions, evidenceTs } = reportOf({
      evidence: [evidenceOf({ bestTs: NOW - 14 * DAY, bestConfidence: 100, lastTs: NOW - DAY })],
    });
    assert.deepEqual([dimensions.malware, evidenceTs], [-10.6, NOW - DAY]);
  });
});

describe('what is known', () => {
  test('of a domain with everything', () => {
    const report = reportOf({
      lastUrlTs: NOW - 5 * DAY,
      urls: [url('site.example', 5)],
      evidence: [evidenceOf({ kind: 'phishing', lastTs: NOW - 4 * DAY, tags: ['dyndns'] })],
      abusedClaim: { source: 'a feed', ts: NOW },
      addresses: [address('192.0.2.1', NOW - 3 * DAY)],
      senders: [sender('192.0.2.1')],
      whois: { ts: NOW - 6 * DAY, createdTs: 1, expiresTs: null, registrar: null },
      lists: [popular(1), { kind: 'shortener', source: 's', rank: null, ts: NOW }],
    });
    assert.deepEqual(report.tags, ['malware', 'phishing', 'compromised', 'popular', 'shortener', 'dyndns']);
    assert.deepEqual(
      report.contexts.map(({ context, lastTs }) => [context, (NOW - lastTs) / DAY]),
      [
        ['helo', 0],
        ['popularity', 1],
        ['pdns', 3],
        ['osint', 4],
        ['urls', 5],
        ['whois', 6],
      ],
    );
    assert.deepEqual([report.lastSeenTs, report.evidenceTs], [NOW, NOW - 4 * DAY]);
    const settings = { human: 0, isAbused: null, reason: '', setTs: NOW - DAY };
    const timeless = reportOf({ lastUrlTs: 0, settings });
    assert.deepEqual([timeless.lastSeenTs, timeless.contexts], [NOW - DAY, []]);
  });

  test('of a domain that the operator set, and of one with URLs that nobody saw online', () => {
    const set = reportOf({ settings: { human: 25, isAbused: null, reason: '', setTs: NOW - 9 } });
    assert.deepEqual(
      [set.lastSeenTs, set.evidenceTs, set.score, set.tags, set.contexts],
      [NOW - 9, NOW - 9, 25, [], []],
    );
    assert.deepEqual(reportOf({ lastUrlTs: NOW }).tags, ['malware']);
  });
});

describe('the score of an address', () => {
  const scoreFor = (...datasets: LiveListing['dataset'][]) =>
    addressScore(ipOf('192.0.2.1'), new Map([['192.0.2.1', datasets.map((dataset) => live(dataset))]]));
  test('is the sum over its listings, at least −50', () => {
    assert.deepEqual([scoreFor(), scoreFor('XBL'), scoreFor('BCL', 'CSS'), scoreFor('DROP')], [0, -5, -15, -10]);
    assert.equal(scoreFor('BCL', 'BCL', 'BCL', 'BCL', 'BCL', 'BCL'), -50);
    assert.ok(Object.is(addressScore(ipOf('192.0.2.1'), new Map()), 0));
  });

  test('of a name server is the lowest of its addresses', () => {
    const listed = new Map([
      ['192.0.2.1', [live('XBL')]],
      ['192.0.2.2', [live('BCL')]],
    ]);
    assert.equal(serverScore([ipOf('192.0.2.1'), ipOf('192.0.2.2')], listed), -10);
    assert.equal(serverScore([], listed), 0);
  });
});

describe('a lookup', () => {
  const state = stateOf({ addresses: [address('192.0.2.1')], senders: [sender('2001:db8::1')] });
  const found = [live('DROP')];

  test('is no promise if the store answers without one', () => {
    const report = findDomain({ domainState: () => state }, () => found, 'site.example', NOW);
    assert.ok(report !== null && !(report instanceof Promise));
    assert.deepEqual([...report.listed.keys()], ['192.0.2.1', '2001:db8::1']);
    assert.equal(
      findDomain({ domainState: () => null }, () => found, 'site.example', NOW),
      null,
    );
  });

  test('gives the same with promises', async () => {
    const sync = findDomain({ domainState: () => state }, () => found, 'site.example', NOW);
    assert.deepEqual(await findDomain({ domainState: async () => state }, async () => found, 'x', NOW), sync);
    assert.equal(await findDomain({ domainState: async () => null }, async () => found, 'x', NOW), null);
  });

  test('of very many addresses asks for each once, and lets others run', async () => {
    const ips = Array.from({ length: 1_000 }, (_, i) => ipOf(`198.51.${i >> 8}.${i & 255}`));
    let asked = 0;
    const listed = await listedAddresses([...ips, ...ips], () => {
      asked += 1;
      return found;
    });
    assert.deepEqual([asked, listed.size], [1_000, 1_000]);
  });
});

describe('explain', () => {
  const texts = (reasons: Reason[]) => reasons.map(({ dimension, points, text }) => `${dimension} ${points} ${text}`);

  test('names the feed, the names and the rule', () => {
    const reasons = reasonsOf(
      reportOf(
        {
          urls: [url('a.site.example'), url('b.site.example', 3)],
          evidence: [
            evidenceOf({
              kind: 'botnetcc',
              hostname: 'c2.site.example',
              bestConfidence: 75,
              source: sourceOf('botnets', 500),
            }),
          ],
          senders: [sender('192.0.2.4')],
          lists: [popular(1_000)],
          whois: { ts: NOW, createdTs: NOW - 3 * DAY, expiresTs: null, registrar: null },
          settings: { human: -4, isAbused: null, reason: 'a ticket', setTs: NOW },
        },
        { '192.0.2.4': [live('CSS', 'spam')] },
      ),
    );
    assert.deepEqual(texts(reasons), [
      'human -4 Set by the operator on 2026-01-01: a ticket',
      'identity 0 Abused, because it has rank 1000 in a list of popular sites (top): evidence counts one fifth for the domain, and does not list it',
      'identity -5 Registered on 2025-12-29, less than 30 days ago',
      'identity 4 Rank 1000 in the popularity list top',
      'malware -4.5 URL data: 2 malware URLs on a.site.example, b.site.example, last seen online on 2026-01-01. Weight 1.30 after its age, trust 0.9',
      'malware -1.7 botnets: names c2.site.example as a botnet controller (confidence 75), last on 2026-01-01. Weight 1.13 after its age, trust 0.5',
      'smtp -1.4 spam: lists senders of the domain as infected hosts or spam sources: 192.0.2.4, last on 2026-01-01. Weight 0.70 after its age, trust 0.9',
    ]);
    assert.deepEqual(
      reasons.map(({ feed }) => feed),
      ['operator', 'top', 'whois', 'top', 'URL data', 'botnets', 'spam'],
    );
  });

  test('counts many names and URLs', () => {
    const urls = Array.from({ length: 64 }, (_, i) => url(`${i}.site.example`));
    const [reason] = reasonsOf(reportOf({ urls }));
    assert.match(reason?.text ?? '', /64 or more malware URLs on 0\.site\.example, .* and 61 more,/);
  });

  test('a time that no calendar has is a number', () => {
    const whois = { ts: NOW, createdTs: Number.MAX_SAFE_INTEGER, expiresTs: null, registrar: null };
    assert.match(reasonsOf(reportOf({ whois }))[0]?.text ?? '', /second 9007199254740991/);
  });

  const ts = fc.integer({ min: NOW - 300 * DAY, max: NOW });
  const source = fc.constantFrom(sourceOf('a', 0), sourceOf('b', 1), sourceOf('c', 300), sourceOf('d', 900));
  const hostname = fc.constantFrom('site.example', 'a.site.example');
  const anyState = fc.record({
    urls: fc.array(fc.record({ hostname, onlineTs: ts }), { maxLength: 64 }),
    evidence: fc.array(
      fc
        .record({
          source,
          kind: fc.constantFrom(...DOMAIN_KINDS),
          hostname,
          bestTs: ts,
          bestConfidence: fc.integer({ min: 1, max: 100 }),
        })
        .map((given) => evidenceOf({ ...given, lastTs: given.bestTs })),
      { maxLength: 20 },
    ),
    lists: fc.array(
      fc.option(fc.integer({ min: 1, max: 200_000 })).map((rank) => popular(rank)),
      { maxLength: 2 },
    ),
    whois: fc.option(ts.map((createdTs) => ({ ts: NOW, createdTs, expiresTs: null, registrar: null }))),
    settings: fc.option(
      fc.record({
        human: fc.integer({ min: -50, max: 50 }),
        isAbused: fc.option(fc.boolean()),
        reason: fc.constant(''),
        setTs: ts,
      }),
    ),
    addresses: fc.constant(null).map(() => [address('192.0.2.1')]),
    senders: fc.constant(null).map(() => [sender('192.0.2.1')]),
  });
  const anyListings: fc.Arbitrary<ListedAddresses> = fc
    .array(fc.record({ dataset: fc.constantFrom(...ADDRESS_DATASETS), source, seenTs: ts }), { maxLength: 6 })
    .map((listings) =>
      listings.map((one) => ({ ...one, source: one.source.name, trustPermille: one.source.trustPermille })),
    )
    .map((listings) => new Map([['192.0.2.1', listings]]));

  test('for any evidence the points add up to the score, and in each dimension to its points', () => {
    fc.assert(
      fc.property(anyState, anyListings, (state, listed) => {
        const report = domainReport(stateOf(state), listed, NOW);
        const reasons = reasonsOf(report);
        const tenths = (chosen: Reason[]) => chosen.reduce((sum, { points }) => sum + Math.round(points * 10), 0);
        assert.equal(tenths(reasons), Math.round(report.score * 10));
        for (const name of DIMENSIONS) {
          const own = reasons.filter(({ dimension }) => dimension === name);
          assert.equal(tenths(own), Math.round(report.dimensions[name] * 10));
          if (name !== 'identity' && name !== 'human') assert.ok(own.every(({ points }) => points <= 0.05));
        }
        assert.ok(reasons.every(({ points, text, feed }) => Number.isFinite(points) && text !== '' && feed !== ''));
      }),
    );
  });
});
