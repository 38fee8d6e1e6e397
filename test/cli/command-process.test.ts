import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryControl } from '../temporary-control.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Outcome, urlwarden, urlwardenAlone } from './urlwarden.ts';

// The other tests of commands rely on it.
test('commands that share a process have the same outcome as alone', async (t) => {
  const cwd = temporaryFolder(t);
  await temporaryControl(t, `${cwd}/filled`);
  const lines: [args: string[], stdin: string, env?: Record<string, string>][] = [
    [['--version'], ''],
    [['normalize'], 'http://a.example/\nnothing\n'],
    [['cost', '--fast'], ''],
    [['account', 'list'], ''],
    [['account', 'add', 'ada', '--data', 'filled'], 'correct horse\n'],
    [['account', 'add', 'ada', '--data', 'filled'], 'correct horse\n'],
    [['account', 'list', '--data', 'filled'], ''],
    [['feed', 'add', 'own', '--format', 'x', '--header-file', '-', '--data', 'filled'], 'X-Key: x\n'],
    [['config', 'show'], '', { URLWARDEN_PORT: '9', URLWARDEN_DATA: 'other' }],
    [['config', 'show'], ''],
  ];
  const shared = [];
  for (const [args, stdin, env] of lines) shared.push(await urlwarden(args, stdin, { cwd, ...(env && { env }) }));
  const alone = [];
  await urlwardenAlone(['account', 'remove', 'ada', '--yes', '--data', 'filled'], '', { cwd });
  for (const [args, stdin, env] of lines) alone.push(await urlwardenAlone(args, stdin, { cwd, ...(env && { env }) }));
  const withoutChance = (outcomes: Outcome[]) =>
    outcomes.map(({ stdout, ...rest }) => ({ ...rest, stdout: stdout.replaceAll(/\b\d{8}\b|\S+Z\b/g, '…') }));
  assert.deepEqual(withoutChance(shared), withoutChance(alone));
  assert.deepEqual(
    shared.map(({ code }) => code),
    [0, 1, 2, 1, 0, 1, 0, 2, 0, 0],
  );
});
