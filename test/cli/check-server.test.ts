import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { createKeptResults, failureText } from '../../src/cli/check-look-up.ts';
import { UnavailableError } from '../../src/client/index.ts';
import type { Json } from '../../src/urls/wire.ts';
import { sendLines, startScripted } from '../client/scripted-server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { seen } from '../urls/contract/observations.ts';
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
