import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openApp } from '../src/app.ts';
import { needs } from './needs.ts';
import { temporaryFolder } from './temporary-folder.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
const readme = readFileSync(`${ROOT}/README.md`, 'utf8');

/** A command, and the output that stands below it. */
const EXAMPLE = /```sh\n(.+)\n```\n\n```(?:json|text)\n([^`]+)```/g;
const examples = [...readme.matchAll(EXAMPLE)].map(([, command = '', output = '']) => ({ command, output }));

test('the examples of the README give what it shows', async (t) => {
  needs('curl');
  const app = await openApp({
    host: '127.0.0.1',
    port: 0,
    dataDir: temporaryFolder(t),
    demo: true,
    queryBudgetMs: 10_000,
  });
  t.after(() => app.close());
  assert.ok(examples.length >= 10, 'the examples were not found');
  for (const { command, output } of examples) {
    await t.test(command, async () => {
      const { stdout } = await run('bash', ['-c', command.replaceAll('http://127.0.0.1:8080', app.url)], { cwd: ROOT });
      assert.deepEqual(comparable(stdout), comparable(output));
    });
  }
});

test('every command of the README is an example or one of the two that set everything up', () => {
  const commands = [...readme.matchAll(/```sh\n(.+)\n```/g)].map(([, command]) => command);
  const others = commands.filter((command) => !examples.some((example) => example.command === command));
  assert.deepEqual(others, ['npm ci && npm start -- --demo', 'npm ci && npm run check']);
  assert.match(readFileSync(`${ROOT}/.ci/run`, 'utf8'), /^npm ci && npm run check$/m);
});

/** The demo's times count back from today, and the order of a stream is not promised. */
function comparable(output: string): string[] {
  return output
    .trim()
    .replaceAll(/"ts":\d{10}\b/g, '"ts":0')
    .split('\n')
    .sort();
}
