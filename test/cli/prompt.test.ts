import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { verifyPassword } from '../../src/accounts/passwords.ts';
import { needs } from '../needs.ts';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { PROGRAM } from './urlwarden.ts';

needs('script', 'bsdutils');

/** What is typed when the terminal shows a text. */
type Typing = readonly (readonly [shown: string, typed: string])[];

/** Runs the program on a terminal of its own; gives what a person sees. */
async function onTerminal(args: string[], typing: Typing): Promise<{ code: number | null; screen: string }> {
  const command = [process.execPath, PROGRAM, ...args].map((arg) => `'${arg}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null']);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const left = [...typing];
  let [screen, seen] = ['', 0];
  child.stdout.setEncoding('utf8');
  for await (const chunk of child.stdout) {
    screen += chunk;
    const next = left[0];
    if (next === undefined || !screen.slice(seen).includes(next[0])) continue;
    seen = screen.length;
    child.stdin.write(next[1]);
    left.shift();
  }
  return { code: await ended, screen: stripVTControlCharacters(screen).replaceAll(/\r+\n/g, '\n') };
}

async function open(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const control = await temporaryControl(t, dataDir);
  const add = (typing: Typing) => onTerminal(['account', 'add', 'ada', '--data', dataDir], typing);
  const hash = async () => (await control.accountByUsername('ada'))?.passwordHash ?? null;
  return { control, dataDir, add, hash };
}

test('a password is typed twice and never shown', async (t) => {
  const { add, hash } = await open(t);
  const { code, screen } = await add([
    ['New password: ', 'sécrex\u007ft\r'],
    ['The same again: ', 'sécret\r'],
  ]);
  assert.match(screen, /^New password: \nThe same again: \nAdded ada: subscription \d{8}, tier standard\.\n$/);
  assert.equal(code, 0);
  assert.equal(await verifyPassword('sécret', (await hash()) ?? ''), true, 'a mistake was taken back');
});

test('what is typed ahead is not lost', async (t) => {
  const { add, hash } = await open(t);
  const { code } = await add([['New password: ', 'one\rone\r']]);
  assert.equal(code, 0);
  assert.equal(await verifyPassword('one', (await hash()) ?? ''), true);
});

test('two different passwords change nothing', async (t) => {
  const { add, hash } = await open(t);
  const { code, screen } = await add([
    ['New password: ', 'one\r'],
    ['The same again: ', 'two\r'],
  ]);
  assert.equal(code, 1);
  assert.match(screen, /The two passwords differ, so nothing was changed: try again\.\n$/);
  assert.equal(await hash(), null);
});

test('Ctrl-C and Ctrl-D call it off', async (t) => {
  const { add, hash } = await open(t);
  for (const key of ['\u0003', '\u0004']) {
    const { code, screen } = await add([['New password: ', key]]);
    assert.equal(code, 1);
    assert.match(screen, /Called off: nothing was changed\.\n$/);
  }
  assert.equal(await hash(), null);
});

test('remove asks, and takes nothing but yes', async (t) => {
  const { add, hash, dataDir } = await open(t);
  await add([['New password: ', 'one\rone\r']]);
  const remove = (answer: string) =>
    onTerminal(['account', 'remove', 'ada', '--data', dataDir], [['Type yes: ', `${answer}\r`]]);
  const refused = await remove('y');
  assert.equal(refused.code, 1);
  assert.match(refused.screen, /and its usage for good\? Type yes: y\nNothing was changed\.\n$/);
  assert.notEqual(await hash(), null);
  assert.equal((await remove('yes')).code, 0);
  assert.equal(await hash(), null);
});
