import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { makeDatabase, temporaryDatabase } from '../servers/temporary-database.ts';
import { redisServerUrl } from '../servers/urls.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type RunningServer, startReusedServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

const ADA = { username: 'ada', password: 'correct horse' };
const LAST = '/api/intel/v2/byobject/url/last';

/** Starts nodes on one database and one Redis, with one account that has these limits. */
async function startNodes(t: TestContext, count: number, limits: string[]) {
  const databaseUrl = await temporaryDatabase(t);
  const data = ['--database-url', databaseUrl];
  const set = await urlwarden(['tier', 'set', 'tested', ...limits, ...data]);
  assert.equal(set.code, 0, set.stderr);
  const added = await urlwarden(['account', 'add', ADA.username, '--tier', 'tested', ...data], ADA.password);
  assert.equal(added.code, 0, added.stderr);
  const redis = ['--redis-url', redisServerUrl(), '--redis-prefix', `test-${randomUUID()}`];
  const args = [...data, ...redis, '--allow-reserved', '--data', temporaryFolder(t)];
  const nodes = await Promise.all(Array.from({ length: count }, () => startReusedServer(t, args)));
  return { nodes: nodes as [RunningServer, ...RunningServer[]], data };
}

const UNLIMITED = ['--rl-qps', '1000000', '--rl-qpm', '1000000', '--rl-qph', '1000000'];

test('with 1,000 queries left, exactly 1,000 of 20,000 requests to three nodes are accepted', async (t) => {
  const { nodes, data } = await startNodes(t, 3, ['--qms', '1000', '--qmh', '1000', ...UNLIMITED]);
  const token = await tokenOf(nodes[0].url, ADA);
  const agent = new Agent({ keepAlive: true, maxSockets: 100 });
  t.after(() => agent.destroy());
  const body = JSON.stringify({ url: 'http://192.0.2.1/unknown' });
  const send = (url: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sent = request(url + LAST, { method: 'POST', agent, headers }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  const requests = Array.from({ length: 20_000 }, (_, i) => send(nodes[i % nodes.length]?.url ?? ''));
  const statuses = Map.groupBy(await Promise.all(requests), (status) => status);
  assert.deepEqual([...statuses].map(([status, all]) => [status, all.length]).sort(), [
    [404, 1_000],
    [429, 19_000],
  ]);
  // The nodes store their counts when they stop; `account show` prints the sum.
  await Promise.all(nodes.map((node) => node.stop('SIGTERM')));
  const shown = JSON.parse((await urlwarden(['account', 'show', 'ada', '--json', ...data])).stdout);
  assert.equal(shown.usage.month, 1_000);
});

test('nodes that start together on an empty database create one first account', async (t) => {
  const databaseUrl = await makeDatabase();
  const args = ['--database-url', databaseUrl, '--data', temporaryFolder(t)];
  const nodes = await Promise.all([1, 2, 3].map(() => startReusedServer(t, args)));
  const withPassword = nodes.filter((node) => node.stdout().includes('Password:'));
  assert.equal(withPassword.length, 1);
  assert.match(nodes[0]?.stdout() ?? '', /Data: PostgreSQL 127\.0\.0\.1:\d+\/urlwarden_test_\w+\n/);
  assert.ok(nodes.every((node) => !node.stdout().includes('postgres@')));
  const accounts = JSON.parse((await urlwarden(['account', 'list', '--json', '--database-url', databaseUrl])).stdout);
  assert.equal(accounts.length, 1);
});

test('a token of one node is valid on the other, and refused there within five seconds of its revocation', async (t) => {
  const { nodes, data } = await startNodes(t, 2, ['--qms', '1000', '--qmh', '1000', ...UNLIMITED]);
  const [first, second] = nodes;
  const headers = { authorization: `Bearer ${await tokenOf(first.url, ADA)}` };
  const status = async () => (await fetch(`${second?.url}/api/intel/v1/limits`, { headers })).status;
  assert.equal(await status(), 200);
  assert.equal((await urlwarden(['account', 'revoke', 'ada', ...data])).code, 0);
  const deadlineMs = Date.now() + 5_000;
  while ((await status()) !== 401) {
    assert.ok(Date.now() < deadlineMs, 'still valid after five seconds');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

/** Evidence with equal times and several sources, so that only a fixed order gives equal responses. */
function evidenceLines(nowTs: number): string {
  const ts = nowTs - 3_600;
  const listings = ['198.51.100.7', '198.51.100.8', '198.51.100.0/24', '2001:db8::/32'].flatMap((cidr) =>
    ['XBL', 'CSS', 'BCL', 'DROP'].flatMap((dataset) => ['b', 'a'].map((feed) => ({ ts, cidr, dataset, feed }))),
  );
  const hosts = ['site.example', 'b.site.example', 'a.site.example'];
  const domains = hosts.flatMap((domain) =>
    ['botnetcc', 'malware', 'phishing'].flatMap((kind) => ['b', 'a'].map((feed) => ({ ts, domain, kind, feed }))),
  );
  const facts = [
    { ts, domain: 'site.example', a: ['198.51.100.8', '198.51.100.7', '2001:db8::1'] },
    { ts, domain: 'site.example', ns: ['ns2.site.example', 'ns1.site.example'] },
    { ts, domain: 'ns1.site.example', a: ['198.51.100.7'] },
    { ts, domain: 'site.example', sender: { ip: '198.51.100.7', helo: 'mail.site.example' } },
    { ts, domain: 'site.example', rank: 90_000 },
  ];
  const urls = hosts.flatMap((host) => [1, 2].map((i) => ({ ts, url: `http://${host}/${i}`, ip: '198.51.100.9' })));
  const lines = [...listings, ...domains, ...facts, ...urls, { ts, url: 'http://198.51.100.7/x' }];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

test('three nodes give byte-equal responses about addresses and domains', async (t) => {
  const { nodes, data } = await startNodes(t, 3, ['--qms', '1000', '--qmh', '1000', ...UNLIMITED]);
  const lines = evidenceLines(Math.floor(Date.now() / 1000));
  const imported = await urlwarden(['import', 'ndjson', '-', '--allow-reserved', '--strict', ...data], lines);
  assert.equal(imported.code, 0, imported.stderr);
  const headers = { authorization: `Bearer ${await tokenOf(nodes[0].url, ADA)}` };
  const cidr = '/api/intel/v1/byobject/cidr/ALL';
  const domain = '/api/intel/v2/byobject/domain/site.example';
  const parts = ['', 'overview', 'listing', 'contexts', 'senders', 'ns', 'a', 'hostnames', 'malware/urls', 'explain'];
  const paths = [
    ...['listed/live', 'listings/live', 'listed/history'].map((mode) => `${cidr}/${mode}/198.51.100.7`),
    `${cidr}/listed/live/198.51.100.0/24`,
    `${cidr}/listed/live/2001:db8::`,
    ...parts.map((part) => (part === '' ? domain : `${domain}/${part}`)),
  ];
  for (const path of paths) {
    const responses = await Promise.all(
      nodes.map(async ({ url }) => {
        const response = await fetch(url + path, { headers });
        return `${response.status} ${await response.text()}`;
      }),
    );
    assert.match(responses[0] ?? '', /^200 /, path);
    assert.equal(new Set(responses).size, 1, `${path}\n${responses.join('\n')}`);
  }
});
