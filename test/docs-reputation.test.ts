import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { KNOWN_FEEDS } from '../src/ingest/feeds/known-feeds.ts';
import { mergeEpisodes } from '../src/reputation/episode-rules.ts';
import { RecordsResponse } from '../src/reputation/schemas.ts';
import {
  type Dimensions,
  dimensionsOf,
  EVIDENCE,
  type EvidenceKind,
  listedUntil,
  type ScoreInput,
  scoreOf,
} from '../src/reputation/score.ts';

const PAGE = readFileSync(new URL('../docs/reputation.md', import.meta.url), 'utf8');
const NOW = 1_767_225_600;
const DAY = 86_400;

/** The text below a heading, up to the next one. */
function section(heading: string): string {
  const text = PAGE.split(/^#{2,3} /m).find((part) => part.startsWith(`${heading}\n`));
  return text ?? assert.fail(`there is no heading ${heading}`);
}

/** The cells of all rows of the tables in a section, without headings. */
function rowsOf(heading: string): string[][] {
  const lines = section(heading).split('\n');
  const rows = lines.filter((line, i) => line.startsWith('| ') && !lines[i + 1]?.startsWith('|---'));
  return rows.map((line) => line.slice(2, -2).split(' | '));
}

type Given = { kind: EvidenceKind; days?: number; trust?: number; confidence?: number; source?: string };

function inputOf(given: readonly Given[], rest: Partial<ScoreInput> = {}): ScoreInput {
  const pieces = given.map(({ kind, days = 0, trust = 0.9, confidence = 100, source = kind }, i) => {
    const ts = NOW - days * DAY;
    return { source, trust, kind, subject: `${i}.example`, ts, newestTs: ts, confidence };
  });
  return { pieces, isAbused: false, createdTs: null, rank: null, human: 0, ...rest };
}

const pointsText = (points: number) => points.toFixed(1).replace('-', '−');

const url = (days = 0): Given => ({ kind: 'url', days });
const controller = (days = 0): Given => ({ kind: 'botnetcc', days });
const TWO_SOURCES: Given[] = [url(), { kind: 'malware', trust: 0.6, confidence: 75 }];

/** What the rows of the table say, in their order. */
const EXAMPLES: Record<string, ScoreInput> = {
  'one URL, seen online just now': inputOf([url()]),
  'one URL, 7 days ago': inputOf([url(7)]),
  'one URL, 14 days ago': inputOf([url(14)]),
  'one URL, 21 days ago': inputOf([url(21)]),
  'two URLs, just now': inputOf([url(), url()]),
  '64 or more URLs, just now': inputOf(Array.from({ length: 65 }, () => url())),
  'a controller, just now': inputOf([controller()]),
  'a controller, 14 days ago': inputOf([controller(14)]),
  'a controller, just now, trust 0.5': inputOf([{ kind: 'botnetcc', trust: 0.5 }]),
  'one URL, and a malware name with confidence 75 and trust 0.6, just now': inputOf(TWO_SOURCES),
  'the same on an abused site': inputOf(TWO_SOURCES, { isAbused: true }),
  'phishing, just now': inputOf([{ kind: 'phishing' }]),
  'phishing, 3 days ago': inputOf([{ kind: 'phishing', days: 3 }]),
  'an address with a BCL listing seen just now': inputOf([{ kind: 'infra-listing' }]),
  'a sender with a CSS listing seen just now': inputOf([{ kind: 'sender-listing' }]),
  'a sender with a CSS listing seen 2 days ago': inputOf([{ kind: 'sender-listing', days: 2 }]),
};

test('the points of the worked examples in docs/reputation.md are those of the score', () => {
  const computed = Object.entries(EXAMPLES).map(([text, input], i) => {
    const dimension = rowsOf('Worked examples')[i]?.[1] ?? '';
    const points = dimensionsOf(input, NOW)[dimension.replaceAll('`', '') as keyof Dimensions];
    return [text, dimension, pointsText(points)];
  });
  assert.deepEqual(rowsOf('Worked examples'), computed);
});

test('the points of the dimension identity are right', () => {
  const created = { createdTs: NOW - 12 * DAY };
  const examples = {
    'rank 1': { rank: 1 },
    'rank 100': { rank: 100 },
    'rank 1,200': { rank: 1_200 },
    'rank 10,000': { rank: 10_000 },
    'rank 100,000': { rank: 100_000 },
    'registered 12 days ago, no rank': created,
    'registered 12 days ago, rank 10,000': { ...created, rank: 10_000 },
  };
  const computed = Object.entries(examples).map(([text, given]) => {
    const { identity } = dimensionsOf(inputOf([], given), NOW);
    return [text, `${identity > 0 ? '+' : ''}${pointsText(identity)}`];
  });
  assert.deepEqual(rowsOf('Identity'), computed);
});

test('the table of evidence has the weights and half-lives of the score', () => {
  const computed = Object.values(EVIDENCE).map(({ weight, halfLifeSeconds, dimension }) => {
    return [`${weight}`, `${halfLifeSeconds / DAY} days`, `\`${dimension}\``];
  });
  const stated = rowsOf('One piece of evidence').map(([, weight = '', ...rest]) => [weight.split(' ')[0], ...rest]);
  assert.deepEqual(stated, computed);
});

/** `−40 × 0.4531` with the operators of the page: × − ^ e ln. */
function resultOf(expression: string): number {
  const script = expression
    .replaceAll('×', '*')
    .replaceAll('−', '-')
    .replaceAll('^', '**')
    .replaceAll('ln(', 'Math.log(')
    .replaceAll(/\be\b/g, 'Math.E');
  return runInNewContext(script);
}

/** A name, an expression and its result; the name or the expression may be missing. */
const EQUATION = /^ {4}(?:[a-zA-Z][a-zA-Z ]* = )?(.*\d.*) = (−?[\d.]+)$/gm;

test('every line of the calculations in docs/reputation.md is right to its last digit', () => {
  const equations = ['Worked examples', 'A whole domain', '`explain`'].flatMap((heading) => [
    ...section(heading).matchAll(EQUATION),
  ]);
  assert.equal(equations.length, 17);
  for (const [line, expression = '', result = ''] of equations) {
    const digits = result.split('.')[1]?.length ?? 0;
    const difference = Math.abs(resultOf(expression) - resultOf(result));
    assert.ok(difference <= 0.5 * 10 ** -digits + 1e-9, `${line}: it is ${resultOf(expression)}`);
  }
});

test('the calculations end in the points of the score', () => {
  const results = [...section('Worked examples').matchAll(/^ {4}malware = .* = (−[\d.]+)$/gm)].map(([, one]) => one);
  const inputs = [
    inputOf([url()]),
    inputOf([url(7)]),
    inputOf([controller(14)]),
    inputOf(TWO_SOURCES),
    inputOf(TWO_SOURCES, { isAbused: true }),
  ];
  assert.deepEqual(
    results,
    inputs.map((input) => pointsText(dimensionsOf(input, NOW).malware)),
  );
});

test('the whole domain has the dimensions and the score of the calculation', () => {
  const pieces: Given[] = [
    { kind: 'botnetcc', source: 'controllers' },
    { kind: 'infra-listing', source: 'controllers' },
    { kind: 'sender-listing', source: 'spam' },
  ];
  const dimensions = dimensionsOf(inputOf(pieces, { createdTs: NOW - 12 * DAY }), NOW);
  const { identity, infra, malware, smtp } = dimensions;
  const terms = [identity, infra, malware, smtp].map((points) => `− ${(-points).toFixed(1)}`).join(' ');
  const line = `    0 ${terms} = ${pointsText(scoreOf(dimensions))}\n`;
  assert.ok(section('A whole domain').includes(line), line);
});

test('the times of listed-until are right', () => {
  const daysOf = (given: Given) => (listedUntil(inputOf([given]), NOW) - NOW) / DAY;
  assert.ok(section('`listing` and `listed-until`').includes(`that is ${daysOf(url()).toFixed(1)} days from now`));
  assert.equal(daysOf(controller()), 30);
});

test('the keys of a record are those of the answer', () => {
  const documented = rowsOf('The keys of a record').flatMap(([keys = '']) => keys.replaceAll('`', '').split(', '));
  const { properties } = JSON.parse(JSON.stringify(RecordsResponse)).properties.results.items;
  assert.deepEqual(documented.sort(), Object.keys(properties).sort());
});

test('the timeline of a listing is right', () => {
  const seenOn = (days: number[]) => days.map((day) => ({ listedTs: day * DAY, seenTs: day * DAY, details: '' }));
  const episodes = (days: number[]) =>
    mergeEpisodes([], seenOn(days), 7 * DAY).map(({ listedTs, seenTs }) => [listedTs / DAY, seenTs / DAY]);
  const stated = [...PAGE.matchAll(/listed: day (\d+) +seen: day (\d+) +valid_until: day (\d+)/g)];
  assert.deepEqual(
    stated.map(([, listed, seen, until]) => [Number(listed), Number(seen), Number(until)]),
    episodes([1, 3, 9, 20]).map(([listed = 0, seen = 0]) => [listed, seen, seen + 7]),
  );
  assert.deepEqual(episodes([1, 3, 9, 20, 14]), [[1, 20]]);
  assert.match(PAGE, /evidence of day 14 .* both listings become one, from day 1 to day 20/);
});

test('the table of well-known feeds has every feed, with its trust, interval and terms', () => {
  const stated = rowsOf('Well-known feeds').flatMap(([names = '', , , , trust, intervals = '', terms]) => {
    const hours = intervals.split(', ');
    return names.split(', ').map((name, i) => [name, trust, hours[i], terms]);
  });
  const spanText = (seconds: number) => (seconds < 3_600 ? `${seconds / 60} min` : `${seconds / 3_600} h`);
  const known = KNOWN_FEEDS.map(({ name, trustPermille = 900, intervalSeconds, terms }) => {
    return [`\`${name}\``, `${trustPermille / 1000}`, spanText(intervalSeconds), terms];
  });
  assert.deepEqual(stated, known);
});
