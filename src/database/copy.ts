import { AppError } from '../core/errors.ts';
import { dataFiles } from './data-folder.ts';
import * as postgres from './postgres/tables.ts';
import * as sqlite from './sqlite/tables.ts';
import { checksumOf, keyOf, type Row, type Table, toCopyText } from './table.ts';

/** A row is done when it was written and compared, which are two passes over all. */
export type CopyProgress = { rows: number; totalRows: number; seconds: number };

export type CopyOptions = {
  dataDir: string;
  databaseUrl: string;
  signal: AbortSignal;
  onProgress?(progress: CopyProgress): void;
};

export type CopyReport = {
  /** Rows by table. */
  rows: Record<string, number>;
  /** Rows that the database did not have, or had otherwise. */
  written: number;
  /** False while somebody else has the folder open: what they write is still to be moved. */
  isFinished: boolean;
  seconds: number;
};

/** Rows that are compared and written at once: about a megabyte. */
const COPIED_ROWS = 5_000;

/**
 * Makes a database hold what a data folder holds, ids included. Page by page in the order of the keys it compares
 * checksums, and replaces what differs; so a move that was cut off, or that a server has overtaken, is started again
 * and does only what is left. Then everything is read once more from both sides and compared.
 */
export async function copyData({ dataDir, databaseUrl, signal, onProgress }: CopyOptions): Promise<CopyReport> {
  const startedMs = performance.now();
  const from = sqlite.openTables(dataDir, dataFiles(dataDir));
  try {
    const to = await postgres.openTables(databaseUrl);
    try {
      const counts = from.tables.map((table) => [table.name, from.count(table)] as const);
      const totalRows = counts.reduce((sum, [, count]) => sum + count, 0);
      let passed = 0;
      const seconds = () => (performance.now() - startedMs) / 1000;
      const onRows = (count: number) => {
        passed += count;
        onProgress?.({ rows: Math.floor(passed / 2), totalRows, seconds: seconds() });
      };
      const each = { from, to, signal, onRows };
      let written = 0;
      for (const table of from.tables) {
        for await (const page of differences(table, each)) {
          await to.replace(table, page, page.rows);
          written += page.rows.length;
        }
      }
      for (const table of from.tables) {
        for await (const { after } of differences(table, each)) {
          throw new AppError('unavailable', `${table.name} differs after ${JSON.stringify(after)}: move again`);
        }
      }
      if (from.isAlone) await to.finish(from.tables);
      return { rows: Object.fromEntries(counts), written, isFinished: from.isAlone, seconds: seconds() };
    } finally {
      await to.close();
    }
  } finally {
    from.close();
  }
}

type Sides = { from: sqlite.Tables; to: postgres.Tables; signal: AbortSignal; onRows(count: number): void };

/** The pages of a table that are not the same on both sides, as they should be. */
async function* differences(table: Table, { from, to, signal, onRows }: Sides) {
  let after: Row | null = null;
  for (;;) {
    signal.throwIfAborted();
    const rows: Row[] = from.page(table, after, COPIED_ROWS);
    const last = rows.length < COPIED_ROWS ? undefined : rows.at(-1);
    // Behind the last page there is to be nothing.
    const upTo: Row | null = last === undefined ? null : keyOf(table, last);
    const range = { after, upTo };
    if (checksum(rows) !== checksum(await to.rows(table, range))) yield { ...range, rows };
    onRows(rows.length);
    if (upTo === null) return;
    after = upTo;
  }
}

function checksum(rows: readonly Row[]): string {
  return checksumOf(toCopyText(rows));
}
