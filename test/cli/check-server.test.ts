import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { createKeptResults, failureText } from '../../src/cli/check-look-up.ts';
import { UnavailableError } from '../../src/client/index.ts';
import type { Json } from '../../src/urls/wire.ts';
import { sendLines, startScripted } from '../client/scripted-server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { seen } from '../urls/contract/observations.ts';
import { onTerminal } from './on-terminal.ts';
import { startReusedServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

const BAD = 'http://bad.example/a?x=1&y=2';
const LIST = `hxxp://bad[.]example/a?x=1&y=2\nhttp://unknown.example/\nno URL\n${BAD}\n`;

test('check looks up at a server, and prints what it prints for the folder', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  await store.apply([seen({ ts: 1_769_860_800, url: BAD, payload: { sha256: 'ab'.repeat(32), family: 'Mirai' } })]);
  await store.close();
  const { url } = await startReusedServer(t, ['--data', dataDir]);
  const password = readFileSync(join(dataDir, 'operator-password'), 'utf8').trim();
  const env = { URLWARDEN_USERNAME: 'operator', URLWARDEN_PASSWORD: password };

  const local = await urlwarden(['check', '-', '--json', '--data', dataDir], LIST);
  const remote = await urlwarden(['check', '-', '--json', '--server', url], LIST, { env });
  assert.deepEqual([remote.code, remote.stdout, remote.stderr], [3, local.stdout, local.stderr]);
  const authorization = `Bearer ${await tokenOf(url, { username: 'operator', password })}`;
  const limits = await fetch(`${url}/api/intel/v1/limits`, { headers: { authorization } });
  assert.equal(((await limits.json()) as { current: { qpm: number } }).current.qpm, 2, 'two distinct URLs');

  const byToken = { env: { URLWARDEN_TOKEN: authorization.slice('Bearer '.length) } };
  assert.equal((await urlwarden(['check', '-', '--server', url], 'http://unknown.example/\n', byToken)).code, 0);

  const refused = await urlwarden(['check', '-', '--server', url], LIST, { env: { ...env, URLWARDEN_PASSWORD: 'x' } });
  const { host } = new URL(url);
  assert.deepEqual(
    [refused.code, refused.stderr],
    [1, `${host} refused the login: check URLWARDEN_USERNAME and URLWARDEN_PASSWORD\n`],
  );
  for (const [server, variables, message] of [
    [url, { URLWARDEN_TOKEN: 'x' }, `${host} refused the login: check URLWARDEN_TOKEN`],
    [`${url}/api`, env, 'This path does not exist: --server is the address before /api'],
  ] as const) {
    const { code, stderr } = await urlwarden(['check', '-', '--server', server], LIST, { env: variables });
    assert.deepEqual([code, stderr], [1, `${message}\n`]);
  }
  const away = await urlwarden(['check', '-', '--server', url], LIST);
  assert.equal(away.code, 2);
  assert.match(away.stderr, /needs URLWARDEN_USERNAME and URLWARDEN_PASSWORD, or URLWARDEN_TOKEN/);
});

test('a URL is sent once, however long the input is', async (t) => {
  const { baseUrl, received } = await startScripted(t, (response, { body }) => {
    const found = { found: true, id: 1, url: BAD, status: null, payload: null };
    const lines = body.trimEnd().split('\n');
    sendLines(response, [...lines.map((line) => (line.includes(BAD) ? found : { found: false })), { end: true }]);
  });
  const urls = [BAD, ...['a', 'b', 'c'].map((host) => `http://${host}.example/`)];
  const list = `${urls.join('\n')}\n`.repeat(10_000);
  const env = { URLWARDEN_TOKEN: 'a-token' };
  const { code, stderr } = await urlwarden(['check', '-', '--found', '--server', baseUrl], list, { env });
  assert.deepEqual([code, stderr], [3, '40,000 lines, 40,000 URLs (4 distinct), 10,000 found, 0 invalid\n']);
  const sent = received.flatMap(({ body }) => body.trimEnd().split('\n'));
  assert.deepEqual(
    sent.map((line) => JSON.parse(line).url),
    urls,
  );
});

/** A server that knows no URL. After each of the numbers of URLs a limit is reached. */
function startLimited(t: TestContext, steps: { urls: number; limit: string; seconds: number }[]) {
  let left = steps[0]?.urls ?? 0;
  return startScripted(t, (response, { body }) => {
    const sent = body.trimEnd().split('\n');
    const answered = Array.from({ length: Math.min(sent.length, left) }, () => ({ found: false }));
    left -= answered.length;
    if (answered.length === sent.length) return sendLines(response, [...answered, { end: true }]);
    const [{ limit = '', seconds = 0 } = {}] = steps.splice(0, 1);
    left = steps[0]?.urls ?? 0;
    sendLines(response, [...answered, { end: true, stopped_at: answered.length + 1, limit, retry_after: seconds }]);
  });
}

test('what was charged is printed, also if the monthly limit ends the run', async (t) => {
  const env = { URLWARDEN_TOKEN: 'a-token' };
  for (const [charged, lines] of [
    [50, 201],
    [3_000, 6_000], // more than one request
  ] as const) {
    const { baseUrl, received } = await startLimited(t, [{ urls: charged, limit: 'qmh', seconds: 86_400 }]);
    const list = Array.from({ length: lines }, (_, i) => `http://h${i}.example/a/path/of/some/length\n`);
    const { code, stdout, stderr } = await urlwarden(['check', '-', '--csv', '--server', baseUrl], list.join(''), {
      env,
    });
    const rows = stdout.trimEnd().split('\r\n');
    assert.deepEqual([code, rows.length], [1, 1 + charged]);
    assert.ok(rows.at(-1)?.startsWith(`${charged},http://h${charged - 1}.example/`));
    const [, reset = '', line] =
      /^The limit qmh is reached; it is reset at (\S+)\. Line (\d+) and those after it are not looked up\.\n$/.exec(
        stderr,
      ) ?? [];
    assert.ok(Math.abs(Date.parse(reset) - Date.now() - 86_400_000) < 60_000, stderr);
    assert.equal(line, `${charged + 1}`);
    assert.equal(received.length > 1, charged > 1_500);
  }
});

test('a connection that breaks loses no result, and the message names the line', async (t) => {
  const { baseUrl } = await startScripted(t, (response) => sendLines(response, [{ found: false }], 'break'));
  const { code, stdout, stderr } = await urlwarden(['check', '-', '--json', '--server', baseUrl], LIST, {
    env: { URLWARDEN_TOKEN: 'a-token' },
  });
  assert.deepEqual([code, stdout.split('\n').length - 1], [1, 1]);
  assert.match(
    stderr,
    /^The response of [\d.:]+ ended too early: try again\. Line 2 and those after it are not looked up\.\n$/,
  );
});

test('on a terminal, results and waits for a limit are shown at once', async (t) => {
  const { baseUrl } = await startLimited(t, [
    { urls: 2, limit: 'rl_qpm', seconds: 1 },
    { urls: 9, limit: '', seconds: 0 },
  ]);
  const list = join(temporaryFolder(t), 'list');
  writeFileSync(list, ['a', 'b', 'c', 'd'].map((host) => `http://${host}.example/\n`).join(''));
  t.after(() => delete process.env.URLWARDEN_TOKEN);
  process.env.URLWARDEN_TOKEN = 'a-token';
  const { code, screen } = await onTerminal(['check', list, '--server', baseUrl]);
  assert.equal(code, 0);
  const wait = /b\.example[^c]*\[#+-+\] 2 lines, 0 found\. Limit rl_qpm: waiting until \d\d:\d\d:\d\d UTC.*c\.example/s;
  assert.match(screen, wait);
  assert.ok(screen.trimEnd().endsWith('4 lines, 4 URLs (4 distinct), 0 found, 0 invalid'));
});

test('of the results that are kept, those that were not needed for the longest time are dropped', () => {
  const kept = createKeptResults(700);
  const last = 'x'.repeat(100) as Json;
  for (const url of ['a', 'b', 'c']) kept.set(url, last);
  assert.equal(kept.get('a'), last);
  kept.set('d', null);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((url) => kept.get(url)),
    [last, last, last, null],
  );
  kept.get('a');
  kept.set('e', null);
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e'].map((url) => kept.get(url)),
    [last, undefined, last, null, null],
  );
});

test('messages about the server name the flag --server', async (t) => {
  const env = { URLWARDEN_TOKEN: 'a-token' };
  const { baseUrl } = await startScripted(t, (response) => response.writeHead(200).end('<p>hello'));
  const { code, stderr } = await urlwarden(['check', '-', '--server', baseUrl], LIST, { env });
  assert.deepEqual([code, stderr], [1, 'The response is not one of Urlwarden; check --server\n']);
  for (const [server, message] of [
    ['foo', '--server must be a URL such as https://intel.example.com'],
    ['ftp://192.0.2.1', '--server must begin with https or http'],
    ['http://ada:secret@192.0.2.1', 'Pass username and password separately, not in --server'],
  ] as const) {
    const { code, stderr } = await urlwarden(['check', '-', '--server', server], LIST, { env });
    assert.deepEqual([code, stderr], [2, `${message}\nSee: urlwarden check --help\n`]);
  }
});

test('a server that cannot be reached is named, with what to check', () => {
  for (const [code, advice] of [
    ['ECONNREFUSED', 'refused the connection: check the port, or try again later'],
    ['ENOTFOUND', 'has no address: check the spelling of the host name'],
    [
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'did not complete a TLS handshake: check the port, and whether the URL has to begin with http://',
    ],
  ]) {
    const cause = new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) });
    const error = new UnavailableError('The server cannot be reached', { cause });
    assert.equal(failureText(error, 'https://192.0.2.1:8443/intel'), `192.0.2.1:8443 ${advice}`);
  }
});
