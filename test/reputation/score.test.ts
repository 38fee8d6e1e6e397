import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type Dimensions,
  dimensionsOf,
  EVIDENCE,
  EVIDENCE_DIMENSIONS,
  type EvidenceKind,
  isHostnameListed,
  isListed,
  listedUntil,
  type Piece,
  type ScoreInput,
  scoreOf,
  sourceShares,
} from '../../src/reputation/score.ts';

const NOW = 1_767_225_600;
const DAY = 86_400;

const inputOf = (pieces: readonly Piece[], rest: Partial<ScoreInput> = {}): ScoreInput => ({
  pieces,
  isAbused: false,
  createdTs: null,
  rank: null,
  human: 0,
  ...rest,
});
const piece = (kind: EvidenceKind, days = 0, rest: Partial<Piece> = {}): Piece => ({
  source: 'a',
  trust: 0.9,
  kind,
  subject: 'a.example',
  ts: NOW - days * DAY,
  newestTs: NOW - days * DAY,
  ...rest,
});
const dimensions = (pieces: Piece[], rest: Partial<ScoreInput> = {}) => dimensionsOf(inputOf(pieces, rest), NOW);
const times = (count: number, make: () => Piece) => Array.from({ length: count }, make);

/** The pieces, and the dimension that has these points. Computed by hand from the formula. */
const KNOWN: [name: string, pieces: Piece[], dimension: keyof Dimensions, points: number][] = [
  ['a malware URL seen online now', [piece('url')], 'malware', -18.1],
  ['a malware URL last seen online 7 days ago', [piece('url', 7)], 'malware', -14.1],
  ['a malware URL last seen online 14 days ago', [piece('url', 14)], 'malware', -10.6],
  ['a malware URL last seen online 21 days ago', [piece('url', 21)], 'malware', -7.9],
  ['a botnet controller', [piece('botnetcc')], 'malware', -28],
  ['a botnet controller 14 days ago', [piece('botnetcc', 14)], 'malware', -23.8],
  ['a botnet controller with confidence 50', [piece('botnetcc', 0, { confidence: 50 })], 'malware', -19],
  ['a malware domain with confidence 50', [piece('malware', 0, { confidence: 50 })], 'malware', -10.6],
  ['phishing, whose confidence does not count', [piece('phishing', 0, { confidence: 1 })], 'infra', -6.8],
  ['phishing 3 days ago', [piece('phishing', 3)], 'infra', -4],
  ['an address with a listing', [piece('infra-listing')], 'infra', -6.8],
  ['a sender with a listing, 7 days ago', [piece('sender-listing', 7)], 'smtp', -4],
  ['a time ahead counts as now', [piece('url', -1)], 'malware', -18.1],
  ['two URLs of one source', [piece('url'), piece('url')], 'malware', -27.1],
  ['URLs of two sources', [piece('url'), piece('url', 0, { source: 'b' })], 'malware', -28],
  ['64 URLs, 28 days ago', times(64, () => piece('url', 28)), 'malware', -36],
  ['the trust of the source', [piece('url', 0, { trust: 0.5 })], 'malware', -10.1],
  ['a source without trust', [piece('url', 0, { trust: 0 })], 'malware', 0],
];

describe('known answers', () => {
  for (const [name, pieces, dimension, points] of KNOWN) {
    test(`${name}: ${points}`, () => assert.equal(dimensions(pieces)[dimension], points));
  }

  test('the 64 largest pieces of a source count, over all kinds of the dimension', () => {
    const old = times(64, () => piece('url', 280));
    assert.ok(dimensions(old).malware > -0.1);
    assert.equal(dimensions([...old, piece('botnetcc'), ...old]).malware, -28);
    const pieces = times(65, () => piece('url', 56));
    assert.equal(sourceShares(pieces, NOW)[0]?.x.toFixed(4), ((64 * 0.7) / 16).toFixed(4));
  });

  test('an abused domain keeps a fifth of its evidence, and all of the rest', () => {
    const rest = { isAbused: true, human: 7, rank: 10 };
    assert.deepEqual(dimensions([piece('url'), piece('phishing'), piece('sender-listing')], rest), {
      human: 7,
      identity: 8,
      infra: -1.4,
      malware: -3.6,
      smtp: -1.4,
    });
  });

  for (const [createdDays, rank, points] of [
    [null, null, 0],
    [29, null, -5],
    [30, null, 0],
    [-1, null, -5],
    [null, 1, 10],
    [null, 10, 8],
    [null, 12, 7.8],
    [null, 100_000, 0],
    [null, 1_000_000, 0],
    [1, 1_000, -1],
  ] as const) {
    test(`registered ${createdDays} days ago, rank ${rank}: identity ${points}`, () => {
      const createdTs = createdDays === null ? null : NOW - createdDays * DAY;
      assert.equal(dimensions([], { createdTs, rank }).identity, points);
    });
  }

  test('a score of −10 is listed, a score of −9.9 is not', () => {
    assert.equal(isListed(inputOf([]), -10), true);
    assert.equal(isListed(inputOf([]), -9.9), false);
  });

  for (const [human, score, expected] of [
    [0, -14, false],
    [-9, -23, false],
    [-10, -10, true],
    [-10, 0, false],
  ] as const) {
    test(`an abused domain with human ${human} and a score of ${score}: listed ${expected}`, () => {
      assert.equal(isListed({ isAbused: true, human }, score), expected);
    });
  }

  test('a host name is listed for its own evidence', () => {
    assert.equal(isHostnameListed([piece('url', 14)], NOW), true);
    assert.equal(isHostnameListed([piece('url', 21)], NOW), false);
    assert.equal(isHostnameListed([], NOW), false);
  });
});

describe('the end of a listing', () => {
  for (const [name, input] of [
    ['one URL', inputOf([piece('url')])],
    ['a young domain, whose age stays as it is', inputOf([piece('url', 14)], { createdTs: NOW - 29 * DAY })],
    ['a popular domain', inputOf([piece('url'), piece('phishing')], { rank: 500 })],
  ] as const) {
    test(`${name}: the first second with a score above −10`, () => {
      const until = listedUntil(input, NOW);
      const frozen = dimensionsOf(input, NOW).identity;
      const scoreAt = (ts: number) => scoreOf({ ...dimensionsOf(input, ts), identity: frozen });
      assert.ok(until < NOW + 30 * DAY);
      assert.ok(scoreAt(until - 1) <= -10 && scoreAt(until) > -10);
    });
  }

  test('is at most 30 days ahead', () => {
    assert.equal(listedUntil(inputOf([], { human: -20 }), NOW), NOW + 30 * DAY);
  });
});

const anyPiece: fc.Arbitrary<Piece> = fc
  .record({
    source: fc.constantFrom('a', 'b', 'c'),
    kind: fc.constantFrom(...(Object.keys(EVIDENCE) as EvidenceKind[])),
    subject: fc.constantFrom('x.example', 'y.example'),
    ts: fc.integer({ min: NOW - 400 * DAY, max: NOW + DAY }),
    confidence: fc.integer({ min: 1, max: 100 }),
  })
  .map((one) => ({ ...one, trust: one.source === 'a' ? 0.9 : 0.4, newestTs: one.ts }));
const anyPieces = fc.array(anyPiece, { maxLength: 150 });

describe('for any evidence', () => {
  const evidenceOnly = (all: Dimensions) => EVIDENCE_DIMENSIONS.map((name) => all[name]);

  test('more of it never raises a dimension', () => {
    fc.assert(
      fc.property(anyPieces, anyPiece, fc.boolean(), (pieces, more, isAbused) => {
        const before = evidenceOnly(dimensions(pieces, { isAbused }));
        const after = evidenceOnly(dimensions([...pieces, more], { isAbused }));
        assert.ok(after.every((points, i) => points <= (before[i] ?? 0)));
      }),
    );
  });

  test('time never lowers a dimension', () => {
    fc.assert(
      fc.property(anyPieces, fc.integer({ min: 1, max: 400 * DAY }), (pieces, later) => {
        const before = evidenceOnly(dimensionsOf(inputOf(pieces), NOW));
        const after = evidenceOnly(dimensionsOf(inputOf(pieces), NOW + later));
        assert.ok(after.every((points, i) => points >= (before[i] ?? 0)));
      }),
    );
  });

  test('its order does not matter', () => {
    fc.assert(
      fc.property(anyPieces, (pieces) => {
        assert.deepEqual(dimensions(pieces.toReversed()), dimensions(pieces));
      }),
    );
  });

  test('one source never exceeds its trust', () => {
    fc.assert(
      fc.property(anyPieces, fc.constantFrom(0, 0.3, 0.9), (pieces, trust) => {
        const { infra, malware, smtp } = dimensions(pieces.map((one) => ({ ...one, source: 'a', trust })));
        assert.ok(malware >= -40 * trust && infra >= -15 * trust && smtp >= -15 * trust);
      }),
    );
  });
});
