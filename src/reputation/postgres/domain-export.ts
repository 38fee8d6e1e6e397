import { NAME_LIST_KINDS } from '../../core/evidence.ts';
import { PAGE_ROWS } from '../../database/pages.ts';
import type { Query } from '../../database/postgres/database.ts';
import type { Param } from '../../database/postgres/parameters.ts';
import {
  type AddressExportRow,
  createDomainExport,
  type DomainRows,
  type EvidenceExportRow,
  type ExportedDomain,
  FIRST_ADDRESS,
  FIRST_EVIDENCE,
  FIRST_SENDER,
  FIRST_SERVER,
  type SenderExportRow,
  type ServerExportRow,
  type WhoisExportRow,
} from '../domain-export.ts';

// A test checks the plan of every statement that this file exports (test/reputation/postgres-server.test.ts).

export const DOMAINS = `select name, id from domains where name > $1 order by name limit ${PAGE_ROWS}`;

// For several domains, the rows of each after a key: one round trip for many domains, since most have few rows.

export const EVIDENCE = `
  select d.id, e.source_id, e.kind, e.host_id, (select name from sources where id = e.source_id),
    (select host from hosts where id = e.host_id), e.rank, e.best_ts, e.best_confidence, e.first_ts, e.last_ts, e.details
  from unnest($1::bigint[]) as d (id) cross join lateral (
    select * from domain_evidence where domain_id = d.id and (source_id, kind, host_id) > ($2, $3, $4)
    order by source_id, kind, host_id limit ${PAGE_ROWS}) e`;

export const ADDRESSES = `
  select d.id, a.host_id, a.ip, a.day, (select host from hosts where id = a.host_id), a.ts
  from unnest($1::bigint[]) as d (id) cross join lateral (
    select * from name_addresses where domain_id = d.id and (host_id, ip, day) > ($2, $3, $4) and origin = 1
    order by host_id, ip, day, origin limit ${PAGE_ROWS}) a`;

export const SERVERS = `
  select d.id, n.ns_host_id, n.day, (select host from hosts where id = n.ns_host_id), n.ts
  from unnest($1::bigint[]) as d (id) cross join lateral (
    select * from name_servers where domain_id = d.id and (ns_host_id, day) > ($2, $3)
    order by ns_host_id, day limit ${PAGE_ROWS}) n`;

export const SENDERS = `
  select d.id, s.ip, s.helo, s.ts from unnest($1::bigint[]) as d (id) cross join lateral (
    select * from senders where domain_id = d.id and (ip, helo) > ($2, $3) order by ip, helo limit ${PAGE_ROWS}) s`;

export const WHOIS = `
  select domain_id, ts, created_ts, expires_ts, registrar from domain_whois where domain_id = any($1::bigint[])`;

// Entries of a list without ranks come from `applyLists`.
export const RANKS = `
  select l.name, l.source_id, (select name from sources where id = l.source_id), l.rank, l.ts from name_lists l
  where l.kind = ${NAME_LIST_KINDS.indexOf('popular')} and (l.name, l.source_id) > ($1, $2) and l.rank is not null
  order by l.name, l.source_id limit ${PAGE_ROWS}`;

/** Domains whose first pages are read by one statement: the maximum of pages of one kind in memory. */
const DOMAINS_PER_STATEMENT = 50;

/** Reads the rows after a key of each of these domains. */
type ReadRows<Row> = (ids: number[]) => Promise<Map<number, Row[]>>;

/** All that sources gave about domains. */
export function createExportDomains(query: Query) {
  return createDomainExport({
    domains: (after) => query<ExportedDomain>(DOMAINS, [after]),
    ranks: (after) => query(RANKS, after),

    rowsOf(domains): DomainRows {
      const ids = domains.map(([, id]) => id);
      const rowsAfter =
        <Row extends unknown[]>(sql: string, key: readonly Param[]): ReadRows<Row> =>
        async (some) => {
          const rows = new Map<number, Row[]>(some.map((id) => [id, []]));
          for (const [id, ...row] of await query<[number, ...unknown[]]>(sql, [some, ...key]))
            rows.get(id)?.push(row.map(withoutBuffer) as Row);
          return rows;
        };
      function pages<Row extends unknown[], Key extends readonly Param[]>(sql: string, first: Key) {
        const firstPage = inChunks(ids, rowsAfter<Row>(sql, first));
        return async (id: number, after: Key): Promise<Row[]> =>
          after === first ? firstPage(id) : ((await rowsAfter<Row>(sql, after)([id])).get(id) ?? []);
      }
      const whois = inChunks(ids, rowsAfter<WhoisExportRow>(WHOIS, []));
      return {
        evidence: pages<EvidenceExportRow, typeof FIRST_EVIDENCE>(EVIDENCE, FIRST_EVIDENCE),
        addresses: pages<AddressExportRow, typeof FIRST_ADDRESS>(ADDRESSES, FIRST_ADDRESS),
        servers: pages<ServerExportRow, typeof FIRST_SERVER>(SERVERS, FIRST_SERVER),
        senders: pages<SenderExportRow, typeof FIRST_SENDER>(SENDERS, FIRST_SENDER),
        whois: async (id) => (await whois(id))[0],
      };
    },
  });
}

/** Reads the rows of `DOMAINS_PER_STATEMENT` domains when those of the first one are requested. */
function inChunks<Row>(ids: readonly number[], read: ReadRows<Row>): (id: number) => Promise<Row[]> {
  const chunks = new Map(ids.map((id, i) => [id, Math.floor(i / DOMAINS_PER_STATEMENT)]));
  let current: { chunk: number; rows: Promise<Map<number, Row[]>> } | null = null;
  return async (id) => {
    const chunk = chunks.get(id) ?? 0;
    if (current?.chunk !== chunk) {
      const chunkIds = ids.slice(chunk * DOMAINS_PER_STATEMENT, (chunk + 1) * DOMAINS_PER_STATEMENT);
      current = { chunk, rows: read(chunkIds) };
    }
    return (await current.rows).get(id) ?? [];
  };
}

/** The driver returns bytes as a Buffer, which is written into JSON in another way. */
function withoutBuffer(cell: unknown): unknown {
  return Buffer.isBuffer(cell) ? new Uint8Array(cell) : cell;
}
