import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PROGRAM } from './cli/urlwarden.ts';
import { accountWith, deadUrl, runNode, runShell, startDemo, startScripted, type Variables } from './example-runs.ts';
import { temporaryFolder } from './temporary-folder.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const RATES = ['--rl-qpm', '1000', '--rl-qph', '1000'];
const ONE_A_SECOND = ['--qms', '1000', '--qmh', '1000', '--rl-qps', '1', ...RATES];
const TWO_A_MONTH = ['--qms', '2', '--qmh', '2', '--rl-qps', '1000', ...RATES];

const ONLINE = 'http://203.0.113.7/bin.sh';
const OFFLINE = 'https://files.example.com/download/setup.exe';
const UNKNOWN = 'http://www.example.com/';

const squid = (url: string, method = 'GET') =>
  `1768471200.123     87 192.0.2.10 TCP_MISS/200 4312 ${method} ${url} - HIER_DIRECT/192.0.2.1 text/plain`;
const combined = (url: string) =>
  `192.0.2.10 - ada [15/Jan/2026:10:00:00 +0000] "GET ${url} HTTP/1.1" 200 4312 "-" "curl/8.5.0"`;
const log = (...lines: string[]) => lines.map((line) => `${line}\n`).join('');

test('check-proxy-log', async (t) => {
  const demo = await startDemo(t);
  const check = (input: string, variables: Variables = { WARDEN_URL: demo.url }) =>
    runNode('check-proxy-log.mjs', [], variables, input);

  await t.test('prints the lines of known URLs in both formats and fails when one is online', async (t) => {
    const file = join(temporaryFolder(t), 'access');
    const lines = [squid(UNKNOWN), combined(OFFLINE), squid(ONLINE), squid('files.example.com:443', 'CONNECT')];
    writeFileSync(file, log(...lines, combined('/index.html'), combined('http://dropper.test/payload'), squid(ONLINE)));
    const { code, stdout, stderr } = await runNode('check-proxy-log.mjs', [file], { WARDEN_URL: `${demo.url}/` });
    assert.deepEqual([code, stderr], [1, '']);
    assert.equal(
      `${stdout}`,
      log(
        `offline\tAgentTesla\t${combined(OFFLINE)}`,
        `online\tMirai\t${squid(ONLINE)}`,
        `online\t-\t${combined('http://dropper.test/payload')}`,
        `online\tMirai\t${squid(ONLINE)}`,
      ),
    );
  });

  await t.test('ends with 0 when no URL is online', async () => {
    const { code, stdout, stderr } = await check(log(squid(UNKNOWN), squid(OFFLINE), squid('http://[bad/')));
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(`${stdout}`, log(`offline\tAgentTesla\t${squid(OFFLINE)}`));
  });

  await t.test('looks up a URL once and stops when the monthly limit is reached', async () => {
    const variables = await accountWith(demo, 'two-a-month', TWO_A_MONTH);
    const twenty = Array.from({ length: 20 }, (_, i) => squid(i % 2 === 0 ? ONLINE : OFFLINE));
    const enough = await check(log(...twenty), variables);
    assert.deepEqual([enough.code, enough.stderr, `${enough.stdout}`.split('\n').length], [1, '', 21]);
    const tooMany = await check(log(squid(UNKNOWN)), variables);
    assert.deepEqual([tooMany.code, `${tooMany.stdout}`], [2, '']);
    assert.match(tooMany.stderr, /asks to wait until \d{4}-\d\d-01T00:00:/);
  });

  await t.test('waits for a limit per second and misses nothing', async () => {
    const variables = await accountWith(demo, 'check-slowly', ONE_A_SECOND);
    const { code, stdout } = await check(log(squid(OFFLINE), squid(ONLINE), squid(UNKNOWN)), variables);
    assert.equal(code, 1);
    assert.equal(`${stdout}`, log(`offline\tAgentTesla\t${squid(OFFLINE)}`, `online\tMirai\t${squid(ONLINE)}`));
  });

  await t.test('sends nothing before Retry-After is over', async (t) => {
    const server = await startScripted(t, [{ status: 429, headers: { 'retry-after': '1' } }]);
    assert.equal((await check(log(squid(ONLINE)), server.variables)).code, 0);
    const [first = 0, second = 0, ...more] = server.lookupsMs;
    assert.ok(second - first >= 990, `${second - first} ms`);
    assert.equal(more.length, 0);
  });

  await t.test('pauses when RateLimit has nothing left, and sends at most eight requests at a time', async (t) => {
    const spent = { status: 404, headers: { ratelimit: '"rl_qps";r=0;t=1' } };
    const server = await startScripted(t, Array(9).fill(spent));
    const lines = Array.from({ length: 9 }, (_, i) => squid(`http://203.0.113.7/${i}`));
    assert.equal((await check(log(...lines), server.variables)).code, 0);
    const [first = 0, ...later] = server.lookupsMs;
    assert.equal(server.lookupsMs.length, 9);
    assert.ok((later.at(-1) ?? 0) - first >= 990, `${later.map((ms) => ms - first)}`);
    assert.equal(server.logins(), 1);
  });

  await t.test('logs in again when the token has expired', async (t) => {
    const server = await startScripted(t, [{ status: 401 }]);
    assert.equal((await check(log(squid(ONLINE)), server.variables)).code, 0);
    assert.deepEqual([server.logins(), server.lookupsMs.length], [2, 2]);
  });

  await t.test('ends with 2 when an answer is cut off or not one of Urlwarden', async (t) => {
    const replies = [
      { status: 200, headers: { 'content-length': '1000', connection: 'close' } },
      { status: 200, body: { hello: 'world' } },
      { status: 404, body: { error: 'the page of a proxy' } },
    ];
    for (const reply of replies) {
      const server = await startScripted(t, [reply]);
      const { code, stdout, stderr } = await check(log(squid(ONLINE)), server.variables);
      assert.deepEqual([code, `${stdout}`], [2, ''], JSON.stringify(reply));
      assert.match(stderr, /^http:\S+ answered \d+ without an answer of Urlwarden\n$/);
    }
  });

  await t.test('ends with 2 and a reason when it cannot check', async () => {
    const password = await check(log(squid(ONLINE)), { WARDEN_URL: demo.url, WARDEN_PASSWORD: 'wrong' });
    assert.deepEqual([password.code, `${password.stdout}`], [2, '']);
    assert.match(password.stderr, /^Login of demo@example\.com at http:\S+ failed: 401 .+\n$/);
    const away = await check(log(squid(ONLINE)), { WARDEN_URL: await deadUrl() });
    assert.deepEqual([away.code, `${away.stdout}`], [2, '']);
    assert.match(away.stderr, /^http:\S+ cannot be reached: ECONNREFUSED\n$/);
    const format = await check('Jan 15 10:00:00 host kernel: nothing\n');
    assert.equal(format.code, 2);
    assert.match(format.stderr, /^No line has /);
    const missing = await runNode('check-proxy-log.mjs', ['/no/such/file'], { WARDEN_URL: demo.url });
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /^ENOENT.*\n$/);
  });
});

test('the commands in examples/README.md work as they stand', async (t) => {
  const demo = await startDemo(t);
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'data'));
  symlinkSync(demo.dataDir, join(folder, 'data', 'demo'));
  symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'));
  symlinkSync(PROGRAM, join(folder, 'urlwarden'));
  const readme = readFileSync(join(ROOT, 'examples', 'README.md'), 'utf8');
  const [check, enrich, blocklist, ...more] = [...readme.matchAll(/```sh\n(.+)\n```/g)].map(
    ([, command]) => command ?? '',
  );
  assert.equal(more.length, 0);
  const shell = (command = '') => {
    const script = command.replace('npx urlwarden', './urlwarden');
    const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
    return spawnSync('sh', ['-c', script], { cwd: folder, env: { ...process.env, PATH, WARDEN_URL: demo.url } });
  };
  assert.equal(`${shell(check).stdout}`, /```text\n([^`]+)```/.exec(readme)?.[1]);
  assert.match(`${shell(enrich).stdout}`, /"urlwarden":\{"url":.+"ip":\[/);
  assert.deepEqual([shell(blocklist).status, existsSync(join(folder, 'blocklist.txt'))], [0, true]);
});

test('blocklist-by-cron', async (t) => {
  const demo = await startDemo(t);
  const folder = temporaryFolder(t);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(PROGRAM, join(bin, 'urlwarden'));
  writeFileSync(join(bin, 'half'), '#!/bin/sh\necho 0.0.0.0 half.example\nexit 3\n', { mode: 0o755 });
  const PATH = [bin, dirname(process.execPath), process.env.PATH].join(delimiter);
  const list = join(folder, 'list');
  const write = (args: string[], variables: Variables = {}) =>
    runShell('blocklist-by-cron.sh', args, { PATH, URLWARDEN_DATA: demo.dataDir, ...variables });
  const linesOfList = () => readFileSync(list, 'utf8').split('\n').filter(Boolean).sort();
  const kept = async (args: string[], variables: Variables, code: number, reason: RegExp) => {
    const before = readFileSync(list, 'utf8');
    const outcome = await write(args, variables);
    assert.deepEqual([outcome.code, `${outcome.stdout}`], [code, '']);
    assert.match(outcome.stderr, reason);
    assert.equal(readFileSync(list, 'utf8'), before);
    assert.deepEqual(readdirSync(folder).sort(), ['bin', 'list'], 'no temporary file is left');
  };

  await t.test('writes what is online, without a word, readable by everyone', async () => {
    const { code, stdout, stderr } = await write(['hosts', list]);
    assert.deepEqual([code, `${stdout}`, stderr], [0, '', '']);
    const names = ['dropper.test', 'xn--bcher-kva.example'];
    const lines = linesOfList();
    for (const name of names) assert.ok(lines.includes(`0.0.0.0 ${name}`), name);
    assert.ok(!lines.includes('0.0.0.0 files.example.com'), 'it is offline');
    assert.ok(!lines.includes('0.0.0.0 cdn.example.net'), 'it is a good site that somebody misused');
    assert.equal(statSync(list).mode & 0o777, 0o644);
    assert.equal((await write(['url-list', list])).code, 0);
    assert.ok(linesOfList().includes(ONLINE) && !linesOfList().includes(OFFLINE));
    assert.deepEqual(readdirSync(folder).sort(), ['bin', 'list']);
  });

  await t.test('keeps the old list when the new one is empty or cannot be written whole', async () => {
    await kept(['hosts', list], { WARDEN_PROGRAM: 'true' }, 1, /^blocklist-by-cron: the new list is empty/);
    await kept(['hosts', list], { WARDEN_PROGRAM: 'half' }, 1, /export failed/);
    await kept(['hosts', list], { URLWARDEN_DATA: join(folder, 'none') }, 1, /There is no data in .*\n.*export failed/);
  });

  await t.test('keeps the old list when the new one is much shorter', async () => {
    writeFileSync(list, '');
    assert.equal((await write(['hosts', list])).code, 0);
    const count = linesOfList().length;
    writeFileSync(list, '0.0.0.0 old.example\n'.repeat(2 * count + 1));
    await kept(['hosts', list], {}, 1, new RegExp(`has ${count} lines, the old one ${2 * count + 1}`));
    writeFileSync(list, '0.0.0.0 old.example\n'.repeat(2 * count));
    assert.equal((await write(['hosts', list])).code, 0);
    assert.equal(linesOfList().length, count);
    writeFileSync(list, '0.0.0.0 old.example\n'.repeat(10 * count));
    assert.equal((await write(['hosts', list], { WARDEN_KEEP_PERCENT: '10' })).code, 0);
    assert.equal(linesOfList().length, count);
  });

  await t.test('refuses a wrong command line with 2', async () => {
    await kept(['hosts'], {}, 2, /usage/);
    await kept(['ndjson', list], {}, 2, /usage/);
  });
});

test('enrich-siem-event', async (t) => {
  const demo = await startDemo(t);
  const enrich = (events: string | Buffer, variables: Variables = { WARDEN_URL: demo.url }) =>
    runNode('enrich-siem-event.mjs', [], variables, events);
  const event = (url: string) => JSON.stringify({ url: { full: url } });
  const hash = '4fdf895cdcc4a5c5944812ad3b4ecf6772334a739044954b0f69fcab268f0622';

  await t.test('adds what is known about URL, address and hash', async () => {
    const events = [
      `{"event":{"sequence":9007199254740993},"url":{"original":"${ONLINE}"},"destination":{"ip":"203.0.113.7"}}`,
      `{"destination.ip":"192.0.2.1","file.hash.sha256":"${hash}","threat":{"framework":"x"}}`,
      `{"url":"${OFFLINE}"}`,
    ];
    const { code, stdout, stderr } = await enrich(log(...events));
    assert.deepEqual([code, stderr], [0, '']);
    const [first = '', second = '', third = ''] = `${stdout}`.split('\n');
    assert.ok(first.startsWith(events[0]?.slice(0, -1) ?? '?'), 'the event itself stays as it is, large numbers too');
    const { urlwarden, threat } = JSON.parse(first);
    assert.equal(urlwarden.url.status.status, 'online');
    assert.equal(urlwarden.url.payload['malware-family'], 'Mirai');
    const urls = urlwarden.ip.map(({ url }: { url: string }) => url);
    assert.deepEqual(
      [urls[0], urls.toSorted()],
      [ONLINE, ['/arm7', '/bin.sh', '/mips'].map((path) => `http://203.0.113.7${path}`)],
    );
    const matched = threat.enrichments.map(({ matched }: { matched: object }) => matched);
    const address = { field: 'destination.ip', atomic: '203.0.113.7' };
    assert.deepEqual(matched, [{ field: 'url.original', atomic: ONLINE }, address]);
    const byHash = JSON.parse(second);
    assert.deepEqual(Object.keys(byHash.urlwarden), ['sha256']);
    assert.equal(byHash.urlwarden.sha256[0].url, ONLINE);
    assert.deepEqual(byHash.threat, { framework: 'x' });
    assert.equal(JSON.parse(third).urlwarden.url.status.status, 'offline');
  });

  const others = Buffer.concat([
    Buffer.from(
      `{"message":"a\u2028b"}\r\n{ "url" : "${UNKNOWN}" }\n\nnot JSON {"url"\nnull\n[1]\n{"url":17,"destination":null}\n`,
    ),
    Buffer.from(`{"url":"/path","destination":{"ip":"no address"},"file":{"hash":{"sha256":"short"}}}\n{"m":"`),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}'),
  ]);

  await t.test('passes every other event on, byte for byte', async () => {
    const { code, stdout, stderr } = await enrich(others);
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(stdout, others);
  });

  await t.test('passes all events on when the server is down or the password is wrong', async () => {
    const events = Buffer.from(log(...Array(50).fill(event(ONLINE))));
    const away = await enrich(events, { WARDEN_URL: await deadUrl() });
    assert.deepEqual([away.code, away.stdout], [1, events]);
    assert.match(away.stderr, /^Events pass without a lookup: http:\S+ cannot be reached: ECONNREFUSED\n$/);
    const password = await enrich(events, { WARDEN_URL: demo.url, WARDEN_PASSWORD: 'wrong' });
    assert.deepEqual([password.code, password.stdout], [1, events]);
    assert.match(password.stderr, /^Events pass without a lookup: Login of demo@example\.com failed: .+\n$/);
  });

  await t.test('logs in once, also when that fails, and again when the token has expired', async (t) => {
    const events = log(...Array.from({ length: 30 }, (_, i) => event(`http://203.0.113.7/${i}`)));
    const refusing = await startScripted(t, [], 401);
    assert.equal((await enrich(events, refusing.variables)).code, 1);
    assert.deepEqual([refusing.logins(), refusing.lookupsMs.length], [1, 0]);
    const expiring = await startScripted(t, [{ status: 401 }]);
    assert.equal((await enrich(events, expiring.variables)).code, 0);
    assert.deepEqual([expiring.logins(), expiring.lookupsMs.length], [2, 31]);
  });

  await t.test('waits for a limit per second, and passes events on when another limit is reached', async () => {
    const slow = await enrich(
      log(event(ONLINE), event(OFFLINE)),
      await accountWith(demo, 'enrich-slowly', ONE_A_SECOND),
    );
    assert.deepEqual([slow.code, slow.stderr, `${slow.stdout}`.match(/"urlwarden":/g)?.length], [0, '', 2]);
    const variables = await accountWith(demo, 'enrich-little', TWO_A_MONTH);
    const first = await enrich(log(event(ONLINE), event(ONLINE), event(OFFLINE)), variables);
    assert.deepEqual([first.code, `${first.stdout}`.match(/"urlwarden":/g)?.length], [0, 3]);
    const refused = await enrich(log(event(ONLINE)), variables);
    assert.deepEqual([refused.code, `${refused.stdout}`], [1, log(event(ONLINE))]);
    assert.match(refused.stderr, /The limit qmh is reached/);
  });

  await t.test('sends nothing more after a refusal for a long time', async (t) => {
    const server = await startScripted(t, [{ status: 503, headers: { 'retry-after': '3600' } }]);
    const events = log(...Array.from({ length: 30 }, (_, i) => event(`http://203.0.113.7/${i}`)));
    const { code, stdout } = await enrich(events, server.variables);
    assert.deepEqual([code, `${stdout}`], [1, events]);
    assert.ok(server.lookupsMs.length <= 8, `${server.lookupsMs.length} requests`);
  });

  await t.test('repeats the words of a refusal, also when RateLimit asks to wait for longer', async (t) => {
    const headers = { 'retry-after': '3600', ratelimit: '"qmh";r=0;t=3601' };
    const server = await startScripted(t, [{ status: 429, headers }]);
    const { stderr } = await enrich(log(event(ONLINE)), server.variables);
    assert.match(stderr, /^Events pass without a lookup: http:\S+ answered /);
  });
});
