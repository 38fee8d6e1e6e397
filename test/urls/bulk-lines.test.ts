import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createLineBuffer,
  formatOf,
  type Line,
  MAX_BULK_BYTES,
  MAX_LINE_BYTES,
  parserOf,
} from '../../src/urls/bulk-lines.ts';

/** All lines of a body that arrives in chunks of this size. */
function linesOf(body: string | Buffer, chunkBytes: number): Line[] {
  const buffer = createLineBuffer();
  const bytes = Buffer.from(body);
  const lines: Line[] = [];
  const drain = () => {
    for (let found = buffer.take(3); found !== null; found = buffer.take(3)) {
      assert.ok(found.length <= 3);
      lines.push(...found);
    }
  };
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    buffer.push(bytes.subarray(at, at + chunkBytes));
    drain();
  }
  buffer.end();
  drain();
  return lines;
}

const LONGEST = 'x'.repeat(MAX_LINE_BYTES);
const LONG = { fault: 'The line is longer than 64 KiB' };
const BAD = { fault: 'The line is not valid UTF-8' };

describe('lines of bytes', () => {
  const CASES: [what: string, body: string | Buffer, lines: Line[]][] = [
    ['nothing', '', []],
    ['blank lines', '\n \r\n\t\n\n', []],
    ['a last line without an end', 'a\nb', ['a', 'b']],
    ['CRLF, blanks around lines, a byte order mark', '\ufeffa \r\n\r\n  b\r\n', ['a', 'b']],
    ['characters of several bytes', 'ü𝒳\n€', ['ü𝒳', '€']],
    ['bytes that are not UTF-8', Buffer.from('a\n\xff\nü\n', 'latin1'), ['a', BAD, BAD]],
    ['the longest line, twice', `${LONGEST}\n${LONGEST}\na`, [LONGEST, LONGEST, 'a']],
    ['the longest line at the end', `a\n${LONGEST}`, ['a', LONGEST]],
    ['a byte more', `a\n${LONGEST}x\nb\n`, ['a', LONG, 'b']],
    ['a byte more at the end', `${LONGEST}x`, [LONG]],
    ['much more', `${LONGEST.repeat(3)}\nb\n${LONGEST.repeat(2)}`, [LONG, 'b', LONG]],
  ];
  for (const [what, body, expected] of CASES) {
    for (const chunkBytes of [1, 3, 50_000, 2 ** 24]) {
      test(`${what}, in chunks of ${chunkBytes}`, () => assert.deepEqual(linesOf(body, chunkBytes), expected));
    }
  }

  test('8 MiB are kept, and nothing after them', () => {
    const buffer = createLineBuffer();
    const lines = Buffer.from('123456\n\n'.repeat(MAX_BULK_BYTES / 8));
    assert.equal(buffer.push(lines), true);
    assert.equal(buffer.push(Buffer.from('more')), false);
    let count = 0;
    for (let found = buffer.take(200); found !== null; found = buffer.take(200)) count += found.length;
    assert.equal(count, MAX_BULK_BYTES / 8);
  });
});

describe('a line', () => {
  const url = 'http://a.example/';
  const CASES: [line: string, ref: string | null, url: string | null, fault?: RegExp][] = [
    ['{"url":"HTTP://A.example"}', null, url],
    ['{"ref":"a\\"\\ud800","url":"http://a.example/"}', '"a\\"\\ud800"', url],
    ['{"ref":-1.5,"url":"http://a.example/"}', '-1.5', url],
    ['{"ref":9007199254740991,"url":"http://a.example/"}', '9007199254740991', url],
    ['{"ref":9007199254740993,"url":"http://a.example/"}', null, null, /"ref"/],
    ['{"ref":1e999,"url":"http://a.example/"}', null, null, /"ref"/],
    ['{"ref":null,"url":"http://a.example/"}', null, null, /"ref"/],
    ['{"ref":7,"url":"nowhere"}', '7', null, /^url: .*scheme/],
    ['{"ref":7}', '7', null, /"url" is missing/],
    ['{"ref":7,"url":1}', '7', null, /"url" must be a string/],
    ['{"ref":7,"url":"http://a.example/","x":1}', '7', null, /Unknown key "x"/],
    ['{"__proto__":{"url":"http://a.example/"}}', null, null, /__proto__/],
    ['[]', null, null, /JSON object/],
    ['null', null, null, /JSON object/],
    ['http://a.example/', null, null, /valid JSON/],
  ];
  for (const [line, ref, found, fault = /^$/] of CASES) {
    test(line, () => {
      const query = parserOf('ndjson')(line);
      assert.deepEqual([query.ref, query.url], [ref, found]);
      assert.match(query.fault ?? '', fault);
    });
  }

  test('of text is a URL', () => {
    assert.deepEqual(parserOf('text')('HTTP://a.example'), { ref: null, url, fault: null });
    assert.match(parserOf('text')('{"url":"http://a.example/"}').fault ?? '', /^url: /);
    assert.deepEqual(parserOf('text')({ fault: 'x' }), { ref: null, url: null, fault: 'x' });
  });

  test('that can be read decides the format: { is NDJSON', () => {
    const url = 'http://a.example/';
    const bodies: Line[][] = [['{"', url], [url, '{"'], [LONG, BAD, '{"'], [BAD, url], [BAD], []];
    assert.deepEqual(bodies.map(formatOf), ['ndjson', 'text', 'ndjson', 'text', null, null]);
  });
});
