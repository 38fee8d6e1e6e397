import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openIntelligence } from '../../src/app/stores.ts';
import { batches } from './observations.ts';

type KillOptions = { rounds: number; observations: number; batchSize: number; maxDelayMs: number };
export type KillResult = { killed: number; faults: string[]; sameState: boolean };

const CHILD = fileURLToPath(new URL('./kill-child.ts', import.meta.url));

/**
 * Repeatedly kills a process that applies batches with `kill -9` at random times; after each kill the file must pass its
 * integrity check. Then one run to the end: every table must have the same rows as after an undisturbed run.
 */
export async function killLoop(options: KillOptions): Promise<KillResult> {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-kill-'));
  try {
    const disturbed = join(folder, 'disturbed');
    const clean = join(folder, 'clean');
    let killed = 0;
    const faults: string[] = [];
    for (let round = 0; round < options.rounds; round++) {
      if (await applyAndKill(disturbed, options)) killed++;
      faults.push(...integrityFaults(disturbed));
    }
    for (const dataDir of [disturbed, clean]) await applyAll(dataDir, options);
    faults.push(...integrityFaults(disturbed));
    return { killed, faults, sameState: JSON.stringify(contents(disturbed)) === JSON.stringify(contents(clean)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether it was killed before it finished. The delay starts after the first batch. */
async function applyAndKill(dataDir: string, { observations, batchSize, maxDelayMs }: KillOptions): Promise<boolean> {
  const args = [CHILD, dataDir, `${observations}`, `${batchSize}`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  await Promise.race([sleep(Math.random() * maxDelayMs), ended]);
  child.kill('SIGKILL');
  const [, signal] = await ended;
  return signal === 'SIGKILL';
}

async function applyAll(dataDir: string, { observations, batchSize }: KillOptions): Promise<void> {
  const store = await openIntelligence({ dataDir });
  for (const batch of batches(observations, batchSize)) await store.apply(batch);
  await store.close();
}

export function integrityFaults(dataDir: string): string[] {
  const db = new DatabaseSync(join(dataDir, 'intelligence.db'));
  const rows = db.prepare('pragma integrity_check').all() as { integrity_check: string }[];
  db.close();
  return rows.map((row) => row.integrity_check).filter((fault) => fault !== 'ok');
}

/** Tables with times or places of the run itself. */
const OF_THE_RUN: ReadonlySet<string> = new Set(['migrations', 'change_numbers']);
/** All but the time of the write. */
const CHANGE_COLUMNS = 'id, seq, count, op, kind, subjects';

/** Every row of every table in order of its key, ids included: both runs see the batches in the same order. */
function contents(dataDir: string): unknown {
  const db = new DatabaseSync(join(dataDir, 'intelligence.db'), { readOnly: true });
  const tables = db.prepare("select name from sqlite_schema where type = 'table'").all();
  const rows = tables
    .filter(({ name }) => !OF_THE_RUN.has(String(name)))
    .map(({ name }) => db.prepare(`select ${name === 'changes' ? CHANGE_COLUMNS : '*'} from ${name}`).all());
  db.close();
  return rows.map((list) => list.map((row) => Object.values(row).map(String)));
}
