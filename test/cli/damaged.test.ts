import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { paths } from '../../src/core/paths.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { openExclusive } from '../../src/database/sqlite/database.ts';
import { damagePages, leafPages } from '../damaged-pages.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { seen } from '../urls/contract/observations.ts';
import { startReusedServer, tokenOf } from './server.ts';
import { urlwarden } from './urlwarden.ts';

test('commands on a damaged folder end with exit code 1, the name of the file and what to do', async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'data');
  const { intelligence, control } = dataFiles(dataDir);
  const store = await openIntelligence({ dataDir });
  await store.apply([seen({ ts: 10, url: 'http://a.example/' })]);
  await store.close();
  await urlwarden(['account', 'add', 'ada', '--data', dataDir], 'secret\n');
  damagePages(intelligence, leafPages(intelligence).get('events') ?? []);
  damagePages(control, leafPages(control).get('accounts') ?? []);

  const backup = join(folder, 'backup.db');
  const commands: [string[], string][] = [
    [['export'], intelligence],
    [['import', 'url-list', '-'], intelligence],
    [['backup', backup], intelligence],
    [['account', 'list'], control],
    [['account', 'add', 'bob'], control],
    [['serve', '--port', '0', '--metrics-port', 'off'], control],
  ];
  const input = 'http://a.example/\n';
  const outcomes = await Promise.all(commands.map(([args]) => urlwarden([...args, '--data', dataDir], input)));
  for (const [n, { code, stderr }] of outcomes.entries()) {
    const [args, path] = commands[n] as (typeof commands)[number];
    assert.equal(code, 1, args.join(' '));
    assert.match(stderr, /^.* is damaged \(.*\)\. Stop the server, .*urlwarden integrity.*urlwarden restore\n$/);
    assert.ok(stderr.includes(path), stderr);
  }
  assert.ok(!existsSync(backup));
});

test('a command that cannot open one of two files closes the other', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const { intelligence, control } = dataFiles(dataDir);
  const commands: [string[], string, string][] = [
    [['import', 'url-list', '-'], control, intelligence],
    [['export', '--list', 'urls-online'], intelligence, control],
  ];
  for (const [args, opened, damaged] of commands) {
    await urlwarden(['import', 'url-list', '-', '--data', dataDir], 'http://a.example/\n');
    writeFileSync(damaged, 'no database'.repeat(1_000));
    const { code, stderr } = await urlwarden([...args, '--data', dataDir], 'http://a.example/\n');
    assert.deepEqual([code, stderr.startsWith(`${damaged} is damaged`)], [1, true], stderr);
    // The process of the command has not ended (`urlwarden.ts`).
    const exclusive = openExclusive(opened);
    assert.notEqual(exclusive, null, args.join(' '));
    exclusive?.close();
    rmSync(dataDir, { recursive: true });
  }
});

test('a server on a damaged file answers what it can read, is not ready, and logs one line', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const { intelligence } = dataFiles(dataDir);
  const store = await openIntelligence({ dataDir });
  const urls = Array.from({ length: 2_000 }, (_, i) => `http://a.example/${i}`);
  await store.apply(urls.map((url) => seen({ ts: 10, url })));
  await store.close();
  await urlwarden(['account', 'add', 'ada', '--tier', 'operator', '--data', dataDir], 'secret\n');
  damagePages(intelligence, leafPages(intelligence).get('urls')?.slice(0, 3) ?? []);

  const server = await startReusedServer(t, ['--data', dataDir, '--metrics-port', '0']);
  const headers = { authorization: `Bearer ${await tokenOf(server.url, { username: 'ada', password: 'secret' })}` };
  const statuses = new Map<number, number>();
  for (const url of urls.filter((_, i) => i % 10 === 0)) {
    const response = await fetch(server.url + paths.urlLast, {
      method: 'POST',
      headers,
      body: JSON.stringify({ url }),
    });
    await response.arrayBuffer();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  }
  assert.deepEqual([...statuses.keys()].sort(), [200, 503], JSON.stringify([...statuses]));
  const ready = await fetch(server.url + paths.readyz);
  assert.deepEqual([ready.status, await ready.json()], [503, { code: 503, message: 'The database is damaged' }]);
  const metrics = await (await fetch(/^Metrics: (\S+)$/m.exec(server.stdout())?.[1] ?? '')).text();
  assert.match(metrics, /^urlwarden_database_damaged 1$/m);
  assert.equal(await server.stop('SIGTERM'), 0);
  const [line, ...others] = server
    .stderr()
    .split('\n')
    .filter((text) => text.includes('"level":50'));
  assert.match(line ?? '', /"reason":"\S+intelligence\.db is damaged .*urlwarden integrity.*urlwarden restore"/);
  assert.deepEqual(others, []);
});
