import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import postgres from 'postgres';
import { type Intelligence, openIntelligence } from '../../src/app/stores.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hashOf, seen } from '../urls/contract/observations.ts';
import { urlwarden } from './urlwarden.ts';

const DAY = 86_400;
const NOW = Math.floor(Date.now() / 1000);
/** 2026-01-31T12:00:00Z */
const T = 1_769_860_800;

const URL = 'http://bad.example/a';
const IPV6_URL = 'http://[2001:db8::1]/b.c';
const OLD_URL = 'http://old.example/';
const SILENT_URL = 'http://silent.example/';
const TLS_URL = 'https://tls.example/';
const LISTED_URL = 'http://listed.example/';

const PAYLOAD = {
  ts: T + 2 * DAY,
  mime_type: null,
  file_type: 'elf',
  file_ext: null,
  file_size: 102_440,
  file_name: 'mips\u001b[2J',
  sha256_hash: hashOf('b'),
  'malware-family': 'Mirai',
};
const ADDRESSES = [
  { ip: '192.0.2.7', asn: 64_500, ts: T + 4 * DAY },
  { ip: '2001:db8::7', asn: null, ts: T + DAY },
];
const STATUS = { ts: T + 3 * DAY, status: 'offline', removal: 'takedown', reporter: 'eve', confirmed: T + 4 * DAY };

async function fill(store: Intelligence): Promise<void> {
  const file = { fileType: 'elf', fileSize: 102_440, fileName: 'mips', family: 'Mirai', sha256: hashOf('b') };
  const online = seen({ ts: T + 2 * DAY, url: URL, payload: file });
  // Alone in the first batch: its id is 1.
  await store.apply([
    seen({ ts: T, url: URL, reporter: 'ada', ip: '192.0.2.7', asn: 64_500, payload: { sha256: hashOf('a') } }),
  ]);
  await store.apply([
    seen({ ts: T + DAY, url: URL, reporter: 'ada', ip: '2001:db8::7' }),
    // An import refuses control characters; a terminal must not get those that are stored.
    { ...online, payload: { ...file, ts: T + 2 * DAY, fileName: PAYLOAD.file_name, mimeType: null, fileExt: null } },
    seen({ ts: T + 3 * DAY, url: URL, status: 'removed', removal: 'takedown', reporter: 'eve' }),
    seen({ ts: T + 4 * DAY, url: URL, status: 'offline', ip: '192.0.2.7' }),
    seen({ ts: 1_000_000_000, url: OLD_URL }),
    seen({ ts: NOW - 10 * DAY, url: IPV6_URL, asn: 64_501 }),
    seen({ ts: T, url: SILENT_URL, status: null }),
    seen({ ts: T, url: TLS_URL }),
  ]);
  await store.apply([seen({ ts: T, url: LISTED_URL })], { feed: 'hourly', ts: T });
  await store.finishListing({ feed: 'hourly', ts: T });
  await store.finishListing({ feed: 'hourly', ts: T + DAY });
}

const TAGS = `
  insert into tags (id, name, folded) values (1, 'Mirai', 'mirai'), (2, '32-bit', '32-bit'), (3, 'elf', 'elf');
  insert into url_tags (url_id, tag_id) values (1, 1), (1, 3), (1, 2), (99, 3)`;

/** Each gives the flags of its place. The store stays open, as that of a running server. */
const ENGINES: Record<string, (t: TestContext) => Promise<string[]>> = {
  async 'a data folder'(t) {
    const dataDir = temporaryFolder(t);
    const store = await openIntelligence({ dataDir });
    t.after(() => store.close());
    await fill(store);
    const db = new DatabaseSync(dataFiles(dataDir).intelligence);
    db.exec(TAGS);
    db.close();
    return ['--data', dataDir];
  },
  async PostgreSQL(t) {
    const url = await temporaryDatabase(t);
    const store = await openIntelligence({ dataDir: '', databaseUrl: url, databaseConnections: 2 });
    t.after(() => store.close());
    await fill(store);
    const sql = postgres(url, { max: 1 });
    await sql.unsafe(TAGS);
    await sql.end();
    return ['--database-url', url];
  },
};

for (const [name, open] of Object.entries(ENGINES)) {
  test(`lookup and search on ${name}`, async (t) => {
    const place = await open(t);
    const lookup = (args: string[], stdin = '') => urlwarden(['lookup', ...args, ...place], stdin);
    const search = (...args: string[]) => urlwarden(['search', ...args, ...place]);

    await t.test('text for people', async () => {
      const { code, stdout, stderr } = await lookup(['hxxp://bad[.]example/a']);
      assert.deepEqual([code, stderr], [0, '']);
      const [before, after, ...more] = stdout.split(/, \d+ d ago/);
      assert.deepEqual(more, []);
      assert.equal(
        before,
        `http://bad.example/a
  asked for  hxxp://bad[.]example/a
  status     offline since 2026-02-03T12:00:00Z (removed)
  confirmed  2026-02-04T12:00:00Z`,
      );
      assert.equal(
        after,
        `
  reason     takedown
  reporter   eve
  payload    2026-02-02T12:00:00Z  Mirai, elf, 102,440 bytes, mips\\u{1b}[2J
             ${hashOf('b')}
  addresses  2026-02-04T12:00:00Z  192.0.2.7    AS64500
             2026-02-01T12:00:00Z  2001:db8::7
  tags       32-bit, Mirai, elf
`,
      );
    });

    await t.test('--history has all events and payloads', async () => {
      const { stdout } = await lookup(['--history', URL]);
      const rows = `
  events     TIME                  STATUS   CONFIRMED             REPORTER  REASON
             2026-02-03T12:00:00Z  removed  2026-02-04T12:00:00Z  eve       takedown
             2026-01-31T12:00:00Z  added    2026-02-02T12:00:00Z  ada
  payloads   2026-02-02T12:00:00Z  Mirai, elf, 102,440 bytes, mips\\u{1b}[2J
             ${hashOf('b')}
             2026-01-31T12:00:00Z
             ${hashOf('a')}
  addresses  `;
      assert.ok(stdout.includes(rows), stdout);
      for (const line of stdout.split('\n')) assert.ok(line.length <= 85, line);
    });

    await t.test('--json has the keys of the API, and confirmed, addresses and tags', async () => {
      const last = await lookup(['--json', URL]);
      const tags = ['32-bit', 'Mirai', 'elf'];
      const common = { addresses: ADDRESSES, tags };
      assert.deepEqual(JSON.parse(last.stdout), { id: 1, url: URL, status: STATUS, payload: PAYLOAD, ...common });
      const history = await lookup(['--json', '--history', URL]);
      const { events, payloads, ...rest } = JSON.parse(history.stdout);
      assert.deepEqual(rest, { id: 1, url: URL, ...common });
      const added = { ts: T, status: 'added', removal: '', reporter: 'ada', confirmed: T + 2 * DAY };
      assert.deepEqual(events, [{ ...STATUS, status: 'removed' }, added]);
      assert.deepEqual([payloads.length, payloads[0]], [2, PAYLOAD]);
    });

    await t.test('an implied offline, an unknown status, a bad and an unknown URL beside each other', async () => {
      const { code, stdout } = await lookup([
        LISTED_URL,
        SILENT_URL,
        'bad.example',
        '[2001:db8::1]',
        'http://unknown.example',
      ]);
      assert.equal(code, 0);
      assert.equal(
        stdout,
        `${LISTED_URL}
  status     offline since 2026-02-01T12:00:00Z
  confirmed  by nobody: missing from a complete listing of hourly
  reporter   hourly
${SILENT_URL}
  status     unknown: nobody reported one
bad.example
  This is a host name, not a URL. To find its URLs: urlwarden search --host bad.example
[2001:db8::1]
  This is an address, not a URL. To find its URLs: urlwarden search --ip 2001:db8::1
http://unknown.example/
  asked for  http://unknown.example
  not known
`,
      );
    });

    await t.test('- reads standard input, one JSON value per line comes out', async () => {
      const input = `\ufeff${URL}\r\n\n<hxxp://[2001[:]db8[:][:]1]/b[.]c>\nftp//x\nhttp://unknown.example/`;
      const { code, stdout } = await lookup(['--json', '-', SILENT_URL], input);
      const lines = stdout.trimEnd().split('\n');
      const found = lines.map((line) => JSON.parse(line)).map(({ url, error }) => [url, error]);
      assert.equal(code, 0);
      assert.deepEqual(found, [
        [URL, undefined],
        [IPV6_URL, undefined],
        ['ftp//x', 'missing_scheme'],
        ['http://unknown.example/', 'not_found'],
        [SILENT_URL, undefined],
      ]);
    });

    await t.test('without a scheme, http:// is looked up first, then https://', async () => {
      const texts = [
        'bad[.]example/a',
        '//bad.example/a',
        'tls.example:443/',
        'bad[.]example/b[.]c',
        'bad.example/b[.]c',
        '192.0.2.7',
      ];
      const { stdout } = await lookup(['--json', ...texts]);
      const found = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.deepEqual(
        found.map(({ url, error }) => [url, error]),
        [
          [URL, undefined],
          [URL, undefined],
          [TLS_URL, undefined],
          ['http://bad.example/b.c', 'not_found'],
          ['http://bad.example/b%5B.%5Dc', 'not_found'],
          ['192.0.2.7', 'missing_scheme'],
        ],
      );
    });

    await t.test('a text with many dots is refused at once', async () => {
      const text = `${'a.'.repeat(60)}@`; // with one more dot, it took twice as long: 26 of them 10 s
      const { stdout } = await lookup(['--json', text]);
      assert.equal(JSON.parse(stdout).error, 'missing_scheme');
    });

    await t.test('the exit code is 1 if no URL is known', async () => {
      assert.equal((await lookup(['http://unknown.example/', 'x'])).code, 1);
      assert.deepEqual(await lookup(['-'], '\n'), { code: 1, stdout: '', stderr: 'Standard input has no URL.\n' });
    });

    await t.test('an empty operand is refused, an empty line is skipped', async () => {
      const reason = 'The URL is empty. Send a URL such as http://example.com/.';
      const text = await lookup(['', ' ']);
      assert.deepEqual([text.code, text.stdout], [1, `""\n  ${reason}\n" "\n  ${reason}\n`]);
      assert.equal((await lookup(['', '-', '--json'], '\n \n')).stdout, '{"url":"","error":"empty"}\n');
    });

    await t.test('search by every key', async () => {
      const all = ['--since', '2026-01-01', '--json'];
      const times = async (...args: string[]) => {
        const { code, stdout, stderr } = await search(...args, ...all);
        assert.deepEqual([code, stderr], [0, ''], args.join(' '));
        const lines = stdout.trimEnd().split('\n');
        return lines.map((line) => JSON.parse(line)).map(({ ts, id, url }) => [ts, id, url]);
      };
      const at = (ts: number) => [ts, 1, URL];
      assert.deepEqual((await times('--ip', '192[.]0[.]2[.]0/24')).sort(), [at(T), at(T + 4 * DAY)]);
      assert.deepEqual((await times('--host', 'Bad[.]Example')).sort(), [at(T), at(T + 3 * DAY)]);
      assert.deepEqual(await times('--asn', 'AS64500', '--until', '2026-02-01'), [at(T)]);
      assert.deepEqual(await times('--family', 'mirai'), [at(T + 2 * DAY)]);
      assert.deepEqual(await times('--sha256', hashOf('A')), [at(T)]);
      assert.equal((await times('--host', 'bad.example', '--limit', '1')).length, 1);
    });

    await t.test('search prints a table, and searches all times by default', async () => {
      const { stdout } = await search('--family', 'Mirai', '--since', '2026-01-01', '--until', '2026-12-31');
      assert.equal(stdout, `TIME                  URL\n2026-02-02T12:00:00Z  ${URL}\n`);
      assert.match((await search('--asn', '64501')).stdout, /^TIME +URL\n\S+Z {2}http:\/\/\[2001:db8::1\]\/b\.c\n$/);
      const old = await search('--host', 'old.example');
      assert.equal(old.stdout, `TIME                  URL\n2001-09-09T01:46:40Z  ${OLD_URL}\n`);
      for (const [args, message] of [
        [['--asn', '64509', '--json'], /^Nothing matches\.\n$/],
        [
          ['--host', 'old.example', '--since', '30d'],
          /^Nothing matches since \S+Z\. Without --since and --until all times/,
        ],
        [['--family', 'miray'], /^No malware family "miray" is stored\. Did you mean "Mirai"\?\n$/],
        [['--family', 'Mirai', '--until', '2001-01-01'], /^Nothing matches until 2001-01-01T00:00:00Z\./],
      ] as const) {
        const nothing = await search(...args);
        assert.deepEqual([nothing.code, nothing.stdout], [1, ''], args.join(' '));
        assert.match(nothing.stderr, message);
      }
    });
  });
}

test('mistakes are explained', async (t) => {
  const nowhere = `${temporaryFolder(t)}/nowhere`;
  for (const [args, code, message] of [
    [['lookup'], 2, /^URL or - is missing\n/],
    [
      ['lookup', URL, '--data', nowhere],
      1,
      /^There is no data in .*nowhere: set the data folder with --data, or import a file first: urlwarden import FORMAT FILE\n$/,
    ],
    [['search', '--asn', '1', '--json', '--json', '--data', nowhere], 1, /^There is no data in .*nowhere/],
    [['search'], 2, /^Exactly one of --ip, --host, --asn, --family, --sha256 must be given\n/],
    [['search', '--ip', '192.0.2.1', '--ip', '192.0.2.2'], 2, /^--ip is set twice\nSee: /],
    [['search', '--asn=1', '--since', '1d', '--since=2d'], 2, /^--since is set twice\nSee: /],
    [['search', '--ip', '192.0.2.1', '--asn', '1'], 2, /^Exactly one of /],
    [['search', '--ip', '127.1'], 2, /^--ip must be one IPv4 address of four decimal octets /],
    [['search', '--family', ''], 2, /^--family must be 1 to 128 characters /],
    [['search', '--asn', 'x'], 2, /^--asn must be an integer /],
    [['search', '--asn', '1', '--limit', '0'], 2, /^--limit must be a whole number from 1, not "0"\n/],
    [
      ['search', '--asn', '1', '--since', '2999-01-01'],
      2,
      /^--since must not be in the future: 2999-01-01T00:00:00Z\. /,
    ],
    [['search', '203[.]0.113.7'], 2, / Try: urlwarden search --ip 203\.0\.113\.7\n/],
    [['search', 'bad.example'], 2, / Try: urlwarden search --host bad\.example\n/],
    [['search', 'AS64500'], 2, / Try: urlwarden search --asn AS64500\n/],
    [['search', hashOf('a')], 2, / Try: urlwarden search --sha256 /],
    [['search', 'Mozi'], 2, / Try: urlwarden search --family Mozi\n/],
    [['search', 'bad.example/a'], 2, /^A URL is looked up with: urlwarden lookup bad\.example\/a\n/],
    [['search', '--asn', '1', '--since', '20', '--until', '10'], 2, /^--since must not be after --until\n/],
  ] as const) {
    const outcome = await urlwarden([...args]);
    assert.deepEqual([outcome.code, outcome.stdout], [code, ''], args.join(' '));
    assert.match(outcome.stderr, message);
  }
});

test('a file and an address instead of a URL are explained', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  await store.close();
  const file = `${dataDir}/urls.txt`;
  writeFileSync(file, '');
  const { code, stdout } = await urlwarden(['lookup', '192.0.2.7', file, '--data', dataDir]);
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^192\.0\.2\.7\n.* urlwarden search --ip 192\.0\.2\.7\n.*\n.* urlwarden lookup - < .*urls\.txt\n$/,
  );
});

test('commands about addresses and domains accept defanged ones', async (t) => {
  const data = ['--data', temporaryFolder(t)];
  for (const [args, text] of [
    [
      ['listing', 'add', '203[.]0[.]113[.]7', '--dataset', 'BCL', '--allow-reserved'],
      /^203\.0\.113\.7 is listed in BCL /,
    ],
    [['listing', 'show', '203(.)0.113.7'], /^NETWORK .*\n203\.0\.113\.7 /],
    [['listing', 'remove', '203[dot]0.113.7'], /^Removed 203\.0\.113\.7 /],
    [['allow', 'add', '2001[:]db8[:][:]/32'], /^2001:db8::\/32 is on the allow list/],
    [['allow', 'remove', '<2001:db8::/32>'], /^2001:db8::\/32 is no longer/],
    [['domain', 'set', 'bad[.]example', '--abused', 'no'], /^bad\.example has /],
    [['domain', 'show', '"bad{.}example"'], /^domain +bad\.example\n/],
  ] as const) {
    const { code, stdout, stderr } = await urlwarden([...args, ...data]);
    assert.deepEqual([code, stderr], [0, ''], args.join(' '));
    assert.match(stdout, text);
  }
});
