import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { startUrlwarden, urlwarden } from './urlwarden.ts';

test('serve --demo answers, in a folder of its own, and closes clean on SIGTERM', async (t) => {
  const dataDir = temporaryFolder(t);
  const { url, child } = await start(t, ['--demo', '--port', '0', '--data', dataDir]);
  const body = JSON.stringify({ url: 'http://203.0.113.7/bin.sh' });
  const answer = await fetch(`${url}/api/intel/v2/byobject/url/last`, { method: 'POST', body });
  assert.equal(((await answer.json()) as { status: { status: string } }).status.status, 'online');
  assert.deepEqual(readdirSync(dataDir), ['demo']);

  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
  assert.ok(!existsSync(join(dataDir, 'demo', 'intelligence.db-wal')), 'the log is folded back into the database');
});

test('serve --demo started again keeps its data as it is', async (t) => {
  const dataDir = temporaryFolder(t);
  const answers: unknown[] = [];
  for (const _ of [1, 2]) {
    const { url, child } = await start(t, ['--demo', '--port', '0', '--data', dataDir]);
    const search = await fetch(`${url}/api/intel/v2/byobject/url/search`, {
      method: 'POST',
      body: '{"ip":"0.0.0.0/0"}',
    });
    answers.push(await search.text());
    child.kill('SIGINT');
    await once(child, 'exit');
  }
  assert.equal(answers[0], answers[1]);
});

test('serve without --demo starts empty and ready', async (t) => {
  const { url } = await start(t, ['--port', '0', '--data', join(temporaryFolder(t), 'made', 'here')]);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  const search = await fetch(`${url}/api/intel/v2/byobject/url/search`, { method: 'POST', body: '{"ip":"0.0.0.0/0"}' });
  assert.equal(search.status, 404);
});

test('serve says what to do when the port is taken', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const { code, stderr } = await urlwarden(['serve', '--port', `${port}`, '--data', temporaryFolder(t)]);
  assert.deepEqual(
    [code, stderr],
    [1, `Port ${port} on 127.0.0.1 is taken: choose another with --port, or --port 0 for any free one\n`],
  );
});

test('serve says what is wrong with the data folder', async () => {
  const { code, stderr } = await urlwarden(['serve', '--data', '/dev/null/data']);
  assert.equal(code, 1);
  assert.match(stderr, /^The data folder \/dev\/null\/data cannot be made: /);
});

test('serve reports all faulty settings and where to read on', async () => {
  const { code, stderr } = await urlwarden(['serve', '--port', 'x', '--host', '192.0.2.1', '--wat']);
  assert.equal(code, 2);
  assert.deepEqual(
    stderr.split('\n').map((line) => line.split(' ')[0]),
    ['--wat', '--host', '--port', 'See:', ''],
  );
});

async function start(t: TestContext, args: string[]): Promise<{ url: string; child: ChildProcess }> {
  const child = startUrlwarden(['serve', ...args]);
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    const url = /answers on (\S+)\n/.exec(output)?.[1];
    if (url !== undefined) return { url, child };
  }
  throw new Error(`it ended before it listened: ${output}`);
}
