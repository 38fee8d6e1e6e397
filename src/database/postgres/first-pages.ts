import type { Query } from './database.ts';
import type { Param } from './parameters.ts';

/** URLs or domains whose first pages are read by one statement: the maximum of pages of one kind in memory. */
const IDS_PER_STATEMENT = 50;

/**
 * Reads the rows of many URLs or domains, in pages by key: one round trip for the first pages of several, since most have few
 * rows. They are read when the first of them is requested, so the ids are to be requested in their order.
 */
export function createFirstPages(query: Query, ids: readonly number[]) {
  const chunks = new Map(ids.map((id, i) => [id, Math.floor(i / IDS_PER_STATEMENT)]));

  async function read<Row extends unknown[]>(sql: string, some: readonly number[], after: readonly Param[]) {
    const rows = new Map<number, Row[]>(some.map((id) => [id, []]));
    for (const [id, ...row] of await query<[id: number, ...unknown[]]>(sql, [some, ...after])) {
      rows.get(id)?.push(row.map(withoutBuffer) as Row);
    }
    return rows;
  }

  /** `sql`: the pages of ids ($1) after a key ($2, …), as rows that begin with the id. `first`: the key before all others. */
  return <Row extends unknown[], Key extends readonly Param[]>(sql: string, first: Key) => {
    let current: { chunk: number; rows: Promise<Map<number, Row[]>> } | null = null;
    return async (id: number, after: Key): Promise<Row[]> => {
      if (after !== first) return (await read<Row>(sql, [id], after)).get(id) ?? [];
      const chunk = chunks.get(id) ?? 0;
      if (current?.chunk !== chunk) {
        const some = ids.slice(chunk * IDS_PER_STATEMENT, (chunk + 1) * IDS_PER_STATEMENT);
        current = { chunk, rows: read<Row>(sql, some, first) };
      }
      return (await current.rows).get(id) ?? [];
    };
  };
}

/** The driver returns bytes as a Buffer, which is written into JSON in another way. */
function withoutBuffer(cell: unknown): unknown {
  return Buffer.isBuffer(cell) ? new Uint8Array(cell) : cell;
}
