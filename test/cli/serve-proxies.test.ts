import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../servers/child.ts';
import { startRedis } from '../servers/redis.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { type Outcome, startLoad } from './keep-alive-load.ts';
import { startHaproxy, startNginx } from './proxies.ts';
import { DEMO, type RunningServer, startReusedServer, startServer, tokenOf } from './server.ts';

/** Of each proxy. They send 600 requests a second, and leave the CPU time that the starts need. */
const CONNECTIONS = 8;

test('six stops of the nodes, two of each of three, behind nginx and HAProxy, lose no request', async (t) => {
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const args = ['--demo', '--data', temporaryFolder(t), '--stop-grace-seconds', '1'];
  const start = (port: number) => startReusedServer(t, [...args, '--port', String(port)]);
  const nodes: RunningServer[] = [];
  for (const port of ports) nodes.push(await start(port));
  const token = await tokenOf(nodes[0]?.url ?? '', DEMO);
  const proxies = [await startNginx(t, ports), await startHaproxy(t, ports)];
  const loads = proxies.map(({ url }) => startLoad(t, url, token, CONNECTIONS));
  for (let i = 0; i < 6; i++) {
    const at = i % nodes.length;
    assert.equal(await nodes[at]?.stop('SIGTERM'), 0);
    nodes[at] = await start(ports[at] ?? 0);
  }
  for (const load of loads) {
    await load.end();
    assertNoneFailed(load.outcomes);
  }
});

test('a node that responds with 503 and a node that was killed, behind nginx and HAProxy, are not noticed by clients', async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const data = ['--demo', '--data', temporaryFolder(t)];
  const refusing = ['--redis-url', redis.url, '--limits-when-redis-is-down', 'refuse', '--metrics-port', '0'];
  const good = await startServer(t, data);
  const unready = await startServer(t, [...data, ...refusing]);
  const killed = await startServer(t, data);
  const token = await tokenOf(good.url, DEMO);
  const ports = [good, unready, killed].map(({ url }) => Number(new URL(url).port));
  const haproxy = await startHaproxy(t, ports);
  const proxies = [await startNginx(t, ports), haproxy];
  const loads = proxies.map(({ url }) => startLoad(t, url, token, CONNECTIONS));
  const sent = (count: number) => until(() => loads.every(({ outcomes }) => outcomes.length > count), 'requests');
  await sent(100);
  await redis.stop('SIGKILL');
  // It checks once a second, and two checks must fail. nginx needs one response.
  await until(() => /Server nodes\/node2 is DOWN/.test(haproxy.child.output()), 'HAProxy has noticed it');
  const refused = await refusedBy(unready);
  await killed.stop('SIGKILL');
  await sent(Math.max(...loads.map(({ outcomes }) => outcomes.length)) + 500);
  for (const load of loads) {
    await load.end();
    assertNoneFailed(load.outcomes);
  }
  const more = (await refusedBy(unready)) - refused;
  assert.ok(refused > 0 && more < 20, `${more} more requests went to the node that is not ready`);
});

/** How many queries this node has answered with 503. */
async function refusedBy(node: RunningServer): Promise<number> {
  const metrics = await (await fetch(/^Metrics: (\S+)$/m.exec(node.stdout())?.[1] ?? '')).text();
  return Number(/^urlwarden_http_requests_total\{.*\/last".*status="503"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
}

function assertNoneFailed(outcomes: readonly Outcome[]): void {
  const failed = outcomes.filter(({ result }) => result !== 200);
  assert.deepEqual(failed, [], `of ${outcomes.length} requests`);
  assert.ok(outcomes.length > 500, `only ${outcomes.length} requests were sent`);
}
