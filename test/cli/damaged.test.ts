import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { damagePages, leafPages } from '../damaged-pages.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { seen } from '../urls/contract/observations.ts';
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
