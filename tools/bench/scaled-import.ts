import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { startPostgres } from '../../test/servers/postgres.ts';
import { PROGRAM } from '../shared/server-process.ts';
import { urlhausDump } from '../shared/urlhaus-dump.ts';
import type { Row } from './harness/figure.ts';
import { programFlags } from './import.ts';

const ROWS = 200_000;

/** As an operator runs it: a confirmed batch is on the disk. */
const SETTINGS = { fsync: 'on', full_page_writes: 'on', autovacuum: 'on', shared_buffers: '1GB', max_wal_size: '8GB' };

/**
 * The rate of `urlwarden import` into a new database of PostgreSQL, and of the same file once more; program and server on this
 * machine. The server of the machine if there is one, and after it has imported other data: a new server creates the files of
 * its log and gets its memory from the system during the first import, for which it takes a quarter more processor time.
 */
export const scaledImport: Row = {
  name: 'scaled-import',
  async measure({ rounds }) {
    const folder = mkdtempSync(join(tmpdir(), 'urlwarden-bench-scaled-import-'));
    const dumps = { first: join(folder, 'first.csv'), measured: join(folder, 'measured.csv') };
    const rates: { added: number[]; again: number[] } = { added: [], again: [] };
    const server = await startPostgres(SETTINGS, 'of the machine');
    const sql = postgres(server.url, { max: 1, onnotice: () => {} });
    try {
      await writeFile(dumps.first, urlhausDump({ rows: ROWS, seed: 2 }));
      await writeFile(dumps.measured, urlhausDump({ rows: ROWS, seed: 1 }));
      rate(dumps.first, server.url, null);
      for (let round = 0; round < rounds; round++) {
        const database = `round_${round}`;
        await sql.unsafe('checkpoint');
        await sql.unsafe(`create database ${database}`);
        const url = new URL(database, server.url).href;
        rates.added.push(rate(dumps.measured, url, ROWS));
        rates.again.push(rate(dumps.measured, url, 0));
        await sql.unsafe(`drop database ${database}`);
      }
      const [{ server_version: version } = { server_version: '' }] = await sql.unsafe('show server_version');
      const name = `PostgreSQL ${version}: import of ${ROWS.toLocaleString('en')} rows`;
      const figure = { unit: 'rows/s', yardstick: null };
      return [
        { ...figure, name: `${name}, new`, ours: rates.added, mark: { of: 'ours', atLeast: 15_000 } },
        { ...figure, name: `${name}, again`, ours: rates.again, mark: { of: 'ours', atLeast: 15_000 } },
      ];
    } finally {
      await sql.end();
      await server.stop();
      server.remove();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Of the import alone: a command also takes a second to start and to create the tables. */
function rate(dump: string, databaseUrl: string, urlsAdded: number | null): number {
  const args = [...programFlags(), PROGRAM, 'import', 'urlhaus-csv', dump, '--database-url', databaseUrl, '--json'];
  const output = execFileSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const report = JSON.parse(output.toString());
  if (report.read !== ROWS || report.rejected !== 0 || report.urlsAdded !== (urlsAdded ?? report.urlsAdded)) {
    throw new Error(`read ${report.read} rows, rejected ${report.rejected}, added ${report.urlsAdded} URLs`);
  }
  return report.read / report.seconds;
}
