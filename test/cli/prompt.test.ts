import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { verifyPassword } from '../../src/accounts/passwords.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { onTerminal, type Typing } from './on-terminal.ts';

async function open(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const control = await temporaryControl(t, dataDir);
  const add = (typing: Typing) => onTerminal(['account', 'add', 'ada', '--data', dataDir], typing);
  const hash = async () => (await control.accountByUsername('ada'))?.passwordHash ?? null;
  return { control, dataDir, add, hash };
}

test('a password is typed twice and not shown', async (t) => {
  const { add, hash } = await open(t);
  const { code, screen } = await add([
    ['New password: ', 'sécrex\u007ft\r'],
    ['Repeat password: ', 'sécret\r'],
  ]);
  assert.match(screen, /^New password: \nRepeat password: \nAdded ada: subscription \d{8}, tier standard\.\n$/);
  assert.equal(code, 0);
  assert.equal(await verifyPassword('sécret', (await hash()) ?? ''), true, 'backspace removed a character');
});

test('a line that was typed before its prompt is not lost', async (t) => {
  const { add, hash } = await open(t);
  const { code } = await add([['New password: ', 'one\rone\r']]);
  assert.equal(code, 0);
  assert.equal(await verifyPassword('one', (await hash()) ?? ''), true);
});

test('two different passwords change nothing', async (t) => {
  const { add, hash } = await open(t);
  const { code, screen } = await add([
    ['New password: ', 'one\r'],
    ['Repeat password: ', 'two\r'],
  ]);
  assert.equal(code, 1);
  assert.match(screen, /The two passwords differ\. Nothing was changed\.\n$/);
  assert.equal(await hash(), null);
});

test('Ctrl-C and Ctrl-D cancel', async (t) => {
  const { add, hash } = await open(t);
  for (const key of ['\u0003', '\u0004']) {
    const { code, screen } = await add([['New password: ', key]]);
    assert.equal(code, 1);
    assert.match(screen, /Canceled\. Nothing was changed\.\n$/);
  }
  assert.equal(await hash(), null);
});

test('remove asks for confirmation and accepts only yes', async (t) => {
  const { add, hash, dataDir } = await open(t);
  await add([['New password: ', 'one\rone\r']]);
  const remove = (answer: string) =>
    onTerminal(['account', 'remove', 'ada', '--data', dataDir], [['Type yes to confirm: ', `${answer}\r`]]);
  const refused = await remove('y');
  assert.equal(refused.code, 1);
  assert.match(refused.screen, /\) permanently\? Type yes to confirm: y\nNothing was changed\.\n$/);
  assert.notEqual(await hash(), null);
  assert.equal((await remove('yes')).code, 0);
  assert.equal(await hash(), null);
});
