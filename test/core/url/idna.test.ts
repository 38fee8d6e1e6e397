import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toASCII } from 'tr46';
import { nameToAscii } from '../../../src/core/url/idna.ts';

/** Above are only unassigned planes, the tags and selectors of plane 14, and private use. */
const LAST_CODE_POINT = 0x3ffff;
const PLANE_14 = { first: 0xe0000, last: 0xe0fff };
const RULES = { checkBidi: true, checkJoiners: true };

/** The expressions in idna.ts are written by hand and must match the table of tr46. */
it('the characters that tr46 ignores or maps to a dot are exactly those in idna.ts', () => {
  const label = 'b'.repeat(63);
  for (let codePoint = 0x80; codePoint <= PLANE_14.last; codePoint++) {
    if (codePoint > LAST_CODE_POINT) codePoint = Math.max(codePoint, PLANE_14.first);
    const character = String.fromCodePoint(codePoint);
    const alone = toASCII(`a${character}b`, RULES);
    assert.equal(nameToAscii(`a${character}b`), alone, codePoint.toString(16));
    // Only listed characters are excluded from the limits on code points.
    if (alone === 'ab') assert.equal(nameToAscii(`a${character.repeat(2000)}b`), 'ab', codePoint.toString(16));
    if (alone === 'a.b') assert.ok(nameToAscii(`${label}${character}`.repeat(3)), codePoint.toString(16));
  }
});

/** Fails if tr46 is updated to another Unicode version: stored URLs then need a migration. */
it('the Unicode version is 17', () => {
  assert.equal(nameToAscii('ẞ.example'), 'xn--zca.example', 'since 15.1');
  assert.equal(nameToAscii('\u{11DE0}.example'), 'xn--lw3d.example', 'a digit that 17.0 added');
});

/** Longer texts are refused before encoding: 63 code points in a label, 254 in a name, four times as many with marks. */
const GOTHIC = '\u{10330}';
const LONGEST = `é${'a'.repeat(62)}`;
const COMPOSED = 'α\u0313\u0300\u0345'; // NFC is U+1F82
for (const { why, name, isEncoded } of [
  { why: 'the longest label', name: LONGEST, isEncoded: true },
  { why: 'a longer label', name: `${LONGEST}a`, isEncoded: false },
  { why: 'a longer label among short ones', name: `b.${LONGEST}a.c`, isEncoded: false },
  { why: 'the longest label of two units each', name: GOTHIC.repeat(63), isEncoded: true },
  { why: 'a longer label of two units each', name: GOTHIC.repeat(64), isEncoded: false },
  { why: 'the longest label of composed characters', name: COMPOSED.repeat(63), isEncoded: true },
  { why: 'a longer label of composed characters', name: COMPOSED.repeat(64), isEncoded: false },
  { why: 'a label with marks that are composed only in lower case', name: 'Υ\u0313\u0300'.repeat(63), isEncoded: true },
  { why: 'the longest label with more marks', name: `e${'\u0301'.repeat(251)}`, isEncoded: true },
  { why: 'a longer label with more marks', name: `e${'\u0301'.repeat(252)}`, isEncoded: false },
  { why: 'the longest name', name: `${`${LONGEST}.`.repeat(3)}${LONGEST.slice(1)}`, isEncoded: true },
  { why: 'a longer name', name: `${`${LONGEST}.`.repeat(3)}${LONGEST}`, isEncoded: false },
  { why: 'an invalid xn-- label', name: 'xn--a.ß', isEncoded: false },
]) {
  it(`${why} is ${isEncoded ? 'encoded' : 'refused'}`, () => assert.equal(nameToAscii(name) !== null, isEncoded));
}

/** Measured: 1 to 19 ms in tr46 against 0.01 to 0.1 ms here; a third leaves room for a busy machine. */
it('a label or a name that must become too long is refused before it is encoded', () => {
  const ideographs = (count: number) => String.fromCodePoint(...Array.from({ length: count }, (_, i) => 0x4e00 + i));
  const growing = '\ufdfa'.repeat(252); // each of them is mapped to 18 characters
  const marks = `e${'\u0327\u0301'.repeat(1000)}`; // their order has to be sorted
  for (const name of [ideographs(1000), `${ideographs(250)}.`.repeat(4), growing, marks]) {
    assert.equal(nameToAscii(name), null);
    assert.ok(fastestMs(() => nameToAscii(name)) * 3 < fastestMs(() => toASCII(name, RULES)));
  }
});

function fastestMs(run: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  return Math.min(...times);
}
