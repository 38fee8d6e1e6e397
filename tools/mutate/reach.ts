import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Not `import type`, which loads nothing. */
const IMPORT = /^(?:import|export)\b(?! type\b)[^;]*?from '(\.[^']+)'|^import '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm;
/** How code starts a worker thread. */
const WORKER = /new URL\('([^']+\.ts)', import\.meta\.url\)/g;

/**
 * The tests that load `file`, nearest first: a test that imports it directly fails sooner than one that loads it through
 * five others. The others cannot fail because of a change in it.
 */
export function testsThatReach(root: string, file: string, tests: readonly string[]): string[] {
  const distances = tests.map((test) => ({ test, distance: distance(root, test, file) }));
  return distances
    .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.distance - b.distance || (a.test < b.test ? -1 : 1))
    .map(({ test }) => test);
}

function distance(root: string, from: string, to: string): number {
  const seen = new Set([from]);
  let layer = [from];
  for (let steps = 0; layer.length > 0; steps++) {
    if (layer.includes(to)) return steps;
    layer = layer.flatMap((file) => importsOf(root, file)).filter((file) => !seen.has(file) && seen.add(file));
  }
  return Number.POSITIVE_INFINITY;
}

const known = new Map<string, string[]>();

function importsOf(root: string, file: string): string[] {
  const path = join(root, file);
  const imports = known.get(path) ?? readImports(path).map((target) => posix.join(posix.dirname(file), target));
  known.set(path, imports);
  return imports;
}

function readImports(path: string): string[] {
  const text = path.endsWith('.ts') ? readFileSync(path, 'utf8') : '';
  return [...text.matchAll(IMPORT), ...text.matchAll(WORKER)].map((found) => found.slice(1).find(Boolean) ?? '');
}
