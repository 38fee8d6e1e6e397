import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { generator } from './load.ts';

/** Load, versions and hardware, which affect the figures; printed and stored with the results. */
export function machine(): { load: string; versions: string; time: string } {
  const cores = cpus();
  const parts = [
    `Node ${process.versions.node}`,
    `SQLite ${process.versions.sqlite}`,
    `Fastify ${versionOf('fastify')}`,
    generator,
    `${cores.length} cores (${cores[0]?.model ?? 'unknown'})`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
  ];
  const load = loadavg().map((average) => average.toFixed(2));
  return { load: load.join(' '), versions: parts.join(', '), time: new Date().toISOString() };
}

function versionOf(name: string): string {
  const file = fileURLToPath(new URL(`../../../node_modules/${name}/package.json`, import.meta.url));
  return JSON.parse(readFileSync(file, 'utf8')).version;
}
