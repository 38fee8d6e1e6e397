import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A file imports from its own folder and from lower layers; docs/ARCHITECTURE.md has a diagram. */
const LAYERS = [
  ['core'],
  ['config', 'threads'],
  ['database', 'redis', 'metrics'],
  ['http'],
  ['urls', 'reputation', 'accounts', 'limits', 'ingest', 'audit', 'health', 'portal', 'changes'],
  // Lists are made of URLs and reputation by the rules of both.
  ['exports'],
  // It uses the functions with which features are managed, and nothing uses it.
  ['admin'],
  ['app'],
  // For programs of others, and for commands that ask a server.
  ['client'],
  ['cli'],
];

/** What a feature may import from another one: its port and its wire format. */
const PUBLIC = /^src\/[a-z]+\/(?:store|wire)\.ts$/;

/** Drivers stay inside their adapter. */
const DRIVERS: Record<string, string> = {
  'node:sqlite': 'src/database/sqlite/',
  postgres: 'src/database/postgres/',
  ioredis: 'src/redis/',
  'prom-client': 'src/metrics/',
};

const IMPORT = /^(?:import|export)\b[^;]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

const imports = globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) => {
  const found = readFileSync(`${ROOT}/${file}`, 'utf8').matchAll(IMPORT);
  return [...found].map((match) => ({ file, target: match[1] ?? match[2] ?? match[3] ?? '' }));
});

test('every source file belongs to a layer', () => {
  for (const file of globSync('src/**/*.ts', { cwd: ROOT })) assert.notEqual(layerOf(file), -1, file);
  assert.ok(imports.length > 100, 'the imports were not found');
});

test('imports point one way', () => {
  for (const { file, target } of imports.filter(({ target }) => target.startsWith('.'))) {
    const imported = posix.join(posix.dirname(file), target);
    const isAllowed =
      folderOf(imported) === folderOf(file) ||
      layerOf(imported) < layerOf(file) ||
      (layerOf(imported) === layerOf(file) && PUBLIC.test(imported));
    assert.ok(isAllowed, `${file} must not import ${imported}`);
  }
});

/** It runs in browsers, and its types are used without those of Node.js. */
test('the client imports nothing but its own files', () => {
  const ofClient = imports.filter(({ file }) => folderOf(file) === 'client');
  for (const { file, target } of ofClient) assert.match(target, /^\.\/[a-z]+\.ts$/, file);
  assert.ok(ofClient.length > 5, 'the imports were not found');
});

test('drivers are imported only inside their adapter', () => {
  for (const { file, target } of imports) {
    const home = DRIVERS[target];
    assert.ok(home === undefined || file.startsWith(home), `${file} must not import ${target}`);
  }
});

test('node:http is imported for its types only, see core/node-http.ts', () => {
  for (const file of globSync('src/**/*.ts', { cwd: ROOT })) {
    assert.doesNotMatch(readFileSync(`${ROOT}/${file}`, 'utf8'), /^import (?!type )[^;]*from 'node:http'/m, file);
  }
});

test('no import cycles', () => {
  const graph = Map.groupBy(
    imports.filter(({ target }) => target.startsWith('.')),
    ({ file }) => file,
  );
  const done = new Set<string>();
  const visit = (file: string, path: string[]): void => {
    assert.ok(!path.includes(file), [...path, file].join(' → '));
    if (done.has(file)) return;
    for (const { target } of graph.get(file) ?? []) visit(posix.join(posix.dirname(file), target), [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
});

function folderOf(file: string): string {
  return (file.split('/')[1] ?? '').replace(/\.ts$/, '');
}

function layerOf(file: string): number {
  return LAYERS.findIndex((layer) => layer.includes(folderOf(file)));
}

test('both adapters of a feature have the same files', () => {
  /**
   * Only SQLite has caches, and a writer thread that loads no reads and writes batches together. Only PostgreSQL locks the
   * rows of a batch, and numbers changes after their transaction.
   */
  const oneEngine = new Set([
    'src/urls/sqlite/apply-together.ts',
    'src/urls/sqlite/json-cache.ts',
    'src/urls/sqlite/known-urls.ts',
    'src/reputation/sqlite/domain-cache.ts',
    'src/reputation/sqlite/listing-cache.ts',
    'src/urls/sqlite/writes.ts',
    'src/urls/postgres/locked-batch.ts',
    'src/reputation/sqlite/writes.ts',
    'src/changes/sqlite/writes.ts',
    'src/changes/postgres/numbers.ts',
  ]);
  const files = (engine: string) =>
    globSync(`src/{urls,reputation,accounts,limits,ingest,audit,health,exports,changes}/${engine}/*.ts`, { cwd: ROOT });
  const names = (engine: string) =>
    files(engine)
      .filter((file) => !oneEngine.has(file))
      .map((file) => file.replace(engine, 'engine'))
      .sort();
  assert.deepEqual(names('sqlite'), names('postgres'));
  assert.ok(names('sqlite').length > 15, 'the adapters were not found');
});

test('no tool imports another tool', () => {
  for (const file of globSync('tools/**/*.ts', { cwd: ROOT })) {
    for (const match of readFileSync(`${ROOT}/${file}`, 'utf8').matchAll(IMPORT)) {
      const target = posix.join(posix.dirname(file), match[1] ?? match[2] ?? match[3] ?? '');
      const [, from] = file.split('/');
      const [root, to] = target.split('/');
      assert.ok(root !== 'tools' || to === from || to === 'shared', `${file} must not import ${target}`);
    }
  }
});

/** TypeBox alone takes as long to load as everything else of a command. */
test('commands without a server load neither the HTTP server, nor schemas, nor the drivers of other engines', () => {
  const heavy = new Set(['typebox', 'fastify', 'postgres', 'ioredis', 'prom-client']);
  /** Static imports that remain at run time. */
  const VALUE_IMPORT = /^(?:import|export)\b(?! type\b)[^;]*?from '([^']+)'/gm;
  const loaded = new Set<string>();
  const visit = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const [, target = ''] of readFileSync(`${ROOT}/${file}`, 'utf8').matchAll(VALUE_IMPORT)) {
      assert.ok(!heavy.has(target), `${file} loads ${target}`);
      if (target.startsWith('.')) visit(posix.join(posix.dirname(file), target));
    }
  };
  for (const file of ['src/app/stores.ts', ...globSync('src/cli/commands/*.ts', { cwd: ROOT })]) {
    if (!/\/(?:serve|move)\.ts$/.test(file)) visit(file);
  }
  assert.ok(loaded.size > 50, 'the imports were not found');
});
