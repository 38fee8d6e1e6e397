import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { withHostAdvice } from '../../src/cli/commands/feed-run.ts';
import { AppError } from '../../src/core/errors.ts';
import { requireAllowedHost } from '../../src/ingest/feeds/feed-host.ts';
import { KNOWN_FEEDS } from '../../src/ingest/feeds/known-feeds.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

const SECRET = 's3cret-key';
const OWN = ['--format', 'url-list', '--url', 'https://feeds.example/list'];

function open(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const run = (args: string[], stdin = '') => urlwarden(['feed', ...args, '--data', dataDir], stdin);
  const json = async (args: string[], stdin = '') => {
    const { code, stdout, stderr } = await run([...args, '--json'], stdin);
    assert.deepEqual([code, stderr], [0, ''], args.join(' '));
    return JSON.parse(stdout);
  };
  return { dataDir, run, json };
}

/** Starts an HTTP server on loopback and returns the URL of a feed on it. */
async function publish(t: TestContext, respond: RequestListener): Promise<string> {
  const server = createServer(respond).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/list`;
}

describe('urlwarden feed', () => {
  it('add needs only the name of a well-known feed', async (t) => {
    const { dataDir, run, json } = open(t);
    await temporaryControl(t, dataDir);
    assert.match((await run(['list'])).stdout, /^There are no feeds.*urlwarden feed add urlhaus$/m);
    const { url, format, every_seconds, complete, state } = await json(['add', 'urlhaus']);
    const expected = ['https://urlhaus.abuse.ch/downloads/csv_online/', 'urlhaus-csv', 300, true, 'new'];
    assert.deepEqual([url, format, every_seconds, complete, state], expected);
    const again = await run(['add', 'urlhaus']);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /^There is already a feed urlhaus\. To change it: urlwarden feed set urlhaus\n$/);
    const slower = await json(['add', 'malwarebazaar', '--every', '7d']);
    assert.equal(slower.every_seconds, 604_800);
  });

  it('no output shows the value of a header or the query of a URL', async (t) => {
    const { dataDir, run, json } = open(t);
    const keyed = await run(['add', 'urlhaus-recent', '--header', 'Auth-Key'], `${SECRET}\n`);
    assert.equal(keyed.code, 0, keyed.stderr);
    const file = join(dataDir, 'headers');
    writeFileSync(file, `X-Key: ${SECRET}\r\n\nX-Other: ${SECRET}\n`);
    await json(['add', 'own', ...OWN.slice(0, 2), '--url', `https://a.example/x?k=${SECRET}`, '--header-file', file]);
    await json(['add', 'piped', ...OWN, '--header-file', '-'], `X-Key: ${SECRET}\n`);
    const shown = [keyed];
    for (const args of [['list'], ['list', '--json'], ['show', 'own'], ['show', 'own', '--json'], ['pause', 'own']]) {
      shown.push(await run(args));
    }
    for (const { stdout, stderr } of shown) assert.ok(!`${stdout}${stderr}`.includes(SECRET), stdout);
    const { headers, url } = await json(['show', 'own']);
    assert.deepEqual([headers, url], [['X-Key', 'X-Other'], 'https://a.example/x?…']);
    const control = await temporaryControl(t, dataDir);
    const stored = await control.feed('urlhaus-recent');
    assert.deepEqual(stored?.headers, { 'Auth-Key': SECRET });
    assert.equal(stored?.url, 'https://urlhaus-api.abuse.ch/v2/files/exports/{Auth-Key}/recent.csv');
    assert.deepEqual((await control.feed('piped'))?.headers, { 'X-Key': SECRET });
  });

  it('invalid input is refused with a reason, which never shows a key', async (t) => {
    const { run } = open(t);
    const refusals = [
      [
        ['add', 'x', '--format', 'y', '--url', 'https://a.example/'],
        2,
        /^--format must be one of urlhaus-csv, .*, not "y"\n/,
      ],
      [['add', 'a b', ...OWN], 2, /^NAME must be 1 to 64 letters/],
      [['add', 'x', ...OWN, '--every', '30s'], 2, /^--every must be a time from 1m to 30d/],
      [['add', 'x', ...OWN, '--every', '31d'], 2, /^--every/],
      [['add', 'x', ...OWN, '--every', '1'], 2, /^--every/],
      [['add', 'x', ...OWN, '--header', `Auth-Key: ${SECRET}`], 2, /^Give --header only the name/],
      [['add', 'x', ...OWN, '--header', 'Host'], 1, /^The header Host is set by Urlwarden/],
      [['add', 'x', ...OWN, '--header-file', '/nowhere'], 1, /^The headers cannot be read/],
      [['add', 'x', '--format', 'url-list', '--url', 'ftp://a.example/'], 1, /is not an http or https URL/],
      [['add', 'x', '--format', 'url-list', '--url', 'https://a.example/{Key}'], 1, /no header of that name/],
      [['show', 'x'], 1, /^There is no feed "x"/],
      [['pause', 'x'], 1, /^There is no feed "x"/],
      [['run', 'x'], 1, /^There is no feed "x"/],
      [['remove', 'x', '--yes'], 1, /^There is no feed "x"/],
    ] as const;
    for (const [args, expected, reason] of refusals) {
      const { code, stdout, stderr } = await run([...args], `${SECRET}\n`);
      assert.deepEqual([code, stdout], [expected, ''], `${args.join(' ')}: ${stderr}`);
      assert.match(stderr, reason);
      assert.ok(!stderr.includes(SECRET));
    }
  });

  for (const [name, format, values] of [
    ['threatfox', 'threatfox-json', { trust: 0.9, dataset: null, kind: null, as: null }],
    ['drop', 'drop-json', { every_seconds: 86_400 }],
    ['blocklist-de', 'ip-list', { trust: 0.6, dataset: 'XBL', kind: null, as: null }],
    ['tor-exits', 'ip-list', { dataset: null, as: 'shared' }],
    ['openphish', 'domain-list', { kind: 'phishing' }],
  ] as const) {
    it(`add ${name} knows what the feed is evidence of`, async (t) => {
      const { json } = open(t);
      const added = await json(['add', name]);
      assert.deepEqual({ ...added, format, ...values }, added);
    });
  }

  it('add --trust, --life, --dataset, --kind and --as are stored and shown', async (t) => {
    const { run, json } = open(t);
    const url = ['--url', 'https://feeds.example/list'];
    const own = ['--format', 'ip-list', ...url, '--dataset', 'css', '--trust', '0.25', '--life', '14d'];
    const { trust, life_seconds, dataset, kind, as } = await json(['add', 'own', ...own]);
    assert.deepEqual([trust, life_seconds, dataset, kind, as], [0.25, 1_209_600, 'CSS', null, null]);
    assert.match(
      (await run(['show', 'own'])).stdout,
      /^trust +0\.25\nlife of listings +14 d\ndataset, kind or list +CSS$/m,
    );
    const changed = await json(['add', 'blocklist-de', '--as', 'shared']);
    assert.deepEqual([changed.dataset, changed.as], [null, 'shared']);
  });

  for (const [flags, reason] of [
    [['--format', 'ip-list'], /^The format ip-list needs exactly one of --dataset NAME and --as allow\|shared\n/],
    [['--format', 'ip-list', '--dataset', 'XBL', '--as', 'allow'], /^The format ip-list needs exactly one of/],
    [['--format', 'ip-list', '--as', 'popular'], /^--as must be one of allow, shared for the format ip-list\n/],
    [['--format', 'ip-list', '--dataset', 'SBL'], /^--dataset must be one of XBL, CSS, BCL, DROP, not "SBL"\n/],
    [['--format', 'domain-list'], /^The format domain-list needs --kind KIND\n/],
    [['--format', 'domain-list', '--kind', 'spam'], /^--kind must be one of malware, botnetcc, phishing/],
    [
      ['--format', 'misp-warninglist'],
      /^The format misp-warninglist needs --as allow\|shared\|popular\|shortener\|dyndns\n/,
    ],
    [['--format', 'url-list', '--dataset', 'XBL'], /^--dataset has no meaning for the format url-list\n/],
    [['--format', 'url-list', '--trust', '0.5'], /^--trust has no meaning for the format url-list: it has no evidence/],
    [['--format', 'drop-json', '--trust', '0.95'], /^--trust must be a number from 0 to 0\.9/],
    [['--format', 'drop-json', '--trust', '-0.1'], /^--trust must be a number/],
    [['--format', 'drop-json', '--life', '30m'], /^--life must be a time from 1h to 366d/],
  ] as const) {
    it(`add ${flags.join(' ')} is refused`, async (t) => {
      const { run } = open(t);
      const { code, stderr } = await run(['add', 'x', ...flags, '--url', 'https://a.example/']);
      assert.equal(code, 2);
      assert.match(stderr, reason);
    });
  }

  it('add refuses the name of the source of commands', async (t) => {
    const { code, stderr } = await open(t).run(['add', 'operator', ...OWN]);
    assert.deepEqual(
      [code, stderr.split('\n')[0]],
      [2, 'NAME must not be "operator": Urlwarden uses this name itself'],
    );
  });

  it('the help of add has the terms of every well-known feed', async () => {
    const { stdout } = await urlwarden(['feed', 'add', '--help']);
    assert.equal(stdout.match(/Terms:/g)?.length, KNOWN_FEEDS.length);
  });

  const known = `Well-known feeds: ${KNOWN_FEEDS.map(({ name }) => name).join(', ')}.`;
  for (const { args, start, end } of [
    { args: ['foo'], start: 'There is no well-known feed "foo".', end: '.' },
    {
      args: ['foo', '--url', 'https://a.example/'],
      start: 'There is no well-known feed "foo".',
      end: '; --format is missing.',
    },
    { args: ['foo', '--format', 'url-list'], start: 'There is no well-known feed "foo".', end: '; --url is missing.' },
    { args: ['urlhause'], start: 'There is no well-known feed "urlhause". Did you mean "urlhaus"?', end: '.' },
    {
      args: ['urlhaus-recnet'],
      start: 'There is no well-known feed "urlhaus-recnet". Did you mean "urlhaus-recent"?',
      end: '.',
    },
  ]) {
    it(`add ${args.join(' ')} lists the well-known feeds and the missing flags`, async (t) => {
      const { run, json } = open(t);
      const { code, stdout, stderr } = await run(['add', ...args]);
      const other = `For any other feed give --format FORMAT and --url URL${end}`;
      assert.deepEqual([code, stdout], [2, '']);
      assert.equal(stderr, `${start} ${known} ${other}\nSee: urlwarden feed add --help\n`);
      assert.deepEqual(await json(['list']), []);
    });
  }

  it('pause, resume and remove change the state of a feed', async (t) => {
    const { run, json } = open(t);
    await json(['add', 'own', ...OWN]);
    const { state, next_run_ts } = await json(['pause', 'own']);
    assert.deepEqual([state, next_run_ts], ['paused', null]);
    assert.equal((await json(['resume', 'own'])).state, 'new');
    assert.match((await run(['remove', 'own'])).stderr, /Add --yes to confirm/);
    assert.equal((await run(['remove', 'own', '--yes'])).stdout, 'Removed own.\n');
    assert.deepEqual(await json(['list']), []);
  });

  it('set changes only what its flags name', async (t) => {
    const { dataDir, run, json } = open(t);
    const own = ['--format', 'ip-list', '--dataset', 'CSS', '--life', '14d', '--trust', '0.25'];
    const before = await json(
      ['add', 'own', ...own, '--url', 'https://feeds.example/list', '--header', 'X-Key'],
      SECRET,
    );
    const control = await temporaryControl(t, dataDir);
    await control.changeFeed('own', { lastRunTs: 1_000, nextRunTs: 4_600, etag: '"1"', lastModified: 'x', rows: 7 });
    const every = await json(['set', 'own', '--every', '2h']);
    assert.deepEqual([every.every_seconds, every.next_run_ts, every.rows, every.trust], [7_200, 8_200, 7, 0.25]);
    assert.equal((await control.feed('own'))?.etag, '"1"', 'the response is the same');

    const flags = ['--trust', '0.5', '--life', 'default', '--as', 'shared', '--complete', '--private'];
    const after = await json(
      ['set', 'own', ...flags, '--url', 'https://feeds.example/new', '--header', 'x-key'],
      'second',
    );
    const { trust, life_seconds, dataset, as, complete, private: isPrivate, url, rows } = after;
    assert.deepEqual(
      [trust, life_seconds, dataset, as, complete, isPrivate, url, rows],
      [0.5, null, null, 'shared', true, true, 'https://feeds.example/new', 7],
    );
    assert.ok(after.next_run_ts > before.next_run_ts - 60);
    const stored = await control.feed('own');
    assert.deepEqual([stored?.headers, stored?.etag, stored?.lastModified], [{ 'x-key': 'second' }, null, null]);

    const off = await json(['set', 'own', '--no-complete', '--no-private', '--no-headers']);
    assert.deepEqual([off.complete, off.private, off.headers, off.as], [false, false, [], 'shared']);
    assert.match((await run(['set', 'own', '--every', '1d'])).stdout, /^Changed own: ip-list from \S+ every 1 d\.\n$/);
  });

  it('set gives a well-known feed the URL for users with a key, and takes it back', async (t) => {
    const { json } = open(t);
    await json(['add', 'urlhaus-recent']);
    const keyed = await json(['set', 'urlhaus-recent', '--header', 'Auth-Key'], SECRET);
    assert.match(keyed.url, /\{Auth-Key\}/);
    assert.doesNotMatch((await json(['set', 'urlhaus-recent', '--no-headers'])).url, /Auth-Key/);
  });

  it('set refuses what makes no sense, and changes nothing', async (t) => {
    const { dataDir, run, json } = open(t);
    await json(['add', 'own', ...OWN, '--header', 'X-Key'], SECRET);
    const before = await json(['show', 'own']);
    const refusals = [
      [['own'], 2, /^There is nothing to change: give at least one of --format,/],
      [['own', '--complete', '--no-complete'], 2, /^--complete and --no-complete contradict each other\n/],
      [['own', '--trust', '0.5'], 2, /^--trust has no meaning for the format url-list/],
      [['own', '--format', 'ip-list'], 2, /^The format ip-list needs exactly one of/],
      [['own', '--every', '1s'], 2, /^--every must be a time from 1m to 30d/],
      [['own', '--url', 'ftp://a.example/'], 1, /is not an http or https URL/],
      [
        ['own', '--url', 'https://other.example/list'],
        1,
        /^The new URL is on https:\/\/other\.example, to which the value of X-Key would be sent\. Give it again/,
      ],
      [['own', '--url', 'http://10.0.0.1/list'], 1, /^10\.0\.0\.1 is a blocked address \(private\).*--private/],
      [['other', '--every', '1h'], 1, /^There is no feed "other"/],
    ] as const;
    for (const [args, expected, reason] of refusals) {
      const { code, stdout, stderr } = await run(['set', ...args]);
      assert.deepEqual([code, stdout], [expected, ''], `${args.join(' ')}: ${stderr}`);
      assert.match(stderr, reason);
    }
    const control = await temporaryControl(t, dataDir);
    const nowTs = Math.floor(Date.now() / 1000);
    await control.leaseFeed('own', 'a server', { nowTs, untilTs: nowTs + 60 });
    assert.match(
      (await run(['set', 'own', '--every', '2h'])).stderr,
      /^own is being fetched now\. Nothing was changed/,
    );
    await control.releaseFeed('own', 'a server');
    assert.deepEqual(await json(['show', 'own']), before);
    assert.equal((await json(['set', 'own', '--every', '2h'])).every_seconds, 7_200);
  });

  it('run fetches a feed now, and list shows the result', async (t) => {
    const { dataDir, run, json } = open(t);
    let seen: string | undefined;
    let isDown = false;
    const url = await publish(t, (request, response) => {
      seen = request.headers['auth-key'] as string;
      if (isDown) response.writeHead(500).end();
      else if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
      else response.writeHead(200, { etag: '"1"' }).end('http://192.0.2.1/a\nhttp://192.0.2.1/b\nnonsense\n');
    });
    await json(['add', 'own', '--format', 'url-list', '--url', url, '--private', '--header', 'Auth-Key'], SECRET);
    const refused = await run(['run', 'own']);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /^127\.0\.0\.1 is not in feeds-allow-private .* Add --feeds-allow-private 127\.0\.0\.1, /,
    );
    assert.equal(seen, undefined);
    const { state, failures } = await json(['show', 'own']);
    assert.deepEqual([state, failures], ['new', 0], 'a server with other settings can fetch it');
    const allow = ['--feeds-allow-private', '127.0.0.0/8'];
    isDown = true;
    assert.equal((await run(['run', 'own', ...allow])).code, 1);
    const failing = await run(['list']);
    assert.match(failing.stdout, /^own +failing +url-list +1 h +never\n {2}127\.0\.0\.1:\d+ responded with 500/m);
    isDown = false;
    const first = await run(['run', 'own', ...allow]);
    assert.deepEqual(
      [first.code, first.stdout],
      [0, 'own: imported 3 rows. Details: urlwarden import list --feed own\n'],
    );
    assert.equal(seen, SECRET);
    const second = await json(['run', 'own', ...allow]);
    assert.deepEqual([second.outcome, second.feed.state, second.feed.rows], ['not_modified', 'ok', 3]);
    assert.equal(second.feed.last_error, null);
    const imports = await urlwarden(['import', 'list', '--data', dataDir]);
    assert.ok(imports.stdout.includes('own') && !imports.stdout.includes(SECRET));
  });
});

// Without the command: it would ask the DNS server for the publisher's host.
it('a well-known feed whose host has no address: the network and DNS are named, not the spelling', () => {
  const [{ url } = { url: '' }] = KNOWN_FEEDS;
  const cause = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
  const error = new AppError('unavailable', 'x has no address: check the spelling of the host name', { cause });
  assert.match(String(withHostAdvice(error, { url })), / has no address: check the network and the DNS server/);
  assert.equal(withHostAdvice(error, { url: 'https://own.example/' }), error);
});

it('a feed that is not private is not refused before the fetch, which no server allows either', async () => {
  await requireAllowedHost({ url: 'http://127.0.0.1/', allowsPrivate: false }, []);
});
