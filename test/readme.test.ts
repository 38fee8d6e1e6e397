import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openApp } from '../src/app.ts';
import { DEFAULT_SETTINGS } from '../src/config/settings.ts';
import { needs } from './needs.ts';
import { temporaryFolder } from './temporary-folder.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
const readme = readFileSync(`${ROOT}/README.md`, 'utf8');
const api = readFileSync(`${ROOT}/docs/api.md`, 'utf8');
const reputation = readFileSync(`${ROOT}/docs/reputation.md`, 'utf8');

/** A command and the output below it. */
const EXAMPLE = /```sh\n(.+)\n```\n\n```(?:json|text)\n([^`]+)```/g;
/** Sets the token that the examples use. */
const LOGIN = /```sh\n(TOKEN=.+)\n```/.exec(readme)?.[1] ?? '';
const examplesIn = (text: string) =>
  [...text.matchAll(EXAMPLE)].map(([, command = '', output = '']) => ({ command, output }));
const examples = examplesIn(readme);

test('the examples in the README, docs/api.md and docs/reputation.md produce the output shown', async (t) => {
  needs('curl');
  const app = await openApp({
    ...DEFAULT_SETTINGS,
    port: 0,
    metricsPort: 'off',
    dataDir: temporaryFolder(t),
    demo: true,
  });
  t.after(() => app.close());
  const { url } = await app.listen();
  const all = [...examples, ...examplesIn(api), ...examplesIn(reputation)];
  assert.ok(examples.length >= 5 && all.length >= 22, 'the examples were not found');
  const env = { ...process.env };
  const shell = async (command: string) => {
    const script = command.replaceAll('http://127.0.0.1:8080', url);
    return (await run('bash', ['-c', script], { cwd: ROOT, env })).stdout;
  };
  env.TOKEN = await shell(`${LOGIN}; printf %s "$TOKEN"`);
  for (const { command, output } of all) {
    await t.test(command, async () => {
      assert.deepEqual(comparable(await shell(command)), comparable(output));
    });
  }
});

test('every command in the README is an example, the login, or one of the two setup commands', () => {
  const commands = [...readme.matchAll(/```sh\n(.+)\n```/g)].map(([, command]) => command);
  const others = commands.filter((command) => !examples.some((example) => example.command === command));
  assert.deepEqual(others, ['npm ci && npm start -- --demo', 'npm ci && npm run check', LOGIN]);
  assert.match(readFileSync(`${ROOT}/.ci/run`, 'utf8'), /^npm ci && npm run check$/m);
});

/** Times depend on today, the sub is random, counters depend on earlier queries, and streams have no guaranteed order. */
function comparable(output: string): string[] {
  return output
    .trim()
    .replaceAll(/("[a-z_-]+"):\d{10}\b/g, '$1:0')
    .replaceAll(/\b20\d\d-\d\d-\d\d\b/g, '0')
    .replaceAll(/"sub":"\d{8}"/g, '"sub":"0"')
    .replaceAll(/"current":\{[^}]+\}/g, '"current":{}')
    .split('\n')
    .sort();
}

test('every document is reachable from the README', () => {
  const documents = globSync('{docs/**/*.md,*.md,examples/*.md}', { cwd: ROOT }).filter((path) => path !== 'README.md');
  const linked = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = '']) => path);
  for (const path of documents) assert.ok(linked.includes(path), `${path} is not linked`);
  for (const path of linked) assert.ok(existsSync(`${ROOT}/${path}`), `${path} is linked, but does not exist`);
});

test('every path of the sources that a document names exists', () => {
  const documents = globSync('{docs/**/*.md,README.md,CONTRIBUTING.md}', { cwd: ROOT });
  let found = 0;
  for (const document of documents) {
    const text = readFileSync(`${ROOT}/${document}`, 'utf8');
    for (const [, path = ''] of text.matchAll(/`((?:src|test|tools|docs|examples|deploy|migrations)\/[\w./-]+)`/g)) {
      assert.ok(existsSync(`${ROOT}/${path}`), `${document} names ${path}`);
      found += 1;
    }
  }
  assert.ok(found > 50, 'the paths were not found');
});
