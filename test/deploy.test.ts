import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SETTINGS } from '../src/config/settings.ts';
import { needs } from './needs.ts';
import { temporaryFolder } from './temporary-folder.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

test('systemd accepts the unit', (t) => {
  needs('systemd-analyze', 'systemd');
  const unit = readFileSync(join(ROOT, 'deploy/urlwarden.service'), 'utf8');
  const file = join(temporaryFolder(t), 'urlwarden.service');
  writeFileSync(file, unit.replace('/opt/urlwarden/bin/urlwarden', '/usr/bin/true'));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
});

test('HAProxy starts with the shipped configuration while the names of the nodes are unknown', () => {
  needs('haproxy');
  execFileSync('haproxy', ['-c', '-q', '-f', join(ROOT, 'deploy/haproxy.cfg')], { stdio: 'pipe' });
});

test('the context of the image has every path that is copied from it', () => {
  const context = readFileSync(join(ROOT, '.dockerignore'), 'utf8').trim().split('\n');
  const copies = [...readFileSync(join(ROOT, 'Dockerfile'), 'utf8').matchAll(/^COPY (?!--from)(.+) \S+$/gm)];
  const paths = copies.flatMap(([, sources = '']) => sources.split(' '));
  assert.ok(paths.includes('portal') && context[0] === '*');
  assert.deepEqual(
    [...new Set(paths)].sort(),
    context
      .slice(1)
      .map((line) => line.replace('!', ''))
      .sort(),
  );
});

test('no document installs the program from the npm registry, where it is not', () => {
  const files = globSync('{README.md,docs/**/*.md,deploy/*.*,compose.yaml,Dockerfile}', { cwd: ROOT });
  assert.ok(files.length > 15, 'the documents were not found');
  for (const file of files) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    assert.doesNotMatch(text, /npm (?:install|i|add) [^\n]*(?:^|\s)urlwarden(?:@|\s|$)|npx --yes urlwarden/m, file);
  }
});

/** Of curl, of our commands, and of a variable in CSS. */
const OTHER_FLAGS = ['--json', '--data-binary', '--csv', '--admin', '--depth'];

test('the pages name only flags that exist', () => {
  const flags = Object.values(SETTINGS).map(({ flag }) => `--${flag}`);
  const named = globSync('portal/**/*.{ts,tsx}', { cwd: ROOT, exclude: ['portal/build.ts'] }).flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([flag]) => flag),
  );
  assert.ok(named.includes('--tls-cert'), 'no flag was found');
  for (const flag of named) assert.ok([...flags, ...OTHER_FLAGS].includes(flag), flag);
});
