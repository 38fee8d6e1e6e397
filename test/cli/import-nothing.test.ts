import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

const FIXTURES = new URL('../fixtures/', import.meta.url).pathname;
const CSV = readFileSync(`${FIXTURES}urlhaus-8-columns.csv`, 'utf8');
const JSON_DUMP = readFileSync(`${FIXTURES}urlhaus.json`, 'utf8');
const PAGE = '<!DOCTYPE html>\n<html><head><title>Please log in</title></head>\n<body>…</body></html>\n';

function open(t: TestContext) {
  const folder = temporaryFolder(t);
  return {
    folder,
    file(name: string, content: string | Buffer): string {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
    run: (...args: string[]) => urlwarden([...args, '--data', join(folder, 'data')]),
  };
}

/** Bytes of a tar archive with one file, as far as they are looked at. */
function tarOf(text: string): Buffer {
  const header = Buffer.alloc(512);
  header.write('dump.csv');
  header.write('ustar', 257);
  return Buffer.concat([header, Buffer.from(text.replaceAll('\n', ' '))]);
}

const UTF16 = Buffer.from(`\ufeff${CSV}`, 'utf16le');

const NOTHING: [what: string, format: string, content: string | Buffer, message: RegExp][] = [
  ['JSON', 'urlhaus-csv', JSON_DUMP, /looks like urlhaus-json, not urlhaus-csv\. Try: urlwarden import urlhaus-json /],
  [
    'unknown JSON',
    'urlhaus-csv',
    '{"a":1}\n',
    /The only row .* This is JSON, which the format urlhaus-csv cannot read/,
  ],
  ['CSV instead of JSON', 'urlhaus-json', CSV, /looks like urlhaus-csv.* Try: urlwarden import urlhaus-csv /],
  ['text instead of JSON', 'stix', 'hello\nworld\n', /This is not JSON, which the format stix needs/],
  [
    'a JSON document',
    'ndjson',
    '[\n{"a":1},\n{"a":2}\n]\n',
    /one JSON document\. The format ndjson needs one object per/,
  ],
  ['UTF-16', 'urlhaus-csv', UTF16, /This is UTF-16 text.* iconv -f UTF-16 -t UTF-8/],
  ['UTF-16 without a mark', 'urlhaus-csv', UTF16.subarray(2), /This is UTF-16 text/],
  ['UTF-16 instead of JSON', 'urlhaus-json', UTF16, /This is UTF-16 text/],
  ['semicolons', 'urlhaus-csv', CSV.replaceAll(',', ';'), /separated by semicolons; every CSV format needs commas/],
  ['tabs', 'urlhaus-csv', CSV.replaceAll(',', '\t'), /separated by tabs/],
  ['a page', 'urlhaus-csv', PAGE, /This is an HTML page \("Please log in"\), perhaps an error or a login page/],
  ['a page instead of JSON', 'feodo-json', gzipSync(PAGE), /This is an HTML page/],
  ['XML', 'url-list', '<?xml version="1.0"?>\n<rss></rss>\n', /This is XML/],
  ['nothing', 'urlhaus-csv', '', /The source is empty/],
  ['blank lines', 'url-list', '\n \n', /The source is empty/],
  ['nothing instead of JSON', 'misp', '', /The source is empty/],
  [
    'a header only',
    'urlhaus-csv',
    CSV.split('\n', 1)[0] ?? '',
    /There are no rows in the source, only comments, blank/,
  ],
  ['an empty list', 'feodo-json', '[]', /nothing in the source that the format feodo-json uses/],
  ['an xz file', 'url-list', Buffer.from('\xfd7zXZ\0\0\x04\xe6\xd6', 'latin1'), /This is an xz file: unpack it first/],
  ['a tar archive', 'urlhaus-csv', gzipSync(tarOf(CSV)), /This is a tar archive: unpack it first/],
  ['binary data', 'url-list', Buffer.from([1, 0, 7, 255, 10, 3, 200, 201]), /This is binary data, not text/],
  ['addresses', 'urlhaus-csv', '192.0.2.1\n198.51.100.0/24\n', /Try: urlwarden import ip-list .* --dataset NAME/],
  ['host names', 'url-list', 'a.example\nb.example.org\n', /Try: urlwarden import domain-list .* --kind KIND/],
  ['URLs', 'urlhaus-csv', 'http://a.example/\nhxxp://b[.]example/\n', /looks like url-list/],
];

suite('an import that did nothing', () => {
  test('a tar archive with readable rows is refused; rubbish is shown once and short; rejects say why it failed', async (t) => {
    const { run, file } = open(t);
    const header = tarOf('').fill(0, 262, 263);
    const tar = await run('import', 'urlhaus-csv', file('a.tar', Buffer.concat([header, Buffer.from(`\n${CSV}`)])));
    assert.deepEqual([tar.code, tar.stdout], [1, '']);
    assert.match(tar.stderr, /^Created the data folder .*data\n.*a\.tar: This is a tar archive: unpack it first\n$/);
    assert.match((await run('import', 'rejects')).stdout, /\nThe import failed\. .*a tar archive/);
    const rows = Buffer.from('\x01\xff rubbish '.repeat(40).concat('\n').repeat(3), 'latin1');
    const { stdout, stderr } = await run('import', 'url-list', file('rubbish', rows));
    assert.match(stdout, /\nFailed\. .* This is binary data.*\n\nline 1: .*\n {2}\\u\{1\}.{55}…\nShow more: /);
    assert.deepEqual([stdout.match(/^line /gm)?.length, stderr], [1, '']);
  });

  test('fails with a guess at the cause, in text and JSON, and is listed as failed', async (t) => {
    const { run, file } = open(t);
    await Promise.all(
      NOTHING.map(async ([what, format, content, message], i) => {
        const path = file(`${i}`, content);
        const { code, stdout, stderr } = await run('import', format, path, '--dry-run');
        assert.equal(code, 1, what);
        assert.match(stdout + stderr, message, what);
        assert.doesNotMatch(stdout + stderr, /\bstate\b|\n {4}at |ENOENT/, what);
      }),
    );
    const { code, stdout } = await run('import', 'urlhaus-csv', file('u.json', JSON_DUMP), '--json');
    const { outcome, error, read, rejected, urlsAdded } = JSON.parse(stdout);
    assert.deepEqual([code, outcome, read, rejected, urlsAdded], [1, 'failed', 36, 36, 0]);
    assert.match(error, /^None of the 36 rows could be used\. This looks like urlhaus-json/);
    const [listed] = JSON.parse((await run('import', 'list', '--json')).stdout);
    assert.deepEqual([listed.state, listed.error], ['failed', error]);
  });

  test('a file of the right format with unusable rows only fails without a guess', async (t) => {
    const { run, file } = open(t);
    const { code, stdout } = await run('import', 'urlhaus-csv', file('u.csv', CSV.replaceAll(/2019-/g, 'year-')));
    assert.equal(code, 1);
    assert.match(stdout, /\nFailed\. The only row could not be used\. Check the format, and the reasons/);
    assert.doesNotMatch(stdout, /looks like/);
  });

  test('rows that are all stored already are a success', async (t) => {
    const { run, file } = open(t);
    const path = file('u.csv', CSV);
    for (const urls of [1, 0]) {
      const { code, stdout } = await run('import', 'urlhaus-csv', path, '--json');
      const { outcome, urlsAdded } = JSON.parse(stdout);
      assert.deepEqual([code, outcome, urlsAdded], [0, 'done', urls]);
    }
  });

  test('takes no URL offline as a complete listing; an empty one does so by force', async (t) => {
    const { run, file } = open(t);
    const complete = (name: string, content: string, ...flags: string[]) =>
      run('import', 'url-list', file(name, content), '--complete', '--json', ...flags);
    await complete('1', 'http://a.example/\n', '--as-of', '2026-01-01');
    const unusable = JSON.parse((await complete('2', '<p>\n', '--as-of', '2026-01-02', '--force')).stdout);
    assert.deepEqual([unusable.outcome, unusable.wentOffline], ['failed', 0]);
    const empty = await complete('3', '# none\n', '--as-of', '2026-01-03');
    assert.match(JSON.parse(empty.stdout).error, /No URL was taken offline\. .* run it again with --force\.$/);
    const forced = JSON.parse((await complete('3', '# none\n', '--as-of', '2026-01-03', '--force')).stdout);
    assert.deepEqual([forced.outcome, forced.wentOffline], ['done', 1]);
    await complete('4', 'http://b.example/\n', '--as-of', '2026-01-04');
    const now = JSON.parse((await complete('3', '', '--force')).stdout);
    assert.deepEqual([now.outcome, now.wentOffline], ['done', 1]);
  });
});

suite('a file that cannot be imported', () => {
  test('without a format, its format is recognized by the content, and the command is shown', async (t) => {
    const { run, file, folder } = open(t);
    mkdirSync(join(folder, 'event feed'));
    cpSync(`${FIXTURES}misp-feed`, join(folder, 'event feed'), { recursive: true });
    const own = '{"ts":1731628800,"url":"http://203.0.113.7/a.sh","status":"online"}\n';
    for (const [path, format] of [
      [`${FIXTURES}urlhaus-7-columns-crlf.csv`, 'urlhaus-csv'],
      [`${FIXTURES}urlhaus-8-columns.csv`, 'urlhaus-csv'],
      [`${FIXTURES}urlhaus-online.csv`, 'urlhaus-csv'],
      [`${FIXTURES}urlhaus.json`, 'urlhaus-json'],
      [`${FIXTURES}urlhaus-payloads.csv`, 'urlhaus-payloads'],
      [`${FIXTURES}malwarebazaar.csv`, 'malwarebazaar-csv'],
      [`${FIXTURES}threatfox.csv`, 'threatfox-csv'],
      [`${FIXTURES}stix.json`, 'stix'],
      [`${FIXTURES}urls.txt`, 'url-list'],
      [file('own.ndjson', own), 'ndjson'],
      [file('packed.gz', gzipSync(JSON_DUMP)), 'urlhaus-json'],
      [file('drop.json', '{"cidr":"192.0.2.0/24","sblid":"SBL1","rir":"arin"}\n'), 'drop-json'],
      [file('hosts', '# blocked\n0.0.0.0 a.example\n'), 'domain-list'],
      [file('top.csv', '1,a.example\n2,b.example\n'), 'top-list'],
      [file('list.json', '{"name":"Clouds","type":"cidr","list":["192.0.2.0/24"]}'), 'misp-warninglist'],
    ] as const) {
      const { code, stderr } = await run('import', path);
      assert.equal(code, 2);
      assert.ok(stderr.includes(`looks like ${format}. Run:\n  urlwarden import ${format} ${path}`), stderr);
    }
    const quoted = await run('import', join(folder, 'event feed'));
    assert.match(quoted.stderr, /looks like misp\. Run:\n {2}urlwarden import misp '.*event feed'\n/);
  });

  test('a wrong or misplaced format, a folder and special files are explained', async (t) => {
    const { run, file, folder } = open(t);
    const csv = file('u.csv', CSV);
    mkdirSync(join(folder, 'dumps'));
    symlinkSync('loop', join(folder, 'loop'));
    for (const [args, code, message] of [
      [[csv, 'urlhaus-csv'], 2, /^The format comes first: urlwarden import urlhaus-csv .*u\.csv\n/],
      [
        ['csv', csv],
        2,
        /^There is no format "csv"\.\n.*looks like urlhaus-csv\. Run:\n {2}urlwarden import urlhaus-csv /,
      ],
      [[file('page', PAGE)], 2, /^FORMAT is missing: .*\n.*page: This is an HTML page/],
      [[file('text', 'hello\n')], 2, /^FORMAT is missing: .*\nFormats:\n/],
      [[join(folder, 'dumps')], 2, /^FORMAT is missing: .*\n.*dumps: is a folder; choose a file in it\./],
      [['urlhaus-csv', join(folder, 'dumps')], 1, /^.*dumps: is a folder; choose a file in it\. .* manifest\.json\n$/],
      [
        ['urlhaus-csv', join(folder, 'loop')],
        1,
        /^.*loop: the file cannot be read: its symbolic links lead in a circle\n$/,
      ],
      [['urlhaus-csv', `${csv}/x`], 1, /^.*x: there is no such file; check the path\n$/],
      [['urlhaus-csv', 'x'.repeat(300)], 1, /^x+: the file cannot be read: its name is too long; check the path\n$/],
    ] as const) {
      const outcome = await run('import', ...args);
      assert.match(outcome.stderr, message);
      assert.equal(outcome.code, code, outcome.stderr);
    }
  });
});

suite('import rejects', () => {
  test('has a summary by reason, the most frequent first, and as many rows as --limit', async (t) => {
    const { run, file } = open(t);
    const rows = ['http://a.example/', ...Array.from({ length: 30 }, (_, i) => `name ${i}`), 'http://'];
    await run('import', 'domain-list', file('names', `${rows.join('\n')}\n`), '--kind', 'malware');
    const { stdout } = await run('import', 'rejects');
    assert.match(stdout, /: \d+ rejected\n\nROWS {2}REASON\n( +\d+ {2}.*\n)+\nline 2: /);
    assert.match(stdout, /\nThe first 20\. More: --limit 31\n$/);
    const two = await run('import', 'rejects', '--limit', '2');
    assert.equal(two.stdout.match(/^line /gm)?.length, 2);
    const { reasons, rejects } = JSON.parse((await run('import', 'rejects', '--json')).stdout);
    assert.equal(rejects.length, 31);
    assert.deepEqual(
      reasons.map(({ rows: count }: { rows: number }) => count),
      [30, 1],
      'reasons that differ only in the quoted value are one',
    );
    const limited = JSON.parse((await run('import', 'rejects', '--json', '--limit', '0')).stdout);
    assert.deepEqual([limited.rejects, limited.reasons], [[], reasons]);
    const wrong = await run('import', 'rejects', '--limit', 'few');
    assert.deepEqual(
      [wrong.code, wrong.stderr.split('\n')[0]],
      [2, '--limit must be a whole number, such as 100, not "few"'],
    );
  });

  test('counts the rows of one reason together, whatever the network in it', async (t) => {
    const { run, file } = open(t);
    const reasonsOf = async (...args: string[]) => {
      await run('import', ...args);
      const { reasons } = JSON.parse((await run('import', 'rejects', '--json')).stdout);
      return reasons.map(({ reason, rows }: { reason: string; rows: number }) => `${rows} ${reason}`);
    };
    await run('allow', 'add', '198.18.0.0/15');
    const networks = file('networks', '8.0.0.0/7\n16.0.0.0/6\n32.0.0.0/5\n198.18.0.1\n198.18.0.2\n');
    assert.deepEqual(await reasonsOf('ip-list', networks, '--dataset', 'XBL', '--allow-reserved'), [
      '3 "…" is wider than /8, which can only be a mistake',
      '2 "…" is on an allow list',
    ]);
    const ranges = file('ranges', '{"name": "Ranges", "type": "cidr", "list": ["203.0.112.0/24", "203.0.114.0/24"]}');
    assert.deepEqual(await reasonsOf('misp-warninglist', ranges, '--as', 'popular'), [
      '2 "…": only names can be on a list of popular sites',
    ]);
    assert.deepEqual(await reasonsOf('urlhaus-csv', file('quotes.csv', 'a "b"\nc "d"\n')), [
      '2 unexpected quote: quote the whole field, and write a quote inside it as ""',
    ]);
  });
});

suite('an import in which every status is online', () => {
  const NOTE =
    /\nNote: every status in this import is online.*\n.* --complete, or add it as a feed:\nurlwarden feed add .* --complete\n$/;

  test('ends with a note that nothing goes offline by itself; others do not', async (t) => {
    const { run, file } = open(t);
    const urls = file('urls', 'http://a.example/\n');
    const online = await run('import', 'url-list', urls);
    assert.deepEqual([online.code, NOTE.test(online.stdout)], [0, true], online.stdout);
    const json = await run('import', 'url-list', urls, '--json');
    assert.deepEqual([JSON.parse(json.stdout).isOnlineOnly, json.stdout.includes('Note')], [true, false]);
    for (const args of [
      ['url-list', urls, '--complete'],
      ['urlhaus-csv', file('u.csv', CSV)],
      ['ip-list', file('ips', '192.0.2.1\n'), '--dataset', 'XBL', '--allow-reserved'],
      ['domain-list', file('names', 'a.example.com\n'), '--kind', 'malware'],
      ['urlhaus-payloads', `${FIXTURES}urlhaus-payloads.csv`],
    ]) {
      const { code, stdout } = await run('import', ...args);
      assert.deepEqual([code, stdout.includes('Note')], [0, false], stdout);
    }
  });
});
