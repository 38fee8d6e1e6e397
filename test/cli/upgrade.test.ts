import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { dataFiles } from '../../src/database/data-folder.ts';
import { logIn, startServer } from '../../tools/shared/server-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

// The data folder that the first version wrote: its tables, and the rows of two imports, an account, a tier and a feed.
const FIXTURE = new URL('../fixtures/first-version/', import.meta.url);

function firstVersionFolder(dataDir: string): void {
  for (const [part, path] of Object.entries(dataFiles(dataDir))) {
    const db = new DatabaseSync(path);
    db.exec(readFileSync(new URL(`${part}.sql`, FIXTURE), 'utf8'));
    db.close();
  }
}

/** Its subscription number is lower than that of the account in the fixture. */
function addYoungerAccount(dataDir: string): void {
  const db = new DatabaseSync(dataFiles(dataDir).control);
  db.exec(`insert into accounts (sub, username, username_key, password_hash, tier, is_enabled, generation, created_ts)
    select '10000000', 'eve', 'eve', password_hash, tier, is_enabled, generation, created_ts + 1 from accounts`);
  db.close();
}

test('a data folder of the first version opens, with all that is in it', async (t) => {
  const dataDir = temporaryFolder(t);
  firstVersionFolder(dataDir);
  addYoungerAccount(dataDir);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await urlwarden([...args, '--data', dataDir]);
    assert.equal(code, 0, stderr);
    return stdout;
  };

  const server = await startServer(dataDir, { log: 'pipe' }); // the feed has an address that is refused
  try {
    const authorization = await logIn(server.url, { username: 'ada', password: 'pw' });
    const response = await fetch(`${server.url}/api/intel/v2/byobject/url/last`, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ url: 'http://203.0.113.7/bin.sh' }),
    });
    const { status, payload } = (await response.json()) as Record<string, Record<string, unknown>>;
    assert.deepEqual([status?.status, payload?.['malware-family']], ['offline', 'Mirai']);
  } finally {
    await server.stop();
  }

  const exported = readFileSync(new URL('export.ndjson', FIXTURE), 'utf8');
  assert.equal(await run('export'), exported);
  assert.deepEqual(
    JSON.parse(await run('account', 'list', '--json')).map((one: Record<string, unknown>) => [one.username, one.admin]),
    [
      ['ada', true],
      ['eve', false],
    ],
    'the oldest account is administrator',
  );
  assert.match(await run('tier', 'list'), /partner/);
  assert.deepEqual(
    JSON.parse(await run('feed', 'list', '--json')).map(({ name }: { name: string }) => name),
    ['night'],
  );
  assert.equal(JSON.parse(await run('import', 'list', '--json')).length, 2);
  assert.equal((await urlwarden(['domain', 'show', 'bad.example', '--data', dataDir])).code, 1);
  await run('domain', 'rebuild');
  assert.match(await run('domain', 'show', 'bad.example'), /malware/);
});
