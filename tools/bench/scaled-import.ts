import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../test/servers/postgres.ts';
import { PROGRAM } from '../shared/server-process.ts';
import { urlhausDump } from '../shared/urlhaus-dump.ts';
import type { Row } from './harness/figure.ts';
import { programFlags } from './import.ts';

const ROWS = 200_000;

/** As an operator runs it: a confirmed batch is on the disk. */
const SETTINGS = { fsync: 'on', full_page_writes: 'on', autovacuum: 'on', shared_buffers: '1GB', max_wal_size: '8GB' };

/** The rate of `urlwarden import` into a new PostgreSQL, and of the same file once more; program and server on this machine. */
export const scaledImport: Row = {
  name: 'scaled-import',
  async measure({ rounds }) {
    const folder = mkdtempSync(join(tmpdir(), 'urlwarden-bench-scaled-import-'));
    const dump = join(folder, 'dump.csv');
    const rates: { added: number[]; again: number[] } = { added: [], again: [] };
    try {
      await writeFile(dump, urlhausDump({ rows: ROWS, seed: 1 }));
      for (let round = 0; round < rounds; round++) {
        const server = await startPostgres(SETTINGS);
        try {
          rates.added.push(rate(dump, server.url, ROWS));
          rates.again.push(rate(dump, server.url, 0));
        } finally {
          await server.stop();
          server.remove();
        }
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    const name = `PostgreSQL: import of ${ROWS.toLocaleString('en')} rows`;
    const figure = { unit: 'rows/s', yardstick: null };
    return [
      { ...figure, name: `${name}, new`, ours: rates.added, mark: { of: 'ours', atLeast: 15_000 } },
      { ...figure, name: `${name}, again`, ours: rates.again, mark: { of: 'ours', atLeast: 15_000 } },
    ];
  },
};

/** Of the import alone: a command also takes a second to start and to create the tables. */
function rate(dump: string, databaseUrl: string, urlsAdded: number): number {
  const args = [...programFlags(), PROGRAM, 'import', 'urlhaus-csv', dump, '--database-url', databaseUrl, '--json'];
  const output = execFileSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const report = JSON.parse(output.toString());
  if (report.read !== ROWS || report.rejected !== 0 || report.urlsAdded !== urlsAdded) {
    throw new Error(`read ${report.read} rows, rejected ${report.rejected}, added ${report.urlsAdded} URLs`);
  }
  return report.read / report.seconds;
}
