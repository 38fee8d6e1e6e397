import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { type Intelligence, openIntelligence } from '../../src/app/stores.ts';
import { tableFormat } from '../../src/cli/check-output.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hashOf, seen } from '../urls/contract/observations.ts';
import { onTerminal } from './on-terminal.ts';
import { PROGRAM, urlwarden } from './urlwarden.ts';

/** 2026-01-31T12:00:00Z */
const T = 1_769_860_800;
const BAD = 'http://bad.example/a?x=1&y=2';
const GONE = 'https://gone.example/';
const SILENT = 'ftp://silent.example/f';

async function fill(store: Intelligence): Promise<void> {
  await store.apply([
    seen({ ts: T, url: BAD, reporter: '=cmd', payload: { sha256: hashOf('a'), family: 'Mirai', fileName: '@sum' } }),
    seen({ ts: T, url: GONE, status: 'offline' }),
    seen({ ts: T, url: SILENT, status: null }),
  ]);
}

async function dataFolder(t: TestContext): Promise<string[]> {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  t.after(() => store.close());
  await fill(store);
  return ['--data', dataDir];
}

async function database(t: TestContext): Promise<string[]> {
  const databaseUrl = await temporaryDatabase(t);
  const store = await openIntelligence({ dataDir: '', databaseUrl, databaseConnections: 2 });
  t.after(() => store.close());
  await fill(store);
  return ['--database-url', databaseUrl];
}

const LIST = `# a comment
hxxp://bad[.]example/a?x=1&y=2\r

HTTPS://gone.example
http://unknown.example/
=HYPERLINK("http://bad.example/")
${BAD}
${SILENT}`;

type Result = { line: number; input: string; url?: string; found?: boolean; error?: string; message?: string };

function jsonLines(text: string): Result[] {
  return text
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Result);
}

function found(text: string): [line: number, url: string | undefined][] {
  return jsonLines(text).map(({ line, url }) => [line, url]);
}

for (const [name, open] of Object.entries({ 'a data folder': dataFolder, PostgreSQL: database })) {
  test(`check on ${name}`, async (t) => {
    const place = await open(t);
    const { code, stdout, stderr } = await urlwarden(['check', '-', ...place], LIST);
    assert.equal(stderr, '6 lines, 5 URLs (4 distinct), 4 found, 1 invalid\n');
    assert.equal(code, 3);
    assert.equal(
      stdout,
      `   LINE  RESULT     SINCE       FAMILY        URL
      2  online     2026-01-31  Mirai         http://bad.example/a?x=1&y=2
      4  offline    2026-01-31                https://gone.example/
      5  not known                            http://unknown.example/
      6  no URL                               =HYPERLINK("http://bad.example/")
  The URL has no scheme. Begin it with http://, https:// or ftp://.
      7  online     2026-01-31  Mirai         http://bad.example/a?x=1&y=2
      8  known                                ftp://silent.example/f
`,
    );
  });
}

test('check', async (t) => {
  const place = await dataFolder(t);
  const folder = temporaryFolder(t);
  const check = (args: string[], stdin: string | Buffer = '') => urlwarden(['check', ...args, ...place], stdin);
  const file = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  await t.test('--json has the keys of url/last', async () => {
    const { code, stdout } = await check(['-', '--json'], LIST);
    const [bad, gone, unknown, invalid, ...others] = jsonLines(stdout);
    assert.deepEqual([code, others.length], [3, 2]);
    const { status, payload, ...rest } = bad as Result & { status: object; payload: object };
    assert.deepEqual(Object.keys(rest), ['line', 'input', 'found', 'id', 'url']);
    assert.deepEqual(status, { ts: T, status: 'online', removal: '', reporter: '=cmd' });
    assert.deepEqual((payload as Record<string, unknown>)['malware-family'], 'Mirai');
    assert.deepEqual([gone?.input, gone?.url, gone?.found], ['HTTPS://gone.example', GONE, true]);
    const url = 'http://unknown.example/';
    assert.deepEqual(unknown, { line: 5, input: url, found: false, url });
    assert.deepEqual([invalid?.line, invalid?.error, invalid?.found], [6, 'missing_scheme', undefined]);
  });

  await t.test('--csv has no cell that a spreadsheet would run', async () => {
    const { code, stdout } = await check(['-', '--csv'], LIST);
    assert.equal(code, 3);
    const [heading, bad, gone, unknown, invalid] = stdout.split('\r\n');
    assert.equal(
      heading,
      'line,input,result,url,status,ts,removal,reporter,payload_ts,sha256_hash,file_type,file_name,malware_family,error',
    );
    assert.equal(
      bad,
      `2,hxxp://bad[.]example/a?x=1&y=2,found,${BAD},online,${T},,'=cmd,${T},${hashOf('a')},,'@sum,Mirai,`,
    );
    assert.equal(gone, `4,HTTPS://gone.example,found,${GONE},offline,${T},,${gone?.split(',')[7]},,,,,,`);
    assert.equal(unknown, `5,http://unknown.example/,unknown,http://unknown.example/,,,,,,,,,,`);
    assert.match(
      invalid ?? '',
      /^6,"'=HYPERLINK\(""http:\/\/bad\.example\/""\)",invalid,,,,,,,,,,,"The URL has no scheme/,
    );
  });

  await t.test('--found prints only hits; without any, the exit code is 0', async () => {
    const some = await check(['-', '--found', '--json'], LIST);
    assert.deepEqual(found(some.stdout), [
      [2, BAD],
      [4, GONE],
      [7, BAD],
      [8, SILENT],
    ]);
    const none = await check(['-', '--found'], 'http://unknown.example/\nno URL\n');
    assert.deepEqual(none, { code: 0, stdout: '', stderr: '2 lines, 1 URL (1 distinct), 0 found, 1 invalid\n' });
    assert.match((await check(['-', '--found', '--csv'], 'http://unknown.example/\n')).stdout, /^line,input,.*\r\n$/);
  });

  await t.test('an empty file has nothing to report', async () => {
    for (const flags of [[], ['--extract'], ['--column', 'url'], ['--json']]) {
      const { code, stdout, stderr } = await check([file('empty', ''), ...flags]);
      assert.deepEqual([code, stdout], [0, '']);
      assert.match(stderr, /^0 (lines|rows), 0 URLs \(0 distinct\), 0 found, 0 invalid\n$/);
    }
  });

  await t.test('without any URL it fails and says which flag is missing', async () => {
    const log = await check(['-'], `GET ${BAD} 200\n\ufffd\n`);
    assert.equal(log.code, 1);
    assert.match(
      log.stderr,
      /2 invalid\nNo line is a URL\. For logs, mail and other text add --extract, for a CSV file --column NAME\.\n$/,
    );
    const bytes = await check(['-'], Buffer.from([0x68, 0xff, 0x0a, 0x61, 0x00]));
    assert.match(bytes.stdout, /The line is not valid UTF-8; convert the file\.\n.*The line contains a NUL byte/s);
  });

  await t.test('--extract finds the URLs of a proxy log, also of a compressed one', async () => {
    const log = file('access.log.gz', gzipSync(SQUID_LOG));
    const { code, stdout, stderr } = await check([log, '--extract', '--json']);
    assert.deepEqual([code, stderr], [3, '5 lines, 4 URLs (3 distinct), 2 found, 0 invalid\n']);
    assert.deepEqual(found(stdout), [
      [1, 'http://unknown.example/index.html'],
      [2, BAD],
      [4, BAD],
      [4, 'http://caf.example/'],
    ]);
  });

  await t.test('a host or an address alone is no URL: search finds its URLs', async () => {
    const { stdout } = await check(['-', '--json'], 'bad[.]example\n203.0.113.7\n[2001:db8::1]\nbad.example/a\n');
    assert.deepEqual(
      jsonLines(stdout).map(({ message }) => message),
      [
        'This is a host name, not a URL. To find its URLs: urlwarden search --host bad.example',
        'This is an address, not a URL. To find its URLs: urlwarden search --ip 203.0.113.7',
        'This is an address, not a URL. To find its URLs: urlwarden search --ip 2001:db8::1',
        'The URL has no scheme. Begin it with http://, https:// or ftp://.',
      ],
    );
  });

  await t.test('UTF-16 is read, as programs of Windows write it', async () => {
    for (const [flags, text, line] of [
      [['--extract'], `see ${BAD}\r\n`, 1],
      [[], `${BAD}\r\n`, 1],
      [['--column', 'url'], `id,url\r\n1,${BAD}\r\n`, 2],
    ] as const) {
      const { code, stdout, stderr } = await check(['-', ...flags, '--json'], Buffer.from(`\ufeff${text}`, 'utf16le'));
      assert.deepEqual([code, found(stdout)], [3, [[line, BAD]]], stderr);
    }
  });

  await t.test('an input that cannot be read is no input without URLs', async () => {
    const log = Array.from({ length: 999 }, (_, i) => `${i} GET http://h${i * i}.example/${i} 200\n`).join('');
    for (const [flags, bytes, message] of [
      // Signatures of xz and bzip2, with a body without line breaks.
      [
        ['--extract'],
        Buffer.from(`\xfd7zXZ\0${'\x85\x01'.repeat(99)}`, 'latin1'),
        /^This is an xz file: unpack it first/,
      ],
      [['--extract'], Buffer.from('BZh91AY&SY\xca\x03', 'latin1'), /^This is a bzip2 file: unpack it first/],
      [['--extract'], zstdCompressSync(log), /^This is a zstd file: unpack it first/],
      [[], zstdCompressSync(log), /^This is a zstd file: unpack it first/],
      [['--extract'], Buffer.from(log, 'utf16le'), /^This is UTF-16 text\. Convert it/],
    ] as const) {
      const { code, stderr } = await check(['-', ...flags], bytes);
      assert.equal(code, 1, stderr);
      const [summary, reason = ''] = stderr.split('\nstandard input: ');
      assert.match(summary ?? '', / 0 found, /);
      assert.match(reason, message);
    }
    const marked = await check(['-', '--extract'], Buffer.from('\ufeffno URL\r\n', 'utf16le'));
    assert.deepEqual([marked.code, marked.stderr], [0, '1 line, 0 URLs (0 distinct), 0 found, 0 invalid\n']);
  });

  await t.test('--extract finds the URLs of a mail in all of its parts', async () => {
    const { code, stdout } = await check([file('mail.eml', MAIL), '--extract', '--found', '--json']);
    assert.equal(code, 3);
    assert.deepEqual(
      found(stdout).map(([, url]) => url),
      [SILENT, GONE, BAD, BAD, GONE],
    );
  });

  await t.test('--column takes a name in any case, or a number, with and without a heading', async () => {
    const csv = file(
      'report.csv',
      `\ufeffid,URL,note\n1,${BAD},"several\nlines, http://b.example"\n2,,\n3\n4,"${GONE}",x"y\n5,nothing,\n`,
    );
    const byName = await check([csv, '--column', 'url', '--json']);
    assert.deepEqual([byName.code, byName.stderr], [3, '5 rows, 1 URL (1 distinct), 1 found, 3 invalid\n']);
    assert.deepEqual(
      jsonLines(byName.stdout).map(({ line, error }) => [line, error]),
      [
        [2, undefined],
        [5, 'unreadable'],
        [6, 'unreadable'],
        [7, 'missing_scheme'],
      ],
    );
    assert.equal((await check([csv, '--column', '2', '--json'])).stdout, byName.stdout);
    const { stdout } = await check([csv, '--column', 'note', '--extract', '--json']);
    assert.equal(jsonLines(stdout)[0]?.url, 'http://b.example/');
    const bare = await check(['-', '--column', '1', '--json'], `${BAD},1\n${GONE},2\n`);
    assert.deepEqual(found(bare.stdout), [
      [1, BAD],
      [2, GONE],
    ]);
    const dump = await check(['-', '--column', 'url', '--json'], `# A dump\n# id,url\n"1","${BAD}"\n`);
    assert.deepEqual(found(dump.stdout), [[3, BAD]]);
  });

  for (const { args, input = '', message } of [
    {
      args: ['-', '--column', 'ulr'],
      input: 'id,url\n',
      message: '--column: there is no column "ulr". Did you mean "url"? Columns of the first row: id, url',
    },
    {
      args: ['-', '--column', '3'],
      input: 'id,url\n',
      message: '--column: there is no column "3". Columns of the first row: id, url',
    },
    {
      args: ['-', '--column', 'url'],
      input: 'id\turl\n',
      message:
        '--column: there is no column "url". Columns must be separated by commas: save the file again with commas. Columns of the first row: id\\u{9}url',
    },
    { args: ['-', '--column', '0'], message: '--column: columns are counted from 1' },
    { args: ['-', '--csv', '--json'], message: '--csv and --json exclude each other: give one of them' },
    { args: [], message: 'FILE or - is missing' },
    { args: [BAD], message: `FILE is a URL. To look it up: urlwarden lookup '${BAD}'` },
  ]) {
    await t.test(`refused: check ${args.join(' ')} with ${JSON.stringify(input)}`, async () => {
      const { code, stdout, stderr } = await check(args, input);
      assert.deepEqual([code, stdout, stderr], [2, '', `${message}\nSee: urlwarden check --help\n`]);
    });
  }

  await t.test('a missing file and missing data are failures', async () => {
    const missing = await check([join(folder, 'missing')]);
    assert.deepEqual([missing.code, missing.stdout], [1, '']);
    assert.match(missing.stderr, /there is no such file/);
    const ofFolder = await check([folder]);
    assert.deepEqual([ofFolder.code, ofFolder.stdout], [1, '']);
    assert.match(ofFolder.stderr, /: is a folder; check takes a file, or - for standard input\n$/);
    const stdin = openSync(folder, 'r');
    t.after(() => closeSync(stdin));
    for (const args of [
      ['check', '-'],
      ['import', 'url-list', '-'],
    ]) {
      const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args, ...place], {
        stdio: [stdin, 'pipe', 'pipe'],
      });
      assert.deepEqual([status, `${stderr}`], [1, 'standard input: is a folder; choose a file in it\n']);
    }
    const empty = await urlwarden(['check', '-', '--data', temporaryFolder(t)], BAD);
    assert.deepEqual([empty.code, empty.stdout], [1, '']);
  });

  await t.test('a CSV of 100,000 rows is quick, in order, and a reader may stop early', async () => {
    const rows = Array.from(
      { length: 100_000 },
      (_, i) => `${i},${i % 1000 === 0 ? BAD : `http://h${i}.example/p?q=${i}`},GET\n`,
    );
    const csv = file('large.csv', `id,url,method\n${rows.join('')}`);
    for (const flags of [['--column', 'url'], ['--extract']]) {
      const startMs = performance.now();
      const { code, stdout, stderr } = await check([csv, ...flags, '--json']);
      assert.ok(performance.now() - startMs < 30_000);
      // On a slow machine there are lines about the progress before it.
      assert.match(stderr, /^100,00[01] (rows|lines), 100,000 URLs \(99,901 distinct\), 100 found, 0 invalid\n$/m);
      assert.equal(code, 3);
      assert.deepEqual(
        jsonLines(stdout).map(({ line }) => line),
        rows.map((_, i) => i + 2),
      );
    }
    const child = spawn(process.execPath, [PROGRAM, 'check', csv, '--column', 'url', '--json', ...place]);
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdout.once('data', () => child.stdout.destroy());
    const code = await new Promise((resolve) => child.on('close', resolve));
    assert.deepEqual([code, stderr], [3, '']);
  });

  await t.test('on a terminal the table fits, and the bar is gone at the end', async () => {
    const long = `http://long.example/${'a'.repeat(300)}`;
    // More than one chunk: the bar is drawn between two parts of the table.
    const others = Array.from({ length: 4_000 }, (_, i) => `http://other${i}.example/\n`).join('');
    const list = file('list', `${BAD}\n${long}\n${others}`);
    const { code, screen, written } = await onTerminal(['check', list, ...place]);
    assert.equal(code, 3);
    assert.ok(screen.trimEnd().endsWith('4,002 lines, 4,002 URLs (4,002 distinct), 1 found, 0 invalid'));
    const lines = screen.split('\n');
    assert.match(lines.find((line) => line.includes('http://long')) ?? '', /http:\/\/long.*…a+$/);
    for (const line of lines) assert.ok((line.split('\r').at(-1)?.length ?? 0) <= 80, line);
    assert.ok(written.includes('1 found\r\u001b[K'), JSON.stringify(written));
  });

  await t.test('on a narrow terminal each URL has a line of its own', (t) => {
    const { COLUMNS } = process.env;
    t.after(() => (COLUMNS === undefined ? delete process.env.COLUMNS : Object.assign(process.env, { COLUMNS })));
    process.env.COLUMNS = '40';
    const { heading, print } = tableFormat(true);
    const url = `http://bad.example/${'a'.repeat(40)}`;
    assert.equal(
      heading + print({ entry: { line: 1, input: url, ok: true, url }, last: null }),
      `   LINE  RESULT     SINCE       FAMILY
  URL
      1  not known
  http://bad.example/…aaaaaaaaaaaaaaaaaa
`,
    );
  });
});

/** Native format of Squid: time, duration, client, result, size, method, URL, user, peer, type. One line has a byte of Latin-1. */
const SQUID_LOG = Buffer.from(
  `1769860800.123     87 192.0.2.10 TCP_MISS/200 4213 GET http://unknown.example/index.html - HIER_DIRECT/198.51.100.7 text/html
1769860801.456    102 192.0.2.11 TCP_MISS/200 102440 GET ${BAD} ada HIER_DIRECT/203.0.113.7 application/octet-stream
1769860802.001   5120 192.0.2.10 TCP_TUNNEL/200 9120 CONNECT gone.example:443 - HIER_DIRECT/198.51.100.8 -
1769860803.777      3 192.0.2.12 TCP_HIT/200 512 GET ${BAD} - HIER_NONE/- text/plain http://caf.example/\xe9
1769860804.100      0 192.0.2.13 NONE/400 3890 GET error:invalid-request - HIER_NONE/- text/html
`,
  'latin1',
);

const HTML = `<html><p>Open <a href="${BAD.replace('&', '&amp;')}">the file</a></p></html>\n`;

const MAIL = `Return-Path: <ada@example.com>
From: Ada <ada@example.com>
List-Unsubscribe: <${SILENT}>
MIME-Version: 1.0
Content-Type: multipart/alternative;
 boundary="b1_example"

This is a message in MIME format.

--b1_example
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Pr=FCfen Sie Ihr Konto (https://gone=
.example/), und http://bad.example/a?x=3D=
1&y=3D2.

--b1_example
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: base64

${(
  Buffer.from(HTML)
    .toString('base64')
    .match(/.{1,76}/g) ?? []
).join('\n')}

--b1_example--

Forwarded: hxxps://gone[.]example
`.replaceAll('\n', '\r\n');
