import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DOMAIN_KINDS, type DomainEvidence, type DomainFact, type DomainKind } from '../../src/core/evidence.ts';
import { parseIp } from '../../src/core/ip/address.ts';
import {
  evidenceRank,
  evidenceRow,
  exportedEvidence,
  groupEvidence,
  groupFacts,
  isRecordedEvidence,
  isSameEvidence,
  mergeEvidence,
  readDetails,
} from '../../src/reputation/domain-rules.ts';
import { contribution } from '../../src/reputation/score.ts';

const DAY = 86_400;
const NAME = { hostname: 'a.site.example', domain: 'site.example' };
const KEY = { source: 'feed', name: NAME };
const PLAIN = { botname: null, isAbused: null, tags: [] };

const sighting = (kind: DomainKind): fc.Arbitrary<DomainEvidence> =>
  fc.record({
    source: fc.constant('feed'),
    name: fc.constant(NAME),
    kind: fc.constant(kind),
    // Few values, so that times and ranks are often equal: a half-life is 14 or 30 days.
    ts: fc.integer({ min: 0, max: 8 }).map((n) => n * 7 * DAY),
    confidence: fc.constantFrom(1, 25, 50, 100),
    botname: fc.constantFrom(null, 'Mirai', 'x'),
    isAbused: fc.constantFrom(null, true, false),
    tags: fc.constantFrom([], ['phishing' as const]),
  });

const sightings = fc
  .constantFrom(...DOMAIN_KINDS)
  .chain((kind) => fc.array(sighting(kind), { minLength: 1, maxLength: 8 }));

const rowOf = (evidence: readonly DomainEvidence[]) => evidence.map(evidenceRow).reduce(mergeEvidence);

test('sightings become one row with the first, the best and the last of them', () => {
  const given = { ...KEY, kind: 'malware', ...PLAIN } as const;
  const [group] = groupEvidence([
    { ...given, ts: 300, confidence: 50, botname: 'Mirai', tags: ['malware'] },
    { ...given, ts: 100, confidence: 50 },
    { ...given, ts: 200, confidence: 100 },
  ]);
  deepEqual(group?.row, {
    rank: evidenceRank('malware', 200, 100),
    bestTs: 200,
    bestConfidence: 100,
    firstTs: 100,
    lastTs: 300,
    details: '{"botname":"Mirai","confidence":50,"tags":["malware"]}',
  });
  deepEqual(readDetails(group.row.details), { confidence: 50, botname: 'Mirai', isAbused: null, tags: ['malware'] });
  equal(evidenceRow({ ...given, ts: 100, confidence: 100 }).details, '');
});

test('in one second the greater confidence counts as newer, then the greater text', () => {
  const row = (confidence: number, botname: string) =>
    evidenceRow({ ...KEY, kind: 'malware', ...PLAIN, ts: 100, confidence, botname });
  for (const [less, more] of [
    [row(50, 'b'), row(51, 'a')],
    [row(50, 'a'), row(50, 'b')],
  ] as const) {
    equal(mergeEvidence(less, more).details, more.details);
    equal(mergeEvidence(more, less).details, more.details);
  }
});

test('what is seen again in the same hour since the first time is not recorded, anything else is', () => {
  const row = { ...evidenceRow({ ...KEY, kind: 'malware', ...PLAIN, ts: 1_000, confidence: 50 }), rank: 1_000 };
  equal(isSameEvidence(row, { ...row }), true);
  for (const key of Object.keys(row)) equal(isSameEvidence(row, { ...row, [key]: 'other' }), false, key);
  for (const [old, now, isRecorded] of [
    [null, row, true],
    [row, { ...row, firstTs: 999 }, true],
    [row, { ...row, details: '' }, true],
    [row, { ...row, lastTs: 1_001 }, false],
    [row, { ...row, rank: 1_000 + 3_599 }, false],
    [row, { ...row, rank: 1_000 + 3_600 }, true],
  ] as const) {
    equal(isRecordedEvidence(old, now), isRecorded);
  }
});

test('a half of the confidence is a half-life of age', () => {
  equal(evidenceRank('botnetcc', 100, 100), Math.round(100 + 30 * DAY * Math.log2(1.5)), 'as it is stored');
  equal(evidenceRank('malware', 20 * DAY, 50), evidenceRank('malware', 6 * DAY, 100));
  equal(evidenceRank('botnetcc', 40 * DAY, 50), evidenceRank('botnetcc', 10 * DAY, 100));
  equal(evidenceRank('phishing', 20 * DAY, 50), evidenceRank('phishing', 20 * DAY, 100));
});

test('the best sighting contributes most, at any later time', () => {
  fc.assert(
    fc.property(sightings, fc.integer({ min: 56, max: 500 }), (evidence, day) => {
      const { bestTs, bestConfidence } = rowOf(evidence);
      const [{ kind, source }] = evidence as [DomainEvidence];
      const pieces = evidence.map((one) => contribution(one, day * DAY));
      const best = contribution({ kind, source, ts: bestTs, confidence: bestConfidence }, day * DAY);
      // Ranks are whole seconds.
      equal(Math.abs(best / Math.max(...pieces) - 1) < 1e-5, true);
    }),
  );
});

test('any order and any repetition give the same row', () => {
  fc.assert(
    fc.property(sightings, fc.infiniteStream(fc.nat()), (evidence, numbers) => {
      const mixed = [...evidence, ...evidence]
        .map((one) => ({ one, at: numbers.next().value as number }))
        .sort((a, b) => a.at - b.at)
        .map(({ one }) => one);
      deepEqual(rowOf(mixed), rowOf(evidence));
    }),
  );
});

test('rows merge like the sightings that they come from', () => {
  fc.assert(
    fc.property(sightings, fc.nat({ max: 8 }), (evidence, cut) => {
      const [left, right] = [evidence.slice(0, cut), evidence.slice(cut)];
      if (left.length === 0 || right.length === 0) return;
      deepEqual(mergeEvidence(rowOf(left), rowOf(right)), rowOf(evidence));
    }),
  );
});

test('exported evidence gives the same row', () => {
  fc.assert(
    fc.property(sightings, (evidence) => {
      const row = rowOf(evidence);
      const [{ kind }] = evidence as [DomainEvidence];
      const exported = exportedEvidence({ ...KEY, kind }, row);
      deepEqual(rowOf(exported), row);
      equal(new Set(exported.map(({ ts }) => ts)).size, exported.length);
    }),
  );
});

test('facts of one key and day become one row with the newest time', () => {
  const [ip, other] = ['192.0.2.1', '192.0.2.2'].map((text) => parseIp(text) as Uint8Array) as [Uint8Array, Uint8Array];
  const server = { hostname: 'ns.dns.example', domain: 'dns.example' };
  const whois = { name: NAME, kind: 'whois', createdTs: 1, expiresTs: null } as const;
  const facts: DomainFact[] = [
    { name: NAME, ts: DAY + 1, kind: 'a', ips: [ip, other] },
    { name: NAME, ts: DAY + 9, kind: 'a', ips: [ip] },
    { name: NAME, ts: 2 * DAY, kind: 'a', ips: [ip] },
    { name: NAME, ts: DAY, kind: 'ns', servers: [server] },
    { name: NAME, ts: DAY - 1, kind: 'ns', servers: [server] },
    { name: NAME, ts: 5, kind: 'sender', ip, helo: '' },
    { name: NAME, ts: 4, kind: 'sender', ip, helo: '' },
    { ...whois, ts: 7, registrar: 'A' },
    { ...whois, ts: 7, registrar: 'B' },
    { ...whois, ts: 6, registrar: 'C' },
    { name: NAME, ts: 7, kind: 'rank', source: 'top', rank: 9 },
    { name: NAME, ts: 7, kind: 'rank', source: 'top', rank: 8 },
    { name: NAME, ts: 6, kind: 'rank', source: 'top', rank: 1 },
  ];
  const rows = {
    addresses: [
      { name: NAME, ip, day: 1, ts: DAY + 9 },
      { name: NAME, ip: other, day: 1, ts: DAY + 1 },
      { name: NAME, ip, day: 2, ts: 2 * DAY },
    ],
    servers: [
      { domain: 'site.example', server, day: 1, ts: DAY },
      { domain: 'site.example', server, day: 0, ts: DAY - 1 },
    ],
    senders: [{ domain: 'site.example', ip, helo: '', ts: 5 }],
    whois: [{ domain: 'site.example', ts: 7, createdTs: 1, expiresTs: null, registrar: 'B' }],
    ranks: [{ domain: 'site.example', source: 'top', rank: 8, ts: 7 }],
  };
  deepEqual(groupFacts(facts), rows);

  const texts = (given: object) =>
    Object.values(given).map((list) => list.map((row: unknown) => JSON.stringify(row)).sort());
  deepEqual(texts(groupFacts([...facts, ...facts].reverse())), texts(rows));
});
