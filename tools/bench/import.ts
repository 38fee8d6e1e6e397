import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAM } from '../shared/server-process.ts';
import { urlhausDump } from '../shared/urlhaus-dump.ts';
import type { Bench, Row } from './harness/figure.ts';

// The rate of `urlwarden import` into an empty data folder, and of the same data again, compared with `.import` of the sqlite3
// shell, which loads the same file into one table.

type ImportRowOptions = { rows: number; rounds: number; folder: string };
/** One figure per round, each for the whole command. */
type BenchRow = { ours: number[]; again: number[]; yardstick: number[]; unit: 'rows/s' };

const COLUMNS = ['id', 'dateadded', 'url', 'url_status', 'last_online', 'threat', 'tags', 'urlhaus_link', 'reporter'];
/**
 * Our import adds a row of URLhaus to eight b-trees: urls by id and by key, hosts by id and by name, events by URL and
 * by host, resolutions by URL and by address. So the table gets eight indexes: one on every column but `threat`, which is
 * the same in all rows.
 */
const INDEXED = COLUMNS.filter((name) => name !== 'threat');
const BANNER_LINES = 6;

const ROWS = 1_000_000;
/** A round takes a minute, so `--rounds` is limited here. */
const MAX_ROUNDS = 3;

export const importing: Row = {
  name: 'import',
  async measure({ rounds }: Bench) {
    const folder = mkdtempSync(join(tmpdir(), 'urlwarden-bench-import-'));
    try {
      const { again, ...measured } = await importRow({ rows: ROWS, rounds: Math.min(rounds, MAX_ROUNDS), folder });
      const name = `import of ${ROWS.toLocaleString('en')} rows / sqlite3 .import`;
      const mark = { of: 'ratio', atLeast: 0.65 } as const;
      return [
        { name, ...measured, mark },
        { name: 'the same data again / sqlite3 .import', ...measured, ours: again, mark },
      ];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Alternates between both, so that other load on the machine affects both. */
export async function importRow({ rows, rounds, folder }: ImportRowOptions): Promise<BenchRow> {
  mkdirSync(folder, { recursive: true });
  const dump = join(folder, 'dump.csv');
  await writeFile(dump, urlhausDump({ rows, seed: 1 }));
  const result: BenchRow = { ours: [], again: [], yardstick: [], unit: 'rows/s' };
  const dataDir = join(folder, 'data');
  for (let round = 0; round < rounds; round++) {
    result.ours.push(rows / ourSeconds(dump, rows, dataDir));
    result.again.push(rows / ourSeconds(dump, rows, dataDir));
    rmSync(dataDir, { recursive: true });
    result.yardstick.push(rows / sqliteSeconds(dump, rows, join(folder, 'table.db')));
  }
  rmSync(dump);
  return result;
}

function ourSeconds(dump: string, rows: number, dataDir: string): number {
  const args = [...programFlags(), PROGRAM, 'import', 'urlhaus-csv', dump, '--data', dataDir, '--json'];
  const [seconds, output] = timed(() => execFileSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] }));
  const { read, rejected } = JSON.parse(output.toString());
  if (read !== rows || rejected !== 0) throw new Error(`read ${read} rows of ${rows}, ${rejected} were rejected`);
  return seconds;
}

/** The Node flags in the first line of the program. */
export function programFlags(): string[] {
  const [, flags = ''] = /^#!.* node (.*)\n/.exec(readFileSync(PROGRAM, 'utf8')) ?? [];
  return flags.split(' ');
}

function sqliteSeconds(dump: string, rows: number, file: string): number {
  const script = [
    `create table dump (${COLUMNS.join(', ')});`,
    ...INDEXED.map((name) => `create index dump_by_${name} on dump (${name});`),
    `.import --csv --skip ${BANNER_LINES} '${dump}' dump`,
    'select count(*) from dump;',
  ].join('\n');
  const [seconds, output] = timed(() => execFileSync('sqlite3', ['-bail', file], { input: script }));
  rmSync(file);
  if (Number(output) !== rows) throw new Error(`sqlite3 has ${output} rows of ${rows}`);
  return seconds;
}

function timed<T>(work: () => T): [seconds: number, result: T] {
  const startedMs = performance.now();
  const result = work();
  return [(performance.now() - startedMs) / 1000, result];
}
