import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import Value from 'typebox/value';
import { ObservationLine } from '../../src/contract/observation.ts';
import { parsePaper } from '../../src/core/observation-paper.ts';
import { accepted, GOOD, NOW, refused } from '../vectors/observation-paper.ts';

for (const { why, line } of accepted) {
  test(`the schema accepts: ${why}`, () => assert.ok(Value.Check(ObservationLine, line)));
}

for (const { why, line, reason } of refused) {
  const value = typeof line === 'string' ? parsed(line) : { ...GOOD, ...line };
  const isOfTheClock = reason.includes('more than');
  test(`the schema ${isOfTheClock ? 'cannot refuse' : 'refuses'}: ${why}`, () => {
    assert.equal(Value.Check(ObservationLine, value), isOfTheClock);
  });
}

const END_OF_TIME = Number.MAX_SAFE_INTEGER;

const anything = fc.oneof(
  fc.constantFrom(null, '', 'x', 'a\u0000', 'removed', 'offline', '192.0.2.1', [], ['::1'], ['::1', '::2'], {}),
  fc.constantFrom(0, 1, -1, 1.5, 2 ** 32, NOW, 'ab'.repeat(32), 'x'.repeat(1_025), true),
);
const keyed = (keys: string[]) =>
  fc.dictionary(fc.constantFrom(...keys), anything, { maxKeys: 4, noNullPrototype: true });
const payload = keyed(['ts', 'mime_type', 'file_size', 'file_name', 'sha256_hash', 'malware-family', 'sha256']);
const line = fc
  .tuple(keyed(['status', 'removal', 'reporter', 'ip', 'asn', 'unknown', 'url']), fc.option(payload))
  .map(([rest, told]) => ({ ...GOOD, ...rest, ...(told && { payload: told }) }));

test('schema and code accept the same lines', () => {
  let accepted = 0;
  fc.assert(
    fc.property(line, (value) => {
      const { ok } = parsePaper(value, END_OF_TIME);
      assert.equal(Value.Check(ObservationLine, value), ok);
      accepted += Number(ok);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(accepted > 500, `only ${accepted} were accepted: the cases are one-sided`);
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
