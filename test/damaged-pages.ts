import { closeSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const PAGE_BYTES = 4096;

const PAGES = `select name, pageno from dbstat where pagetype = 'leaf' or pagetype = 'overflow' order by name, path`;

/** The page numbers of all leaf and overflow pages of each table and index, in key order. */
export function leafPages(path: string): Map<string, number[]> {
  const db = new DatabaseSync(path, { readOnly: true });
  const rows = db.prepare(PAGES).all() as { name: string; pageno: number }[];
  db.close();
  return new Map(
    [...Map.groupBy(rows, ({ name }) => name)].map(([name, of]) => [name, of.map(({ pageno }) => pageno)]),
  );
}

/** Overwrites the beginning of pages, the type of the page included. */
export function damagePages(path: string, pages: Iterable<number>): void {
  const file = openSync(path, 'r+');
  for (const page of pages) writeSync(file, Buffer.alloc(8, 0xff), 0, 8, (page - 1) * PAGE_BYTES);
  closeSync(file);
}
