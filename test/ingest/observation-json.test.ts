import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ObservationInput } from '../../src/core/observation.ts';
import { parseObservation, printObservation } from '../../src/ingest/observation-json.ts';
import { accepted, GOOD, NOW, refused } from '../vectors/observation-json.ts';

for (const { why, line, input } of accepted) {
  test(`accepted: ${why}`, () => {
    assert.deepEqual(parseObservation(JSON.stringify(line), NOW), input);
    assert.deepEqual(parseObservation(line, NOW), input);
    assert.equal(printObservation(input), JSON.stringify(line));
  });
}

for (const { why, line, reason } of refused) {
  test(`refused: ${why}`, () => {
    const result = parseObservation(typeof line === 'string' ? line : JSON.stringify({ ...GOOD, ...line }), NOW);
    assert.ok(typeof result === 'string', 'it was accepted');
    assert.ok(result.startsWith(reason), result);
  });
}

test('a printed observation is parsed to the same value', () => {
  fc.assert(
    fc.property(observation, (input) => {
      const line = printObservation(input);
      assert.deepEqual(parseObservation(line, NOW), input);
      assert.doesNotMatch(line, /\n/);
    }),
  );
});

test('the order of keys is fixed', () => {
  const line = printObservation({
    payload: { family: 'Mirai', ts: 2 },
    reporter: 'nick',
    url: 'http://a.example/',
    ts: 1,
  });
  assert.equal(
    line,
    '{"ts":1,"url":"http://a.example/","reporter":"nick","payload":{"ts":2,"malware-family":"Mirai"}}',
  );
});

const text = fc.string({ unit: 'grapheme', maxLength: 9 }).filter((one) => !/[\p{Cc}\p{Cs}]/u.test(one));
const ts = fc.integer({ min: 0, max: NOW });
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values);
const observation: fc.Arbitrary<ObservationInput> = fc.record(
  {
    ts,
    url: fc.webUrl(),
    status: fc.constantFrom('removed' as const),
    removal: text,
    reporter: text,
    ip: fc.oneof(fc.ipV4(), fc.tuple(fc.ipV6())),
    payload: fc.record(
      {
        ts,
        mimeType: orNull(text),
        fileType: orNull(text),
        fileExt: orNull(text),
        fileSize: orNull(fc.maxSafeNat()),
        fileName: orNull(text),
        sha256: orNull(fc.stringMatching(/^[0-9a-f]{64}$/)),
        family: orNull(text),
      },
      { requiredKeys: ['family'], noNullPrototype: true },
    ),
  },
  { requiredKeys: ['ts', 'url', 'status'], noNullPrototype: true },
);
