import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Schema, Type } from '../../src/http/schema.ts';
import { createCheck } from '../../src/http/schema-check.ts';
import { ROUTES } from './build.ts';

const requireOfFastify = createRequire(import.meta.resolve('fastify'));

/** Ajv, which Fastify would use, without the conversions that Fastify sets. */
const compileWithAjv = requireOfFastify('@fastify/ajv-compiler')()(
  {},
  { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allowUnionTypes: true } },
);

const BODIES: [path: string, schema: Schema][] = ROUTES.flatMap(({ endpoint: { path, body } }) =>
  typeof body === 'object' ? [[path, body]] : [],
);

const ANY = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -0, 1, -1, 1.5, 1e21, Number.POSITIVE_INFINITY, '', 'a', '1', [], {}),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Values that match a schema, values next to its bounds, and any others. */
function valuesNear(schema: Schema): fc.Arbitrary<unknown> {
  const { minimum, maximum, minLength, maxLength, maxItems, maxProperties } = schema as Record<string, number>;
  const choices: fc.Arbitrary<unknown>[] = [fc.constantFrom(...examplesOf(schema))];
  for (const bound of [minimum, maximum]) {
    if (bound !== undefined) choices.push(fc.constantFrom(bound - 1, bound, bound + 1, bound + 0.5));
  }
  for (const length of [minLength, maxLength]) {
    // An astral character has a length of two in JavaScript, and of one in JSON Schema.
    if (length !== undefined) choices.push(fc.constantFrom(...lengthsNear(length).map((n) => '\u{1f512}'.repeat(n))));
  }
  if (schema.items !== undefined) {
    const item = valuesNear(schema.items as Schema);
    choices.push(fc.array(item, { maxLength: 3 }));
    const example = fc.constantFrom(...examplesOf(schema.items as Schema));
    if (maxItems !== undefined) {
      choices.push(...lengthsNear(maxItems).map((n) => fc.array(example, { minLength: n, maxLength: n })));
    }
  }
  if (schema.properties !== undefined) choices.push(objectsNear(schema.properties as Record<string, Schema>));
  if (typeof schema.additionalProperties === 'object') {
    const value = valuesNear(schema.additionalProperties as Schema);
    const limits = maxProperties === undefined ? [3] : lengthsNear(maxProperties);
    choices.push(...limits.map((n) => fc.dictionary(fc.string({ maxLength: 4 }), value, { minKeys: n, maxKeys: n })));
  }
  return fc.oneof({ weight: 6, arbitrary: fc.oneof(...choices) }, { weight: 1, arbitrary: ANY });
}

const lengthsNear = (length: number) => [length - 1, length, length + 1].filter((n) => n >= 0);

function objectsNear(properties: Record<string, Schema>): fc.Arbitrary<unknown> {
  const entries = Object.entries(properties);
  const some = fc.record(Object.fromEntries(entries.map(([name, schema]) => [name, valuesNear(schema)])), {
    requiredKeys: [],
  });
  const one = fc.oneof(fc.constant({}), ...entries.map(([name, schema]) => fc.record({ [name]: valuesNear(schema) })));
  const valid = fc.constant(Object.fromEntries(entries.map(([name, schema]) => [name, examplesOf(schema)[0]])));
  const other = fc.constantFrom('other', '__proto__', 'constructor').map((name) => JSON.parse(`{"${name}":1}`));
  const known = fc.oneof(one, some, valid);
  return fc.oneof(
    known,
    fc.tuple(known, other).map(([object, added]) => ({ ...object, ...added })),
  );
}

function examplesOf({ type, enum: values, const: only, pattern, minimum = 1 }: Schema): unknown[] {
  if (values !== undefined) return values as unknown[];
  if (only !== undefined) return [only];
  if (pattern !== undefined) return ['0'.repeat(64), '0'.repeat(65)];
  const examples: Record<string, unknown> = {
    string: 'a',
    integer: minimum,
    number: minimum,
    boolean: true,
    null: null,
  };
  return [type].flat().map((name) => examples[name as string] ?? (name === 'array' ? [] : {}));
}

describe('the check of a body', () => {
  test('accepts and refuses what Ajv does, for every schema of a body', () => {
    assert.ok(BODIES.length > 30, `${BODIES.length}`);
    for (const [path, schema] of BODIES) {
      const check = createCheck(schema);
      const validate = compileWithAjv({ schema });
      const outcomes = new Set<boolean>();
      fc.assert(
        fc.property(valuesNear(schema), (value) => {
          const isValid = validate(value);
          outcomes.add(isValid);
          assert.equal(check(value, '') === null, isValid, `${path}: ${check(value, '')}`);
        }),
        { numRuns: 300 },
      );
      assert.equal(outcomes.size, 2, `${path} had only ${[...outcomes]}`);
    }
  });

  const Body = Type.Object(
    {
      url: Type.String({ maxLength: 3 }),
      kind: Type.Optional(Type.Enum(['ip', 'host'])),
      count: Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, maximum: 9 })),
      share: Type.Optional(Type.Number()),
      isOn: Type.Optional(Type.Boolean()),
      only: Type.Optional(Type.Literal(true)),
      reason: Type.Optional(Type.String({ minLength: 2 })),
      device: Type.Optional(Type.String({ minLength: 1 })),
      id: Type.Optional(Type.String({ pattern: '^[0-9]+$' })),
      names: Type.Optional(Type.Array(Type.String(), { maxItems: 2, uniqueItems: true })),
      headers: Type.Optional(Type.Record(Type.String(), { maxProperties: 1 })),
    },
    { additionalProperties: false },
  );
  const One = Type.Object(
    { ip: Type.Optional(Type.String()), host: Type.Optional(Type.String()) },
    { minProperties: 1, maxProperties: 1, additionalProperties: false },
  );
  const url = 'abc';
  const SENTENCES: [schema: Schema, body: unknown, sentence: string | null][] = [
    [Body, { url }, null],
    [Body, [], 'The body must be a JSON object'],
    [Body, null, 'The body must be a JSON object'],
    [Body, {}, '"url" is missing'],
    [Body, { url, 'a"b': 1 }, 'Unknown key "a\\"b"'],
    [Body, JSON.parse('{"url":"a","__proto__":1}'), 'Unknown key "__proto__"'],
    [Body, { url: 1 }, '"url" must be a string'],
    [Body, { url: 'abcd' }, '"url" must have at most 3 characters'],
    [Body, { url, kind: 'asn' }, '"kind" must be one of ip, host'],
    [Body, { url, count: '1' }, '"count" must be an integer or null'],
    [Body, { url, count: 1.5 }, '"count" must be an integer or null'],
    [Body, { url, count: 0 }, '"count" must be at least 1'],
    [Body, { url, count: 10 }, '"count" must be at most 9'],
    [Body, { url, share: JSON.parse('1e999') }, '"share" must be a number'],
    [Body, { url, isOn: 1 }, '"isOn" must be true or false'],
    [Body, { url, only: false }, '"only" must be true'],
    [Body, { url, reason: '\u{1f512}' }, '"reason" must have at least 2 characters'],
    [Body, { url, device: '' }, '"device" must not be empty'],
    [Body, { url, id: 'x' }, '"id" must match ^[0-9]+$'],
    [Body, { url, names: {} }, '"names" must be an array'],
    [Body, { url, names: ['a', 1] }, '"names/1" must be a string'],
    [Body, { url, names: ['a', 'b', 'c'] }, '"names" must have at most 2 items'],
    [Body, { url, names: ['a', 'a'] }, '"names" must not have an item twice'],
    [Body, { url, headers: { a: 1 } }, '"headers/a" must be a string'],
    [Body, { url, headers: { a: '', b: '' } }, '"headers" must have at most 1 keys'],
    [One, { ip: '' }, null],
    [One, {}, 'Send exactly one of ip, host'],
    [One, { ip: '', limit: 5 }, 'Unknown key "limit"'],
    [One, { ip: '', host: '' }, 'Send exactly one of ip, host'],
  ];
  for (const [schema, body, sentence] of SENTENCES) {
    test(`${JSON.stringify(body)}: ${sentence}`, () => assert.equal(createCheck(schema)(body, ''), sentence));
  }

  test('a keyword that it does not know is an error of the program', () => {
    assert.throws(() => createCheck({ type: 'object', oneOf: [] }), /oneOf is not supported/);
  });
});
