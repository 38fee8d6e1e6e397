import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { startHaproxy, startNginx } from './proxies.ts';

/** The configurations in `deploy`, in front of nodes that show what they receive. */
for (const [name, startProxy] of [
  ['nginx', startNginx],
  ['HAProxy', startHaproxy],
] as const) {
  describe(`${name} with the shipped configuration`, () => {
    test('replaces X-Forwarded-For by the address of the client, and forwards bodies of almost 1 MB', async (t) => {
      const { ports } = await startNodes(t, async (received, response) => {
        const { authorization, 'x-forwarded-for': address } = received.headers;
        response.end(JSON.stringify({ authorization, address, bytes: (await textOf(received)).length }));
      });
      const { url } = await startProxy(t, ports);
      const headers = { 'x-forwarded-for': '203.0.113.9', authorization: 'Bearer x' };
      for (const bytes of [2, 20_000, 1_000_000]) {
        const response = await fetch(`${url}/a`, { method: 'POST', headers, body: 'x'.repeat(bytes) });
        assert.deepEqual(await response.json(), { authorization: 'Bearer x', address: '127.0.0.1', bytes });
      }
    });

    test('forwards a bulk request of 8 MB', async (t) => {
      const { ports } = await startNodes(t, async (received, response) => {
        response.end(String((await textOf(received)).length));
      });
      const { url } = await startProxy(t, ports);
      const body = 'x'.repeat(8_000_000);
      const response = await fetch(`${url}/api/intel/v2/byobject/url/bulk`, { method: 'POST', body });
      assert.equal(await response.text(), '8000000');
    });

    test('forwards each line of a stream at once', async (t) => {
      const gate = Promise.withResolvers<void>();
      const { ports } = await startNodes(t, async (_received, response) => {
        response.write('first\n');
        await gate.promise;
        response.end('last\n');
      });
      const { url } = await startProxy(t, ports);
      const { body } = await fetch(`${url}/a`, { method: 'POST', body: '{}' });
      const lines: string[] = [];
      for await (const chunk of (body ?? assert.fail()).pipeThrough(new TextDecoderStream())) {
        lines.push(chunk);
        gate.resolve();
      }
      assert.deepEqual(lines, ['first\n', 'last\n']);
    });

    test('answers Expect: 100-continue', async (t) => {
      const { ports } = await startNodes(t, async (received, response) => {
        response.end(await textOf(received));
      });
      const { url } = await startProxy(t, ports);
      const sent = request(`${url}/a`, { method: 'POST', headers: { expect: '100-continue', 'content-length': 5 } });
      sent.flushHeaders();
      await once(sent, 'continue');
      sent.end('hello');
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      assert.deepEqual([response.statusCode, await textOf(response)], [200, 'hello']);
    });

    test('sends a query that gets 503 to three nodes at most, and a login or a change to one', async (t) => {
      const received: string[] = [];
      const node: RequestListener = ({ url = '' }, response) => {
        received.push(url);
        response.writeHead(503, { 'retry-after': '7' }).end('{"code":503}');
      };
      const [one, other] = [await startNodes(t, node), await startNodes(t, node)];
      const { url } = await startProxy(t, [...one.ports, ...other.ports]);
      const counts: number[] = [];
      for (const path of [...ONCE, ...QUERIES]) {
        const response = await fetch(url + path, { method: 'POST', body: '{}' });
        assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '7']);
        assert.equal(await response.text(), '{"code":503}');
        counts.push(received.splice(0).length);
      }
      assert.deepEqual(counts, [...ONCE.map(() => 1), ...QUERIES.map(() => 3)]);
    });

    test('sends a query that a frozen node does not answer to another one, but no login and no change', async (t) => {
      const received: string[] = [];
      const frozen = await startNodes(t, ({ url = '' }) => void received.push(url));
      const good = await startNodes(t, (_received, response) => void response.end());
      const shorter = (text: string) => text.replaceAll(/(?<=(?:timeout|timeout server) )(?:20|75|300)s/g, '1s');
      const proxy = await startProxy(t, [...frozen.ports.slice(1), ...good.ports], shorter);
      const statuses: number[] = [];
      for (const path of [...QUERIES, ...QUERIES]) statuses.push((await post(proxy.url + path)).status);
      assert.deepEqual(new Set(statuses), new Set([200]));
      assert.ok(received.splice(0).length > 0, 'the frozen node was asked');

      const { url } = await startProxy(t, frozen.ports, shorter);
      for (const path of ONCE) {
        const response = await post(url + path);
        assert.ok([503, 504].includes(response.status) && response.headers.get('retry-after') === '5');
      }
      assert.deepEqual(received, ONCE);
    });

    test('responds with 503 on a connection that the client keeps when every node fails during its request', async (t) => {
      let isReady = true;
      const { ports } = await startNodes(
        t,
        async (received, response) => {
          if (received.url !== '/waits') return response.end();
          isReady = false;
          await setTimeout(3_000); // as while PostgreSQL hangs; two checks fail meanwhile
          response.writeHead(503, { 'retry-after': '5' }).end('{"code":503}');
        },
        () => isReady,
      );
      const { url } = await startProxy(t, ports);
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      t.after(() => agent.destroy());
      const send = async (path: string) => {
        const sent = request(url + path, { method: 'POST', agent }).end('{}');
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        await textOf(response);
        return [response.statusCode, response.headers['retry-after'], sent.reusedSocket];
      };
      // The proxy uses its own connections again too, one to each node.
      for (let i = 0; i < 4; i++) assert.equal((await send('/a'))[0], 200);
      assert.deepEqual(await send('/waits'), [503, '5', true]);
    });

    test('responds with 503 as JSON when no node can be reached', async (t) => {
      const { ports, stop } = await startNodes(t, (_received, response) => response.end());
      const { url } = await startProxy(t, ports);
      stop();
      for (let i = 0; i < 3; i++) {
        const response = await fetch(`${url}/a`, { method: 'POST', body: '{}' });
        assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '5']);
        assert.equal(response.headers.get('content-type'), 'application/json');
        assert.equal(((await response.json()) as { code: number }).code, 503);
      }
    });
  });
}

const QUERIES = [
  '/api/intel/v2/byobject/url/last',
  '/api/intel/v2/byobject/url/search',
  '//api/intel/v1/x',
  '/api/portal/v1/url',
];
/** Requests that are never sent twice. */
const ONCE = ['/api/v1/login', '/api/v1/login', '//api/v1/login', '/api/portal/v1/password', '/api/admin/v1/accounts'];

/** Two servers that pass every request to the listener, except those for their readiness. */
async function startNodes(
  t: TestContext,
  listener: RequestListener,
  isReady = () => true,
): Promise<{ ports: number[]; stop(): void }> {
  const servers = [1, 2].map(() =>
    createServer((received, response) => {
      if (received.url === '/readyz') response.writeHead(isReady() ? 200 : 503).end();
      else listener(received, response);
    }).listen(0, '127.0.0.1'),
  );
  const stop = () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  t.after(stop);
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return { ports: servers.map((server) => (server.address() as AddressInfo).port), stop };
}

const post = (url: string) => fetch(url, { method: 'POST', body: '{}' });

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('the log format of nginx masks the key of a list', async (t) => {
  const { ports } = await startNodes(t, (_received, response) => void response.end());
  const file = join(temporaryFolder(t), 'access.log');
  const { url } = await startNginx(t, ports, (text) => text.replace('access_log off;', `access_log ${file} masked;`));
  await fetch(`${url}/api/lists/v1/uwk_secret/urls-online.txt?max=3`);
  const log = () => readFileSync(file, 'utf8');
  await until(() => log().includes('urls-online.txt'), 'nginx writes its log');
  assert.match(log(), /"GET \/api\/lists\/v1\/\*\*\*\/urls-online\.txt\?max=3" 200/);
  assert.doesNotMatch(log(), /uwk_/);
});
