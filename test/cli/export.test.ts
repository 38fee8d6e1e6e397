import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { csvRow } from '../../src/core/csv.ts';
import { observationAt } from '../../tools/soak/observations.ts';
import { PROGRAM, urlwarden } from './urlwarden.ts';

const LINES = [
  {
    ts: 1_000,
    url: 'http://203.0.113.7/a.sh',
    status: 'online',
    reporter: '=cmd()',
    ip: '203.0.113.7',
    asn: 64_500,
    tags: ['elf', 'Mozi', '=1'],
    payload: { file_name: 'a,"b".sh', sha256_hash: 'a'.repeat(64), 'malware-family': 'Mirai', file_size: 12 },
  },
  { ts: 2_000, url: 'http://b.example/1', status: 'offline', reporter: 'bob' },
  { ts: 3_000, url: 'http://b.example/2', status: 'online', ip: ['198.51.100.1', '2001:db8::1'] },
  { ts: 4_000, url: 'http://c.example/', status: 'removed', removal: 'taken down', reporter: '-1' },
  { ts: 100, url: 'http://c.example/', status: 'online' },
  { ts: 5_000, url: 'http://[2001:db8::2]/x', status: null, payload: { file_type: 'elf' } },
];

const OBSERVATION = { ts: 1_000, url: 'http://192.0.2.9/a', status: 'online' };
const LISTED = { ts: 5_000, cidr: '198.51.100.0/24', dataset: 'DROP', feed: 'drop', listed: 2_000 };
const CONTROLLER = { ts: 2_000, ip: '203.0.113.7', dataset: 'BCL', feed: 'c2', botname: 'Mirai', dstport: 443 };
const NAMED = { ts: 3_000, domain: 'cc.bad.example', kind: 'botnetcc', feed: 'c2', confidence: 75, botname: 'Mirai' };
const ADDRESS = { ts: 2_000, domain: 'cc.bad.example', a: ['203.0.113.7'] };
const SERVER = { ts: 2_100, domain: 'bad.example', ns: ['ns1.other.example'] };
const SENDER = { ts: 2_200, domain: 'bad.example', sender: { ip: '192.0.2.25', helo: 'mx.bad.example' } };
const WHOIS = { ts: 2_300, domain: 'bad.example', whois: { created: 1_000, expires: 9_000, registrar: 'Registrar A' } };
const RANK = { ts: 2_400, domain: 'good.example', feed: 'top', rank: 12 };

/** Not in the order of an export, and one listing in two pieces. */
const EVIDENCE = [
  RANK,
  WHOIS,
  SENDER,
  SERVER,
  { ...ADDRESS, a: ['203.0.113.7'] },
  NAMED,
  CONTROLLER,
  { ...LISTED, listed: undefined },
  { ...LISTED, ts: 2_000, listed: undefined },
  OBSERVATION,
];
const EXPORTED = [
  OBSERVATION,
  { ...OBSERVATION, status: null, ip: '192.0.2.9' },
  LISTED,
  CONTROLLER,
  NAMED,
  ADDRESS,
  SERVER,
  SENDER,
  WHOIS,
  RANK,
];

suite('urlwarden export', () => {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-test-'));
  const data = join(folder, 'data');
  const run = (...args: string[]) => urlwarden([...args, '--data', data]);
  const lines = async (...args: string[]) => (await run('export', ...args)).stdout.split(/\r?\n/).slice(0, -1);

  before(async () => {
    const text = LINES.map((line) => `${JSON.stringify(line)}\n`).join('');
    const { code, stdout } = await urlwarden(['import', 'ndjson', '-', '--data', data], text);
    assert.deepEqual([code, /rejected +(\d+)/.exec(stdout)?.[1]], [0, '0'], stdout);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('export, import into an empty folder and export again give the same bytes', async () => {
    const first = await run('export');
    assert.equal(first.code, 0);
    const other = join(folder, 'other');
    const back = await urlwarden(['import', 'ndjson', '-', '--data', other], first.stdout);
    assert.match(back.stdout, /rejected +0\nnew URLs +5\n/);
    const second = await urlwarden(['export', '--data', other]);
    assert.equal(second.stdout, first.stdout);
    assert.ok(first.stdout.split('\n').length > LINES.length);
  });

  test('an empty family is unknown, and spaces around one are removed', async () => {
    const families = ['', ' Mirai '].map((family, i) => {
      return { ts: 1_000, url: `http://d.example/${i}`, payload: { file_ext: 'sh', 'malware-family': family } };
    });
    const dir = join(folder, 'families');
    await urlwarden(
      ['import', 'ndjson', '-', '--data', dir],
      families.map((line) => `${JSON.stringify(line)}\n`).join(''),
    );
    const { stdout } = await urlwarden(['export', '--data', dir]);
    const payloads = stdout.split('\n').flatMap((line) => (line.includes('payload') ? [JSON.parse(line).payload] : []));
    const unknown = { ts: 1_000, file_ext: 'sh' };
    assert.deepEqual(payloads, [unknown, { ...unknown, 'malware-family': 'Mirai' }]);
  });

  test('evidence and facts follow the URLs, and survive an import into an empty folder', async () => {
    const [one, two] = [join(folder, 'evidence'), join(folder, 'evidence-copy')];
    const load = async (dir: string, text: string) => {
      const { code, stdout } = await urlwarden(['import', 'ndjson', '-', '--allow-reserved', '--data', dir], text);
      assert.deepEqual([code, /rejected +(\d+)/.exec(stdout)?.[1]], [0, '0'], stdout);
    };
    await load(one, EVIDENCE.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const first = await urlwarden(['export', '--data', one]);
    assert.deepEqual([first.code, first.stderr], [0, '']);
    const written = first.stdout.trimEnd().split('\n');
    assert.deepEqual(
      written.map((line) => JSON.parse(line)),
      EXPORTED,
    );
    await load(two, first.stdout);
    assert.equal((await urlwarden(['export', '--data', two])).stdout, first.stdout);

    const since = await urlwarden(['export', '--since', '2500', '--data', one]);
    assert.deepEqual(
      since.stdout.trimEnd().split('\n'),
      written.filter((line) => JSON.parse(line).ts >= 2_500),
    );
    const online = await urlwarden(['export', '--status', 'online', '--data', one]);
    assert.equal(online.stdout, `${written[0]}\n${written[1]}\n`, 'evidence has no status');
  });

  test('csv has one row per URL and no cell that a spreadsheet would run', async () => {
    const [heading, ...rows] = await lines('--format', 'csv');
    assert.match(heading ?? '', /^url,status,ts,removal,reporter,payload_ts,sha256_hash,/);
    assert.equal(rows.length, 5);
    const hash = 'a'.repeat(64);
    for (const row of [
      `http://203.0.113.7/a.sh,online,1000,,'=cmd(),1000,${hash},,,,12,"a,""b"".sh",Mirai,"'=1,Mozi,elf"`,
      `http://c.example/,offline,4000,taken down,'-1,,,,,,,,,`,
      'http://[2001:db8::2]/x,,,,,5000,,,elf,,,,,',
    ]) {
      assert.ok(rows.includes(row), `${row} is not among\n${rows.join('\n')}`);
    }
  });

  test('--columns selects and orders columns, --time iso writes dates', async () => {
    const rows = await lines('--format', 'csv', '--time', 'iso', '--columns', 'asn,ip, confirmed,payload_ts,ts,url');
    assert.deepEqual(rows.toSorted(), [
      ',,1970-01-01T00:33:20Z,,1970-01-01T00:33:20Z,http://b.example/1',
      ',,1970-01-01T01:06:40Z,,1970-01-01T01:06:40Z,http://c.example/',
      ',198.51.100.1,1970-01-01T00:50:00Z,,1970-01-01T00:50:00Z,http://b.example/2',
      ',2001:db8::2,,1970-01-01T01:23:20Z,,http://[2001:db8::2]/x',
      '64500,203.0.113.7,1970-01-01T00:16:40Z,1970-01-01T00:16:40Z,1970-01-01T00:16:40Z,http://203.0.113.7/a.sh',
      'asn,ip,confirmed,payload_ts,ts,url',
    ]);
    assert.deepEqual(
      (await lines('--format', 'csv', '--time', 'unix', '--status', 'online', '--columns', 'confirmed')).toSorted(),
      ['1000', '3000', 'confirmed'],
    );
  });

  test('url-list has each URL once', async () => {
    assert.deepEqual(
      (await lines('--format', 'url-list')).toSorted(),
      [...new Set(LINES.map(({ url }) => url))].sort(),
    );
  });

  test('--tag selects URLs with a tag in any letter case, and no evidence', async () => {
    assert.deepEqual(await lines('--format', 'url-list', '--tag', 'MOZI'), ['http://203.0.113.7/a.sh']);
    assert.deepEqual(await lines('--tag', 'moz'), []);
    const [first] = await lines('--tag', 'mozi');
    assert.deepEqual(JSON.parse(first ?? '').tags, ['=1', 'Mozi', 'elf']);
  });

  test('--status and --since select URLs', async () => {
    const urls = (...args: string[]) => lines('--format', 'url-list', ...args).then((found) => found.toSorted());
    assert.deepEqual(await urls('--status', 'online'), ['http://203.0.113.7/a.sh', 'http://b.example/2']);
    assert.deepEqual(await urls('--status', 'offline'), ['http://b.example/1', 'http://c.example/']);
    assert.deepEqual(await urls('--since', '4000'), ['http://[2001:db8::2]/x', 'http://c.example/']);
    assert.deepEqual(await urls('--since', '1970-01-01T01:06:41'), ['http://[2001:db8::2]/x']);
  });

  test('every format that the documentation names for all data is one', async () => {
    const text = readFileSync(new URL('../../docs/importing.md', import.meta.url), 'utf8');
    const [, names = ''] = /^urlwarden export \[--format ([^\]]+)\]/m.exec(text) ?? [];
    assert.equal(names, 'ndjson|csv|url-list');
    for (const name of names.split('|')) assert.equal((await run('export', '--format', name)).code, 0, name);
  });

  const mistakes: [string[], number, RegExp][] = [
    [['--format', 'xml'], 2, /^--format must be one of ndjson, csv, url-list, not "xml"\n/],
    [['--status', 'removed'], 2, /^--status must be online or offline, not "removed"\n/],
    [['--time', 'iso'], 2, /^--time has no meaning for the format ndjson: add --format csv\n/],
    [['--format', 'hosts'], 2, /^hosts is a format of lists: add --list, for example --list hosts-malware\n/],
    [['--max', '10'], 2, /^--max has no meaning for all data: add --list\n/],
    [['--list', 'urls-online', '--status', 'online'], 2, /^--status has no meaning for a list: /],
    [['--list', 'urls-onlin'], 2, /^There is no list "urls-onlin"\. Did you mean "urls-online"\? Lists: urls-online, /],
    [['--list', 'urls-online', '--format', 'rpz'], 2, /^The list urls-online has urls; --format must be one of txt, /],
    [
      ['--list', 'urls-online', '--profile', 'toaster'],
      2,
      /^--profile must be one of pan-os, fortigate, not "toaster"/,
    ],
    [['--list', 'urls-online', '--max', '0'], 2, /^--max must be a whole number from 1, not "0"\n/],
    [['--list', 'urls-online', '--max', '9'.repeat(16)], 2, /^--max must be a whole number from 1, not "9+"\n/],
    [['--list', 'urls-online', '--explain', 'a b'], 2, /^--explain: a b is no URL, host name or network\n/],
    [['--format', 'csv', '--time', 'local'], 2, /^--time must be one of iso, unix, not "local"\n/],
    [
      ['--format', 'csv', '--columns', 'url,staus'],
      2,
      /^--columns: there is no column "staus"\. Did you mean "status"\? Columns: url, status, ts, .*, ip, asn, confirmed\n/,
    ],
    [['--format', 'csv', '--columns', ''], 2, /^--columns: there is no column ""\. Columns: url,/],
    [['--format', 'json'], 2, / Did you mean "ndjson"\?\n/],
    [['--since', 'yesterday'], 2, /^--since must be Unix seconds or a time such as/],
  ];
  for (const [args, code, message] of mistakes) {
    test(`${args.join(' ')} is explained`, async () => {
      const outcome = await run('export', ...args);
      assert.equal(outcome.code, code);
      assert.match(outcome.stderr, message);
    });
  }

  test('a missing folder is reported and not created', async () => {
    const missing = join(folder, 'missing');
    const { code, stderr } = await urlwarden(['export', '--data', missing]);
    assert.deepEqual(
      [code, stderr],
      [
        1,
        `There is no data in ${missing}: set the data folder with --data, or import a file first: urlwarden import FORMAT FILE\n`,
      ],
    );
    assert.equal(existsSync(missing), false);
  });

  test('a closed pipe ends export without an error', async () => {
    const large = join(folder, 'large');
    const store = await openIntelligence({ dataDir: large });
    await store.apply(Array.from({ length: 5_000 }, (_, i) => observationAt(i)));
    await store.close();
    const child = spawn(process.execPath, [PROGRAM, 'export', '--data', large]);
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [code] = await once(child, 'close');
    assert.deepEqual([code, errors], [0, '']);
  });
});

test('CSV cells are quoted, and formulas are escaped', () => {
  const cells: [string | number | null, string][] = [
    ['plain', 'plain'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@sum', "'@sum"],
    ['\tx', "'\tx"],
    ['\rx', '"\'\rx"'],
    ['=a,"b"', '"\'=a,""b"""'],
    ['a=b', 'a=b'],
    [-1, '-1'],
    [null, ''],
  ];
  for (const [cell, expected] of cells) assert.equal(csvRow([cell]), `${expected}\r\n`);
});
