import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FileValue } from '../../src/config/text-scanner.ts';
import { parseToml } from '../../src/config/toml.ts';
import { cpuTimeMs } from '../cpu-time.ts';

for (const { why, text, entries } of [
  { why: 'an empty file', text: '', entries: [] },
  { why: 'comments and empty lines', text: '# a\n\n  # b\r\n\t\n', entries: [] },
  { why: 'no line break at the end', text: 'port = 1', entries: [['port', 1, 1]] },
  {
    why: 'one value of each type',
    text: 'a = "x"\r\nb=\'C:\\x\'\nc-d_1 = 9_000 # note\n\te = true\nf = false\ng = -0.5\nh = []\n',
    entries: [
      ['a', 'x', 1],
      ['b', 'C:\\x', 2],
      ['c-d_1', 9000, 3],
      ['e', true, 4],
      ['f', false, 5],
      ['g', -0.5, 6],
      ['h', [], 7],
    ],
  },
  {
    why: 'an array over several lines, with comments and a last comma',
    text: 'a = [ # one\n  "x", \'y\',\n\n  # two\n  "z#",\n] # end\nb = 1\n',
    entries: [
      ['a', ['x', 'y', 'z#'], 1],
      ['b', 1, 7],
    ],
  },
  { why: 'escapes', text: String.raw`a = "\"\\\t\n\b\f\rä\U0001F600"`, entries: [['a', '"\\\t\n\b\f\rä😀', 1]] },
  {
    why: 'escapes of characters next to numbers of none',
    text: String.raw`a = "\uD7FF\uE000\U0010FFFF"`,
    entries: [['a', '\ud7ff\ue000\u{10ffff}', 1]],
  },
  { why: 'a # in a text', text: "a = '# no comment'", entries: [['a', '# no comment', 1]] },
  { why: 'the same key twice, which the caller refuses', text: 'a = 1\na = 2', entries: [['a', 1, 1], ['a', 2, 2]] }, // biome-ignore format: short
] as { why: string; text: string; entries: [string, FileValue, number][] }[]) {
  test(`TOML: ${why}`, () => {
    const expected = entries.map(([key, value, line]) => ({ key, value, line }));
    assert.deepEqual(parseToml(text), { entries: expected, faults: [] });
  });
}

for (const [text, message] of [
  ['[server]', /^tables such as \[name\]/],
  ['[[server]]', /^tables/],
  ['port', /^a line must be KEY = VALUE/],
  ['= 1', /^a line must be KEY = VALUE/],
  ['"port" = 1', /^a line must be KEY = VALUE/],
  ['a.b = 1', /^a line must be KEY = VALUE/],
  ['a =', /^the value of a must be a text in quotes/],
  ['a = yes', /^the value of a must be/],
  ['a = True', /^the value of a must be/],
  ['a = trueish', /^the value of a must be/],
  ['a = 010', /^the value of a must be/],
  ['a = 1__0', /^the value of a must be/],
  ['a = 1.', /^the value of a must be/],
  ['a = 0x10', /^the value of a must be/],
  ['a = 1e3', /^the value of a must be/],
  ['a = 2026-01-31', /^the value of a must be/],
  ['a = { b = 1 }', /^the value of a must be/],
  ['a = "x', /^the value of a must be/],
  ['a = "\u0007"', /^the value of a must be/],
  ['a = "\\x"', /^the value of a must be/],
  ['a = "\\uD800"', /^D800 is not the number of a character/],
  ['a = "\\uDFFF"', /^DFFF is not/],
  ['a = "\\U00110000"', /^00110000 is not/],
  ['a = """x"""', /^the value of a must end with the line/],
  ['a = 1 2', /^the value of a must end with the line/],
  ['a = 1, b = 2', /^the value of a must end with the line/],
  ['a = # nothing', /^the value of a must be/],
  ['a = 1 # \u0000', /^the value of a must end with the line/],
  ['a = [1]', /^the array of a must contain texts/],
  ['a = ["x" "y"]', /^the texts in the array of a must be separated by commas/],
  ['a = [["x"]]', /^the array of a must contain texts/],
  ['a = [,]', /^the array of a must contain texts/],
  ['a = ["x"', /^the texts in the array of a must be .* end with \]/],
  ['a = [', /^the array of a must .* end with \]/],
] as const) {
  test(`TOML: ${JSON.stringify(text)} is refused`, () => {
    const { entries, faults } = parseToml(`first = 1\n${text}\nlast = 2\n`);
    assert.deepEqual(
      entries.map(({ key, line }) => [key, line]),
      [
        ['first', 1],
        ['last', 3],
      ],
    );
    assert.equal(faults.length, 1);
    assert.ok(faults[0]?.line === 2 || faults[0]?.line === 3); // an open array ends where `last` begins
    assert.match(faults[0]?.message ?? '', message);
  });
}

test('TOML: every fault has its line', () => {
  const { faults } = parseToml('a = yes\n\nb = [\n  "x",\n  3,\n  "y",\n]\n[t]\nc = 1\nd = "\n');
  assert.deepEqual(
    faults.map(({ line }) => line),
    [1, 5, 10],
  );
});

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.string());
const value = fc.oneof(fc.integer(), fc.boolean(), text, fc.array(text));

test('TOML: what is printed is read again', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.stringMatching(/^[A-Za-z0-9_-]+$/), value)), (pairs) => {
      const printed = pairs.map(([key, of], i) => `${key} = ${print(of, i)}${i % 2 ? '' : ' # note'}\n`).join('');
      const { entries, faults } = parseToml(printed);
      assert.deepEqual(faults, []);
      assert.deepEqual(
        entries.map((entry) => [entry.key, entry.value]),
        pairs,
      );
    }),
  );
});

test('TOML: any text gives entries or faults, and neither an error nor a long wait', () => {
  const pieces = fc.constantFrom(
    'a',
    ' ',
    '=',
    '[',
    ']',
    '"',
    "'",
    '\\',
    '#',
    ',',
    '\n',
    '\r',
    '1',
    '_',
    '.',
    '\\u00e4',
  );
  const garbage = fc.oneof(
    text,
    fc.array(pieces, { maxLength: 200 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(garbage, (source) => {
      const { entries, faults } = parseToml(source);
      assert.ok(entries.length + faults.length > 0 || /^[\s#]*(?:#.*\s*)*$/.test(source.trim()), source);
    }),
    { numRuns: 2_000 },
  );
  for (const piece of ['a = [\n', '#', '# ', 'a=1\n', '"\\', '[', 'a = "', 'a=["",', '=\n']) {
    const startMs = cpuTimeMs();
    parseToml(piece.repeat(2 ** 20 / piece.length));
    assert.ok(cpuTimeMs() - startMs < 5_000, piece);
  }
});

function print(of: FileValue, i: number): string {
  if (Array.isArray(of)) return `[${of.map((one) => `\n${print(one, i)}`).join(' , # note')}${i % 3 ? '\n' : ''}]`;
  if (typeof of !== 'string') return `${of}`;
  const isLiteral = /^[\x20-\x26\x28-\x7e]*$/.test(of) && i % 2 === 0;
  return isLiteral ? `'${of}'` : `"${of.replaceAll(/["\\\p{C}]/gu, (c) => `\\U${hex(c)}`)}"`;
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(8, '0');
}
