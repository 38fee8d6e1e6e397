import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROGRAM } from '../shared/server-process.ts';
import { urlhausDump } from '../shared/urlhaus-dump.ts';
import { integrityFaults, type KillResult } from './kill.ts';

type ImportKillOptions = { kills: number; rows: number };

/** No kill during this time, in which the program is loaded. */
const START_MS = 300;
/** When all rows are stored already, an import may finish before the kill; such a run does not count. */
const RUNS_PER_KILL_MAX = 3;

/**
 * Kills `urlwarden import` of a second complete listing with `kill -9` at random times. Then the import runs once more to
 * its end, and its export must be equal, byte for byte, to that of an undisturbed import.
 */
export async function importKillLoop({ kills, rows }: ImportKillOptions): Promise<KillResult> {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-import-kill-'));
  try {
    const [disturbed, clean] = [join(folder, 'disturbed'), join(folder, 'clean')];
    // The newer listing lacks rows of the older one, so some URLs go offline.
    const older = writeDump(join(folder, 'older.csv'), rows, '2026-06-01');
    const newer = writeDump(join(folder, 'newer.csv'), Math.ceil(rows * 0.8), '2026-06-02');
    for (const dataDir of [clean, disturbed]) runImport(older, dataDir);
    const startedMs = performance.now();
    runImport(newer, clean);
    const wholeMs = performance.now() - startedMs;

    const faults: string[] = [];
    let killed = 0;
    for (let runs = 0; killed < kills && runs < kills * RUNS_PER_KILL_MAX; runs++) {
      if (await importAndKill(newer, disturbed, START_MS + Math.random() * (wholeMs - START_MS))) killed++;
      faults.push(...integrityFaults(disturbed));
    }
    runImport(newer, disturbed);
    faults.push(...integrityFaults(disturbed));
    return { killed, faults, sameState: exported(disturbed).equals(exported(clean)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Dump = { file: string; asOf: string };

function writeDump(file: string, rows: number, asOf: string): Dump {
  writeFileSync(file, [...urlhausDump({ rows, seed: 1 })].join('').replaceAll('"offline"', '"online"'));
  return { file, asOf };
}

function importArguments({ file, asOf }: Dump, dataDir: string): string[] {
  return [PROGRAM, 'import', 'urlhaus-csv', file, '--complete', '--force', '--as-of', asOf, '--data', dataDir];
}

function runImport(dump: Dump, dataDir: string): void {
  execFileSync(process.execPath, importArguments(dump, dataDir), { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Whether it was killed before it finished. */
async function importAndKill(dump: Dump, dataDir: string, afterMs: number): Promise<boolean> {
  const child = spawn(process.execPath, importArguments(dump, dataDir), { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  await Promise.race([sleep(afterMs), ended]);
  child.kill('SIGKILL');
  const [, signal] = await ended;
  return signal === 'SIGKILL';
}

function exported(dataDir: string): Buffer {
  const args = [PROGRAM, 'export', '--format', 'ndjson', '--data', dataDir];
  return execFileSync(process.execPath, args, { maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'inherit'] });
}
