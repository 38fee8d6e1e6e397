import assert from 'node:assert/strict';
import { test } from 'node:test';
import { urlList } from '../../../src/ingest/formats/url-list.ts';
import { AS_OF_TS, inputsOf, readFixture, readText, rejectsOf } from './read-items.ts';

test('comments and blanks are ignored, and --as-of is the time of each URL', async () => {
  const items = await readFixture(urlList, 'urls.txt');
  assert.deepEqual(
    items.map((item) => (item.kind === 'observations' ? [item.line, item.inputs] : item)),
    [
      [3, [{ ts: AS_OF_TS, url: 'https://www.example.com/a.b?c=.' }]],
      [4, [{ ts: AS_OF_TS, url: 'http://files.example.org:8080/x' }]],
      [5, [{ ts: AS_OF_TS, url: 'ftp://files.example.net/y' }]],
      [6, [{ ts: AS_OF_TS, url: 'http://[2001:db8::1]/z' }]],
      [7, [{ ts: AS_OF_TS, url: 'example.com/no-scheme' }]],
    ],
  );
});

test('lines that are not valid text are rejects', async () => {
  const items = await readText(
    urlList,
    Buffer.from('http://a.example/\xff\nhttp://a.example/\0\nhttp://a.example/\n', 'latin1'),
  );
  assert.deepEqual(rejectsOf(items), [
    { line: 1, reason: 'the line is not valid UTF-8; convert the file' },
    { line: 2, reason: 'the line contains a NUL byte; convert the file to UTF-8 text' },
  ]);
  assert.equal(inputsOf(items).length, 1);
});
