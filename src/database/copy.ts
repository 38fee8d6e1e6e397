import { hash } from 'node:crypto';
import { AppError } from '../core/errors.ts';
import { dataFiles } from './data-folder.ts';
import * as postgres from './postgres/tables.ts';
import * as sqlite from './sqlite/tables.ts';
import { keyOf, type Row, type Table, toPlain } from './table.ts';

/** Rows are copied in one pass and verified in a second one; a row counts as done after both. */
type CopyProgress = { rows: number; totalRows: number; seconds: number };

type CopyOptions = {
  dataDir: string;
  databaseUrl: string;
  signal: AbortSignal;
  onProgress?(progress: CopyProgress): void;
};

export type CopyReport = {
  /** Number of rows by table. */
  rows: Record<string, number>;
  /** Rows that were missing or different in the target database. */
  written: number;
  /** False while another process has the folder open: its later writes are not copied yet. */
  isFinished: boolean;
  seconds: number;
};

/** Rows in one page, which is compared and written as a unit: about a megabyte. */
const COPY_PAGE_ROWS = 5_000;

/**
 * Copies a data folder into a PostgreSQL database, ids included. It compares checksums page by page in key order and
 * replaces pages that differ. A copy that was interrupted, or that ran while a server did, can be repeated and then writes
 * only the differences. A second pass verifies all pages.
 */
export async function copyData({ dataDir, databaseUrl, signal, onProgress }: CopyOptions): Promise<CopyReport> {
  const startedMs = performance.now();
  const from = sqlite.openTables(dataDir, dataFiles(dataDir));
  try {
    const to = await postgres.openTables(databaseUrl);
    try {
      const counts = from.tables.map((table) => [table.name, from.count(table)] as const);
      const totalRows = counts.reduce((sum, [, count]) => sum + count, 0);
      let processed = 0;
      const seconds = () => (performance.now() - startedMs) / 1000;
      const onRows = (count: number) => {
        processed += count;
        onProgress?.({ rows: Math.floor(processed / 2), totalRows, seconds: seconds() });
      };
      const context = { from, to, signal, onRows };
      let written = 0;
      for (const table of from.tables) {
        for await (const page of differences(table, context)) {
          await to.replace(table, page, page.rows);
          written += page.rows.length;
        }
      }
      for (const table of from.tables) {
        for await (const { after } of differences(table, context)) {
          throw new AppError('unavailable', `${table.name} differs after ${JSON.stringify(after)}: run the move again`);
        }
      }
      if (from.isExclusive) await to.finish(from.tables);
      return { rows: Object.fromEntries(counts), written, isFinished: from.isExclusive, seconds: seconds() };
    } finally {
      await to.close();
    }
  } finally {
    from.close();
  }
}

type CopyContext = { from: sqlite.Tables; to: postgres.Tables; signal: AbortSignal; onRows(count: number): void };

/** The pages of the source that differ in the target. */
async function* differences(table: Table, { from, to, signal, onRows }: CopyContext) {
  let after: Row | null = null;
  for (;;) {
    signal.throwIfAborted();
    const rows: Row[] = from.page(table, after, COPY_PAGE_ROWS);
    const last = rows.length < COPY_PAGE_ROWS ? undefined : rows.at(-1);
    // The last page has no upper bound, so that surplus rows in the target are removed.
    const upTo: Row | null = last === undefined ? null : keyOf(table, last);
    const range = { after, upTo };
    if (checksum(rows) !== checksum(await to.rows(table, range))) yield { ...range, rows };
    onRows(rows.length);
    if (upTo === null) return;
    after = upTo;
  }
}

function checksum(rows: readonly Row[]): string {
  return hash('sha256', JSON.stringify(rows.map(toPlain)));
}
