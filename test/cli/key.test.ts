import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ensureKey } from '../../src/accounts/signing-keys.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

test('key rotate adds a key, and only --now removes the older ones', async (t) => {
  const dataDir = temporaryFolder(t);
  const control = await temporaryControl(t, dataDir);
  const rotate = (...args: string[]) => urlwarden(['key', 'rotate', ...args, '--data', dataDir]);
  const kids = async () => (await control.keys()).map(({ kid }) => kid);
  const { kid: first } = await ensureKey(control, Math.floor(Date.now() / 1000));

  const { stdout } = await rotate();
  const [second] = await kids();
  assert.equal(stdout, `New tokens are signed with the key ${second}. Existing tokens stay valid until they expire.\n`);
  assert.deepEqual(await kids(), [second, first]);

  const result = JSON.parse((await rotate('--now', '--json')).stdout);
  const [third] = await control.keys();
  assert.deepEqual(result, { kid: third?.kid, keys: [{ kid: third?.kid, created_ts: third?.createdTs }] });
  assert.deepEqual(await kids(), [result.kid]);
});
