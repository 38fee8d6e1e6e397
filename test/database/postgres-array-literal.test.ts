import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { arrayLiteral, type Scalar, START_BYTES } from '../../src/database/postgres/array-literal.ts';
import { openDatabase } from '../../src/database/postgres/database.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';

const CASES: [values: Scalar[], literal: string][] = [
  [[], '{}'],
  [[0, 7, 10, 99, 100, 2_147_483_647], '{0,7,10,99,100,2147483647}'],
  [[2_147_483_648, Number.MAX_SAFE_INTEGER, -1, 1.5, 1e21], '{2147483648,9007199254740991,-1,1.5,1e+21}'],
  [[null, true, false], '{null,"true","false"}'],
  [['', 'null', 'a,b', '{}', 'a "b" \\c'], '{"","null","a,b","{}","a \\"b\\" \\\\c"}'],
  [['Grüße', '日本', '🦊'], '{"Grüße","日本","🦊"}'],
  [[new Uint8Array(), Uint8Array.of(0, 9, 16, 255)], '{"\\\\x","\\\\x000910ff"}'],
  [[Buffer.from('ab').subarray(1), null, 'x', 3], '{"\\\\x62",null,"x",3}'],
];

for (const [values, literal] of CASES)
  test(`the array literal ${literal}`, () => assert.equal(arrayLiteral(values), literal));

test('a literal may be longer than those before it, and those after it are not changed by it', () => {
  for (const length of [1, 300_000, 2, 3_000_000, 1]) {
    assert.equal(arrayLiteral(['é'.repeat(length), 1]), `{"${'é'.repeat(length)}",1}`);
    assert.equal(arrayLiteral(Array(length).fill(7)), `{${Array(length).fill(7).join()}}`);
    assert.equal(arrayLiteral(Array(length).fill(null)), `{${Array(length).fill('null').join()}}`);
    assert.equal(arrayLiteral([new Uint8Array(length), null]), `{"\\\\x${'00'.repeat(length)}",null}`);
  }
});

test('a literal of any length near that of the memory in which it is written', () => {
  for (let length = START_BYTES / 2 - 20; length <= START_BYTES / 2; length++) {
    assert.equal(arrayLiteral([new Uint8Array(length)]), `{"\\\\x${'00'.repeat(length)}"}`);
    assert.equal(arrayLiteral(['a'.repeat(2 * length)]), `{"${'a'.repeat(2 * length)}"}`);
  }
});

test('the server reads what was given', async (t) => {
  const db = openDatabase(await temporaryDatabase(t), { connections: 1, role: 'read-write' });
  t.after(db.close);
  const text = fc.string({ unit: 'grapheme' }).map((one) => one.replaceAll('\0', ''));
  const nullable = <T>(value: fc.Arbitrary<T>) => fc.array(fc.option(value), { maxLength: 20 });
  const columns = fc.tuple(nullable(text), nullable(fc.maxSafeInteger()), nullable(fc.uint8Array({ maxLength: 40 })));
  await fc.assert(
    fc.asyncProperty(columns, async ([texts, numbers, bytes]) => {
      const read = async (values: Scalar[], type: string) =>
        (await db.query(`select v from unnest($1::${type}[]) with ordinality as t (v, n) order by n`, [values])).flat();
      assert.deepEqual(await read(texts, 'text'), texts);
      assert.deepEqual(await read(numbers, 'bigint'), numbers);
      const asBuffers = bytes.map((value) => value && Buffer.from(value));
      assert.deepEqual(await read(bytes, 'bytea'), asBuffers);
    }),
    { numRuns: 100 },
  );
});
