import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { openControl, openIntelligence } from '../../src/app/stores.ts';
import { NO_COUNTS } from '../../src/ingest/store.ts';
import { urlhausDump } from '../../tools/shared/urlhaus-dump.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { find } from '../urls/contract/observations.ts';
import { newestEventOf } from '../urls/results.ts';
import { PROGRAM, startUrlwarden, urlwarden } from './urlwarden.ts';

const HEADER = 'id,dateadded,url,url_status,last_online,threat,tags,urlhaus_link,reporter\n';

function csvOf(time: string, ...names: string[]): string {
  const rows = names.map((name, i) => `"${i}","${time}","http://${name}.example/","online","","","","","ada"\n`);
  return HEADER + rows.join('');
}

function open(t: TestContext) {
  const folder = temporaryFolder(t);
  const data = join(folder, 'data');
  return {
    data,
    file(name: string, content: string | Buffer): string {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
    run: (...args: string[]) => urlwarden([...args, '--data', data]),
    pipe: (stdin: string | Buffer, ...args: string[]) => urlwarden([...args, '--data', data], stdin),
    async statusOf(name: string): Promise<string | undefined> {
      const store = await openIntelligence({ dataDir: data });
      const event = await newestEventOf(store, `http://${name}.example/`);
      await store.close();
      return event?.status;
    },
  };
}

suite('urlwarden import', () => {
  test('tags that name families are found by family: built-in names, and those of --families', async (t) => {
    const { run, file, data } = open(t);
    const csv = csvOf('2026-01-01 00:00:00', 'a').replace('"","","ada"', '"elf,mozi,ownbot","","ada"');
    const families = file('families.txt', 'OwnBot # ours\n');
    const wrong = await run('import', 'urlhaus-csv', file('dump.csv', csv), '--families', file('wrong.txt', 'elf\n'));
    assert.deepEqual([wrong.code, /line 1: "elf": is a type of file/.test(wrong.stderr)], [1, true], wrong.stderr);
    const done = await run('import', 'urlhaus-csv', file('dump.csv', csv), '--families', families);
    assert.deepEqual([done.code, /payloads added +(\d+)/.exec(done.stdout)?.[1]], [0, '2'], done.stderr);
    const store = await openIntelligence({ dataDir: data });
    t.after(() => store.close());
    for (const [name, count] of [
      ['Mozi', 1],
      ['OWNBOT', 1],
      ['elf', 0],
    ] as const) {
      assert.equal((await find(store, 'malware_family', name)).length, count, name);
    }
  });

  test('a file is imported; the same rows again, compressed or from standard input, change nothing', async (t) => {
    const { run, pipe, file, statusOf } = open(t);
    const csv = csvOf('2026-01-01 00:00:00', 'a', 'b');
    const first = await run('import', 'urlhaus-csv', file('dump.csv', csv));
    assert.equal(first.code, 0);
    assert.match(first.stderr, /^Created the data folder .*\n$/);
    assert.match(first.stdout, /^rows read +2 in [\d.]+ s \([\d,]+\/s\)\nrejected +0\nnew URLs +2\n/);
    assert.equal(await statusOf('a'), 'added');
    for (const again of [
      await run('import', 'urlhaus-csv', file('dump.csv.gz', gzipSync(csv))),
      await pipe(csv, 'import', 'urlhaus-csv', '-'),
    ]) {
      assert.equal(again.code, 0);
      assert.match(again.stdout, /rows read +2 .*\nrejected +0\nnew URLs +0\nevents changed +0\n/);
    }
  });

  test('flags may be at any position; --json prints the report', async (t) => {
    const { run, file } = open(t);
    const dump = file('dump.csv', `${csvOf('2026-01-01 00:00:00', 'a')}nonsense\n`);
    const { code, stdout } = await run('import', '--feed', 'mine', '--json', 'urlhaus-csv', dump);
    assert.equal(code, 0);
    const { id, outcome, read, urlsAdded, rejected } = JSON.parse(stdout);
    assert.deepEqual(
      { id, outcome, read, urlsAdded, rejected },
      { id: 1, outcome: 'done', read: 2, urlsAdded: 1, rejected: 1 },
    );
    const list = JSON.parse((await run('import', 'list', '--json', '--feed', 'mine')).stdout);
    assert.deepEqual([list.length, list[0].feed, list[0].outcome], [1, 'mine', 'done']);
    assert.deepEqual(JSON.parse((await run('import', 'list', '--json', '--feed', 'other')).stdout), []);
    const none = await run('import', 'list', '--feed', 'other');
    assert.equal(none.stdout, 'There are no imports of a feed "other". All imports: urlwarden import list\n');
  });

  test('rejected rows are stored and shown, without control characters', async (t) => {
    const { run, file } = open(t);
    const dump = file(
      'dump.csv',
      `${csvOf('2026-01-01 00:00:00', 'a')}"9","never","http://b.example/","online","","","","","\u001b[2Jx"\n`,
    );
    const report = await run('import', 'urlhaus-csv', dump);
    assert.equal(report.code, 0);
    assert.match(report.stdout, /rejected +1\n[\s\S]*\nline 3: .*\n {2}"9","never".*\\u\{1b\}\[2Jx"\n/);
    const rejects = await run('import', 'rejects');
    assert.match(
      rejects.stdout,
      /^Import 1, urlhaus-csv from .*dump\.csv at .*: 1 rejected\n\nROWS +REASON\n +1 +dateadded: .*\n\nline 3: /,
    );
    const { rejects: rows } = JSON.parse((await run('import', 'rejects', '1', '--json')).stdout);
    assert.deepEqual([rows.length, rows[0].line], [1, 3]);
    const list = await run('import', 'list');
    assert.match(
      list.stdout,
      /^ID +FEED .*\n +1 +urlhaus-csv +\S+ +done +2 +1 +1\n {2}urlhaus-csv from .*dump\.csv\n$/,
    );
    for (const [number, code, message] of [
      ['7', 1, /no import 7/],
      ['x', 2, /^IMPORT must be the number of an import, not "x"\n/],
    ] as const) {
      const missing = await run('import', 'rejects', number);
      assert.equal(missing.code, code);
      assert.match(missing.stderr, message);
    }
  });

  test('an error that quotes a hostile source is shown without control characters', async (t) => {
    const { code, stderr } = await open(t).pipe('<html><title>\u001b]2;x\u009b</title>', 'import', 'stix', '-');
    assert.equal(code, 1);
    assert.match(stderr, /^standard input: This is an HTML page \("[ -~]*\\u\{9b\}"\), [ -~]*\n$/m);
  });

  test('a name that no feed can have is refused, also if it is that of the file', async (t) => {
    const { run, file, data } = open(t);
    const list = file('a|b.txt', '192.0.2.1\n');
    for (const [args, message] of [
      [['--feed', 'a|b'], /^--feed must not be "a\|b": the character \| is not allowed\n/],
      [['--feed', 'a\u001b[2J'], /^--feed must not be "a[ -~]*": control characters/],
      [['--feed', ''], /^--feed must not be "": the name is empty\n/],
      [['--feed', 'operator'], /^--feed must not be "operator": Urlwarden uses/],
      [[], /^--feed must not be "a\|b": the character/],
    ] as const) {
      const refused = await run('import', 'ip-list', list, '--as', 'allow', ...args);
      assert.equal(refused.code, 2);
      assert.match(refused.stderr, message);
    }
    assert.equal(existsSync(data), false);
    const named = await run('import', 'ip-list', list, '--as', 'allow', '--feed', 'Our networks, Zürich');
    assert.equal(named.code, 0, named.stderr);
  });

  test('--strict stops at the first rejected row', async (t) => {
    const { run, file, statusOf } = open(t);
    const dump = file('dump.csv', `${csvOf('2026-01-01 00:00:00', 'a')}nonsense\n`);
    const { code, stderr } = await run('import', 'urlhaus-csv', dump, '--strict');
    assert.equal(code, 1);
    assert.match(stderr, /^Stopped at line 3: /m);
    assert.equal(await statusOf('a'), undefined);
    const list = await run('import', 'url-list', file('list.txt', 'nowhere\n'), '--strict');
    assert.match(list.stderr, /^Stopped at line 1: .* or ftp:\/\/\. Its batch and /m);
  });

  test('--dry-run writes nothing and creates no folder', async (t) => {
    const { run, file, data } = open(t);
    const { code, stdout } = await run(
      'import',
      'urlhaus-csv',
      file('dump.csv', csvOf('2026-01-01 00:00:00', 'a')),
      '--dry-run',
    );
    assert.equal(code, 0);
    assert.match(stdout, /observations +1 \(dry run: nothing was written\)/);
    assert.equal(existsSync(data), false);
  });

  test('--complete takes missing URLs offline, and is refused for more than half of them without --force', async (t) => {
    const { run, file, statusOf } = open(t);
    const [one, two] = [csvOf('2026-01-01 00:00:00', 'a', 'b', 'c'), csvOf('2026-01-02 00:00:00', 'a')];
    await run('import', 'urlhaus-csv', file('1.csv', one), '--complete');
    const refused = await run('import', 'urlhaus-csv', file('2.csv', two), '--complete');
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /Refused\. The listing would take 2 of the 3 .*--force/);
    assert.equal(await statusOf('b'), 'added');
    const forced = await run(
      'import',
      'urlhaus-csv',
      file('2.csv', two),
      '--complete',
      '--force',
      '--as-of',
      '2026-01-03',
    );
    assert.equal(forced.code, 0);
    assert.match(forced.stdout, /went offline +2 by the listing of 2026-01-03T00:00:00Z\n/);
    assert.equal(await statusOf('b'), 'offline');
  });

  const mistakes: [string, string[], RegExp][] = [
    ['no format', [], /^FORMAT is missing\nSee: urlwarden import --help\n$/],
    ['no source', ['ndjson'], /^FILE, URL or - is missing\n/],
    ['an unknown format', ['csv', 'x'], /^There is no format "csv"\.\nFormats:\n {2}urlhaus-csv [\s\S]*\n {2}ndjson /],
    [
      'a misspelt format',
      ['urlhaus_csv'],
      /^There is no format "urlhaus_csv"\. Did you mean "urlhaus-csv"\?\nFormats:\n/,
    ],
    ['a misspelt list', ['lst'], /^There is no format "lst"\. Did you mean "list"\?\n/],
    ['an invalid time', ['ndjson', '-', '--as-of', 'noon'], /^--as-of must be Unix seconds or a time such as/],
    ['an unknown flag', ['ndjson', '-', '--fast'], /^--fast is not a flag of this command\n/],
    ['a misspelt flag', ['ndjson', '-', '--dryrun'], /^--dryrun is not .*\. Did you mean "--dry-run"\?\n/],
    ['the beginning of a flag', ['ndjson', '-', '--dry'], /^--dry is not .*\. Did you mean "--dry-run"\?\n/],
    ['a flag with one dash', ['ndjson', '-', '-dry-run'], /^-dry-run is not .*\. Did you mean "--dry-run"\?\n/],
    ['an empty name', ['ndjson', ''], /^FILE, URL or - is missing\n/],
    ['only a URL', ['https://site.example/x'], /^FORMAT is missing: urlwarden import FORMAT https:.*\nFormats:\n/],
    ['only standard input', ['-'], /^FORMAT is missing: urlwarden import FORMAT -\nFormats:\n/],
    [
      'only a missing file',
      ['no/dump.csv'],
      /^There is no format "no\/dump\.csv", and no file of that name\.\nFormats:/,
    ],
  ];
  for (const [what, args, message] of mistakes) {
    test(`${what} is explained`, async (t) => {
      const { code, stderr } = await open(t).run('import', ...args);
      assert.equal(code, 2);
      assert.match(stderr, message);
    });
  }

  test('a missing file and a URL in a private network are refused', async (t) => {
    const { run } = open(t);
    const missing = await run('import', 'ndjson', '/nowhere/x');
    assert.deepEqual([missing.code, missing.stderr], [1, '/nowhere/x: there is no such file; check the path\n']);
    const inside = await run('import', 'ndjson', 'http://127.0.0.1:1/x');
    assert.equal(inside.code, 1);
    assert.match(inside.stderr, /127\.0\.0\.1 is a blocked address/);
    for (const url of ['ftp://192.0.2.1/', 'hxxps://feeds.example/a']) {
      const other = await run('import', 'ndjson', url);
      const message = `Only http and https URLs are fetched, not ${JSON.stringify(url)}\nSee: urlwarden import --help\n`;
      assert.deepEqual([other.code, other.stderr], [2, message]);
    }
  });

  test('Ctrl-C stops an import and explains how to continue', async (t) => {
    const { data, run } = open(t);
    const child = startUrlwarden(['import', 'urlhaus-csv', '-', '--data', data]);
    child.stdin.write(csvOf('2026-01-01 00:00:00', 'a'));
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    while (!existsSync(join(data, 'intelligence.db'))) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    assert.equal(code, 1);
    assert.match(output, /Stopped\. Run the same command again to continue/);
    const [stopped] = JSON.parse((await run('import', 'list', '--json')).stdout);
    assert.equal(stopped.outcome, 'stopped', 'it is recorded');
  });

  test('import list shows an import whose process is gone as interrupted', async (t) => {
    const { run, data } = open(t);
    const now = Math.floor(Date.now() / 1000);
    const control = await openControl({ dataDir: data });
    const startedAt = (startedTs: number) =>
      control.importStarted({ format: 'misp', feed: 'f', source: 's', startedTs });
    const counts = { ...NO_COUNTS, read: 17 };
    const beatAt = (heartbeatTs: number) => ({ heartbeatTs, counts, writes: 1, recordedWrites: 0 });
    await startedAt(now - 600);
    await control.importRunning(await startedAt(now - 600), beatAt(now - 125));
    await control.importRunning(await startedAt(now - 600), beatAt(now - 60));
    await startedAt(now);
    const finished = await startedAt(now - 600);
    await control.importFinished(finished, { finishedTs: now - 300, outcome: 'failed', counts, error: 'x' });
    await control.close();
    const { stdout } = await run('import', 'list');
    const rows = (stdout.match(/^ *\d+ .*$/gm) ?? []).toReversed();
    assert.deepEqual(
      rows.map((text) => text.trim().split(/ +/).slice(3, 5)),
      [
        ['interrupted', '0'],
        ['interrupted', '17'],
        ['running', '17'],
        ['running', '0'],
        ['failed', '17'],
      ],
      stdout,
    );
    const [newest, , , killed] = JSON.parse((await run('import', 'list', '--json')).stdout);
    assert.deepEqual([newest.state, newest.outcome], ['failed', 'failed']);
    assert.deepEqual([killed.state, killed.outcome, killed.heartbeatTs], ['interrupted', null, now - 125]);
  });

  test('memory does not grow with the size of the source', async (t) => {
    // All rows together would take twice the heap that each thread has here, and end the program.
    const { data, file } = open(t);
    const dump = file('dump.csv', [...urlhausDump({ rows: 60_000, seed: 1 })].join(''));
    const flags = ['--max-semi-space-size=8', '--max-old-space-size=48', '--import', PRINT_PEAK];
    const args = [...flags, PROGRAM, 'import', 'urlhaus-csv', dump, '--data', data];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
    assert.match(stdout, /rows read +60,000 /);
    const peakMb = Number(/peak (\d+) KiB/.exec(stderr)?.[1]) / 1024;
    assert.ok(peakMb < 400, `${peakMb} MB resident`);
  });
});

/** Each thread prints it at its end; the number is that of the whole process. */
const PRINT_PEAK = `data:text/javascript,process.on('exit', () =>
  process.stderr.write('peak ' + process.resourceUsage().maxRSS + ' KiB\\n'))`;
