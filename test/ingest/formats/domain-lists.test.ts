import assert from 'node:assert/strict';
import { test } from 'node:test';
import { domainList } from '../../../src/ingest/formats/domain-list.ts';
import { mispWarninglist } from '../../../src/ingest/formats/misp-warninglist.ts';
import { topList } from '../../../src/ingest/formats/top-list.ts';
import { cpuTimeMs } from '../../cpu-time.ts';
import { AS_OF_TS, evidenceOf, readText, readWith, rejectsOf } from './read-items.ts';

const LINES: [line: string, names: string[]][] = [
  ['www.example.com', ['www.example.com']],
  ['Example.COM.', ['Example.COM.']],
  ['*.example.com', ['example.com']],
  ['.example.com', ['example.com']],
  ['example[.]com', ['example.com']],
  ['example.com,2025-07-17', ['example.com']],
  ['example.com # seen', ['example.com']],
  ['example.com:8080', ['example.com']],
  ['example.com/path', ['example.com']],
  ['http://user@www.example.com:8080/a,b c', ['www.example.com']],
  ['hxxps[:]//www[.]example[.]com/', ['www.example.com']],
  ['0.0.0.0 a.example b.example # both', ['a.example', 'b.example']],
  ['127.0.0.1\twww.example.com', ['www.example.com']],
  ['127.0.0.1 localhost localhost.localdomain', []],
  ['::1 ip6-localhost', []],
  ['255.255.255.255 broadcasthost', []],
  ['fe80::1%lo0 localhost', []],
  ['ff02::1 ip6-allnodes # all', []],
  ['192.0.2.1 # seen', ['192.0.2.1']],
  ['192.0.2.1 www.example.com', ['192.0.2.1']],
  ['# comment', []],
  ['; comment', []],
  ['192.0.2.1', ['192.0.2.1']],
  ['http://192.0.2.1/a', ['192.0.2.1']],
];

for (const [line, names] of LINES) {
  test(`domain-list: ${JSON.stringify(line)}`, async () => {
    assert.deepEqual(
      evidenceOf(await readWith(domainList, `${line}\n`, { evidenceKind: 'phishing' })),
      names.map((domain) => ({ type: 'domain', domain, kind: 'phishing', ts: AS_OF_TS })),
    );
  });
}

for (const document of [
  '\n<!DOCTYPE html>\nself.top',
  '<html>',
  '{\n  "list": [\n"example.com",',
  '[\n"example.com"\n]',
]) {
  test(`domain-list refuses a document: ${JSON.stringify(document)}`, async () => {
    await assert.rejects(readText(domainList, document), /^AppError: test: This is a page or JSON/);
  });
}

test('domain-list: a name in brackets is no document, nor is a list with one line of a document', async () => {
  assert.equal(evidenceOf(await readText(domainList, '<example.com>\nwww[.]example.org\n{\n')).length, 3);
});

test('domain-list: a URL that cannot be read is a reject', async () => {
  assert.match(rejectsOf(await readText(domainList, 'http://\n'))[0]?.reason ?? '', /^url: /);
});

test('top-list: ranks, with and without a header', async () => {
  const text = 'rank,domain\n1,example.com\r\n2,"www.example.org",x\n# comment\nexample.net\n0,example.net\n';
  const items = await readText(topList, text);
  assert.deepEqual(evidenceOf(items), [
    { type: 'fact', domain: 'example.com', rank: 1, ts: AS_OF_TS },
    { type: 'fact', domain: 'www.example.org', rank: 2, ts: AS_OF_TS },
  ]);
  assert.deepEqual(
    rejectsOf(items).map(({ line }) => line),
    [5, 6],
  );
  assert.deepEqual(items.at(-1), { kind: 'list_end', ts: AS_OF_TS });
});

const WARNING_LIST = {
  name: 'Example ranges',
  type: 'cidr',
  list: ['198.51.100.0/24', 5, '2001:db8::/32'],
  version: 2,
};

test('misp-warninglist: entries with the name of the list as reason', async () => {
  const items = await readWith(mispWarninglist, JSON.stringify(WARNING_LIST), { listKind: 'allow' });
  const entry = { type: 'list', as: 'allow', ts: AS_OF_TS, reason: 'Example ranges' };
  assert.deepEqual(evidenceOf(items), [
    { ...entry, entry: '198.51.100.0/24' },
    { ...entry, entry: '2001:db8::/32' },
  ]);
  assert.deepEqual(rejectsOf(items), [{ line: 1, reason: 'an entry must be a string' }]);
  assert.deepEqual(items.at(-1), { kind: 'list_end', ts: AS_OF_TS, isWhole: true });
});

test('misp-warninglist: without a name of a feed, the name of the list is its source', async () => {
  const items = await readWith(mispWarninglist, JSON.stringify(WARNING_LIST), { listKind: 'shared', isUnnamed: true });
  assert.deepEqual(
    evidenceOf(items).map(({ source }) => source),
    ['Example ranges', 'Example ranges'],
  );
  assert.deepEqual(items.at(-1), { kind: 'list_end', ts: AS_OF_TS, source: 'Example ranges', isWhole: true });
});

test('misp-warninglist: a name that no feed can have is not its source', async () => {
  for (const name of ['', 'a|b', 'a\nb', 'operator', 'URL data']) {
    const text = JSON.stringify({ ...WARNING_LIST, name });
    const items = await readWith(mispWarninglist, text, { listKind: 'shared', isUnnamed: true });
    assert.deepEqual(items.at(-1), { kind: 'list_end', ts: AS_OF_TS, isWhole: true }, name);
  }
});

test('misp-warninglist: patterns and cut-off lists are refused', async () => {
  await assert.rejects(readText(mispWarninglist, '{"type":"regex","list":["a"]}'), /type "regex" cannot be used/);
  await assert.rejects(readText(mispWarninglist, '{"type":"cidr","list":["198.51.100.0/24"'), /cut off/);
});

for (const [what, line] of [
  ['blanks of a hosts file', `0.0.0.0${' '.repeat(60_000)}a.example\rb.example`],
  ['blanks after an address', `192.0.2.1${' '.repeat(60_000)}a.example\rb.example`],
  ['slashes before a line separator', `,${'/'.repeat(120_000)}\u2028x`],
] as const) {
  test(`a long line of ${what} is read in time that grows with its length`, async () => {
    const start = cpuTimeMs();
    await readText(domainList, `${line}\n`);
    const tookMs = cpuTimeMs() - start;
    assert.ok(tookMs < 1_000, `${tookMs} ms`); // in the square of its length: 5 s or more
  });
}
