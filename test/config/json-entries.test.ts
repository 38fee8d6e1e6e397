import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJsonEntries } from '../../src/config/json-entries.ts';

test('JSON: keys, values and their lines; a key that is set twice is kept for the caller', () => {
  assert.deepEqual(
    parseJsonEntries('{\n  "a": "x\\n\\u00e4",\n  "b": [ "y",\n "z" ], "c": 1e2,\r\n  "a": false\n}\n'),
    {
      entries: [
        { key: 'a', value: 'x\nä', line: 2 },
        { key: 'b', value: ['y', 'z'], line: 3 },
        { key: 'c', value: 100, line: 4 },
        { key: 'a', value: false, line: 5 },
      ],
      faults: [],
    },
  );
  assert.deepEqual(parseJsonEntries(' { } '), { entries: [], faults: [] });
});

for (const [text, line, message] of [
  ['', 1, /one JSON object/],
  ['[]', 1, /one JSON object/],
  ['{\n"a" 1}', 2, /"KEY": VALUE/],
  ["{'a': 1}", 1, /"KEY": VALUE/],
  ['{"a": 1,}', 1, /"KEY": VALUE/],
  ['{"a": 1\n"b": 2}', 2, /a comma .* is missing/],
  ['{"a": 1', 1, /the closing } is missing/],
  ['{"a": 1}\nx', 2, /nothing may follow/],
  ['{"a":\nnull}', 2, /the value of "a" must be/],
  ['{"a": {"b": 1}}', 1, /the value of "a" must be/],
  ['{"a": "secret}', 1, /the value of "a" must be/],
  ['{"a": 01}', 1, /the value of "a" must be/],
  ['{"a": [1]}', 1, /the array of "a" must contain texts/],
  ['{"a": ["x"}', 1, /the array of "a" must end with \]/],
] as const) {
  test(`JSON: ${JSON.stringify(text)} is refused`, () => {
    const { faults } = parseJsonEntries(text);
    assert.deepEqual([faults.length, faults[0]?.line], [1, line]);
    assert.match(faults[0]?.message ?? '', message);
    assert.doesNotMatch(faults[0]?.message ?? '', /secret/);
  });
}

const value = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.array(fc.string()),
);

test('JSON: objects are read as JSON.parse reads them', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), fc.constantFrom(0, 2), (object, indent) => {
      const text = JSON.stringify(object, null, indent);
      const { entries, faults } = parseJsonEntries(text);
      assert.deepEqual(faults, []);
      assert.deepEqual(
        entries.map((entry) => [entry.key, entry.value]),
        Object.entries(JSON.parse(text)),
      );
    }),
  );
});

test('JSON: what JSON.parse refuses is refused, and no text throws', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    'a',
    ':',
    ',',
    '1',
    'true',
    '\\',
    '\n',
    ' ',
    '{"a":1',
    '"b":[]',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const text = parts.join('');
      if (parseJsonEntries(text).faults.length === 0) JSON.parse(text);
    }),
    { numRuns: 2_000 },
  );
});
