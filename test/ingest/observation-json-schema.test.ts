import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type TSchema, Type } from 'typebox';
import Value from 'typebox/value';
import { ASN_MAX } from '../../src/core/ip/network.ts';
import { MAX_TAGS, TAG_MAX_LENGTH } from '../../src/core/observation.ts';
import { TEXT_MAX_LENGTH, TEXT_PATTERN } from '../../src/core/text.ts';
import { MAX_INTEGER, Timestamp } from '../../src/http/scalars.ts';
import { parseObservation, SHA256_PATTERN } from '../../src/ingest/observation-json.ts';
import { accepted, GOOD, NOW, refused } from '../vectors/observation-json.ts';

const Text = Type.String({ maxLength: TEXT_MAX_LENGTH, pattern: TEXT_PATTERN });
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

const ObservedPayloadJson = Type.Object(
  {
    ts: Type.Optional(Timestamp),
    mime_type: nullable(Text),
    file_type: nullable(Text),
    file_ext: nullable(Text),
    file_size: nullable(Type.Integer({ minimum: 0, maximum: MAX_INTEGER })),
    file_name: nullable(Text),
    sha256_hash: nullable(Type.String({ pattern: SHA256_PATTERN })),
    'malware-family': nullable(Text),
  },
  { additionalProperties: false, minProperties: 1, description: 'Its ts defaults to that of the observation.' },
);

/** An independent schema of a line of `ndjson`, without the checks that depend on the clock. */
const ObservationLine = Type.Object(
  {
    ts: Timestamp,
    url: Type.String({ description: 'Normalized on the way in.' }),
    status: Type.Optional(
      Type.Union([Type.Enum(['online', 'offline', 'removed']), Type.Null()], { default: 'online' }),
    ),
    removal: Type.Optional(Text),
    reporter: Type.Optional(Text),
    ip: Type.Optional(Type.Union([Text, Type.Array(Text)])),
    asn: Type.Optional(Type.Integer({ minimum: 0, maximum: ASN_MAX, description: 'Network of ip.' })),
    tags: Type.Optional(
      Type.Array(Type.String({ maxLength: TAG_MAX_LENGTH, pattern: TEXT_PATTERN }), { maxItems: MAX_TAGS }),
    ),
    payload: Type.Optional(ObservedPayloadJson),
  },
  {
    additionalProperties: false,
    allOf: [
      {
        anyOf: [
          { properties: { status: { const: 'removed' } }, required: ['status'] },
          { properties: { removal: { const: '' } } },
        ],
      },
      {
        anyOf: [{ not: { required: ['asn'] } }, { properties: { ip: { minItems: 1, maxItems: 1 } }, required: ['ip'] }],
      },
    ],
  },
);

for (const { why, line } of accepted) {
  test(`the schema accepts: ${why}`, () => assert.ok(Value.Check(ObservationLine, line)));
}

for (const { why, line, reason } of refused) {
  const value = typeof line === 'string' ? parsed(line) : { ...GOOD, ...line };
  const dependsOnClock = reason.includes('more than');
  test(`the schema ${dependsOnClock ? 'cannot refuse' : 'refuses'}: ${why}`, () => {
    assert.equal(Value.Check(ObservationLine, value), dependsOnClock);
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
  .map(([rest, given]) => ({ ...GOOD, ...rest, ...(given && { payload: given }) }));

test('schema and code accept the same lines', () => {
  let accepted = 0;
  fc.assert(
    fc.property(line, (value) => {
      const isAccepted = typeof parseObservation(value, END_OF_TIME) !== 'string';
      assert.equal(Value.Check(ObservationLine, value), isAccepted);
      accepted += Number(isAccepted);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(accepted > 500, `only ${accepted} were accepted: the generated cases are unbalanced`);
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
