import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseResponses } from '../http/raw.ts';
import { open } from '../http/transport.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startLoad } from './keep-alive-load.ts';
import { DEMO, startServer, tokenOf } from './server.ts';

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';

/** Longer than the second in which a repeated signal counts as the same one. */
const NEXT_SIGNAL_MS = 1_100;

/** The rest of a body that nobody reads is discarded for 30 s. */
const DISCARD_MS = 30_000;

describe('a stop', { concurrency: true }, () => {
  test('by SIGTERM loses no request that was sent within the grace time', async (t) => {
    const server = await startServer(t, ['--demo', '--data', temporaryFolder(t), '--stop-grace-seconds', '2']);
    const token = await tokenOf(server.url, DEMO);
    const idle = open(Number(new URL(server.url).port));
    let idleText = '';
    idle.on('data', (chunk) => {
      idleText += chunk;
    });
    idle.write(HEALTH);
    const load = startLoad(t, server.url, token, 24);
    await delay(500);

    const startMs = performance.now();
    const endMs = startMs + 2_000;
    const exited = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    let ready = await fetch(`${server.url}/readyz`);
    while (ready.status === 200) ready = await fetch(`${server.url}/readyz`);
    const announcedMs = performance.now();
    assert.deepEqual(await ready.json(), { code: 503, message: 'The server is stopping' });
    assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
    idle.write(HEALTH);
    await once(idle, 'close');
    assert.deepEqual(
      parseResponses(idleText).map(({ headers }) => headers.connection),
      ['keep-alive', 'close'],
    );
    assert.deepEqual(await exited, [0, null]);
    await load.end();

    const within = load.outcomes.filter(({ sentMs }) => sentMs !== null && sentMs <= endMs);
    const lost = within.filter(({ result }) => result !== 200);
    assert.deepEqual(lost, []);
    const announced = within.filter(({ sentMs }) => sentMs !== null && sentMs > announcedMs);
    assert.ok(announced.length > 24, `${announced.length} requests`);
    assert.ok(announced.every(({ closes }) => closes));
    assert.doesNotMatch(server.stderr(), /"level":50/);
  });

  test('does not wait for the rest of a refused upload whose client has gone', async (t) => {
    const server = await startServer(t, ['--demo', '--data', temporaryFolder(t)]);
    const token = await tokenOf(server.url, DEMO);
    const startMs = performance.now();
    const client = open(Number(new URL(server.url).port));
    const headers = `Host: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1000`;
    client.write(`POST /api/admin/v1/imports?format=nope HTTP/1.1\r\n${headers}\r\n\r\n`);
    assert.match(String((await once(client, 'data'))[0]), /^HTTP\/1.1 400 /);
    client.destroy();
    assert.equal(await server.stop('SIGTERM'), 0);
    assert.ok(performance.now() - startMs < DISCARD_MS);
  });

  test('ends the grace time at the second signal and the process at the third; one that arrives twice counts once', async (t) => {
    const server = await startServer(t, ['--demo', '--data', temporaryFolder(t), '--stop-grace-seconds', '60']);
    const exited = once(server.child, 'exit');
    const unfinished = open(Number(new URL(server.url).port)); // closing waits for this request for 8 s
    unfinished.on('error', () => {});
    unfinished.write('POST /api/v1/login HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{');
    server.child.kill('SIGTERM');
    await delay(50);
    server.child.kill('SIGTERM');
    while ((await fetch(`${server.url}/readyz`)).status !== 503); // the second counts from when the first is handled
    await delay(NEXT_SIGNAL_MS);
    assert.equal((await fetch(`${server.url}/healthz`)).status, 200);

    const secondMs = performance.now();
    server.child.kill('SIGTERM');
    while (await fetch(`${server.url}/healthz`).catch(() => null));
    await delay(NEXT_SIGNAL_MS);
    assert.equal(server.child.exitCode, null);
    server.child.kill('SIGTERM');
    assert.deepEqual(await exited, [1, null]);
    assert.ok(performance.now() - secondMs < 6_000);
  });

  test('of npm start stops the server', async (t) => {
    const args = ['--port', '0', '--metrics-port', 'off', '--stop-grace-seconds', '0', '--data', temporaryFolder(t)];
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const npm = spawn('npm', ['start', '--', '--demo', ...args], { cwd, detached: true });
    t.after(() => {
      try {
        process.kill(-(npm.pid ?? assert.fail()), 'SIGKILL'); // npm and everything that it has started
      } catch {} // all of it has ended
    });
    let output = '';
    for await (const chunk of npm.stdout) {
      output += chunk;
      if (output.includes('Data:')) break;
    }
    const url = /answers on (\S+)\n/.exec(output)?.[1] ?? assert.fail(output);
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    const exited = once(npm, 'exit');
    npm.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);
    await assert.rejects(fetch(`${url}/healthz`));
  });
});
