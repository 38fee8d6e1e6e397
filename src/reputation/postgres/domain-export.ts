import { NAME_LIST_KINDS } from '../../core/evidence.ts';
import { PAGE_ROWS } from '../../database/pages.ts';
import type { Query } from '../../database/postgres/database.ts';
import { createFirstPages } from '../../database/postgres/first-pages.ts';
import {
  type AddressExportRow,
  createDomainExport,
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

// For several domains, the rows of each after a key.

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

/** A domain has one registration, so it has no key. */
const NO_KEY: readonly [] = [];

/** All that sources gave about domains. */
export function createExportDomains(query: Query) {
  return createDomainExport({
    domains: (after) => query<ExportedDomain>(DOMAINS, [after]),
    ranks: (after) => query(RANKS, after),

    rowsOf(domains) {
      const pages = createFirstPages(
        query,
        domains.map(([, id]) => id),
      );
      const whois = pages<WhoisExportRow, typeof NO_KEY>(WHOIS, NO_KEY);
      return {
        evidence: pages<EvidenceExportRow, typeof FIRST_EVIDENCE>(EVIDENCE, FIRST_EVIDENCE),
        addresses: pages<AddressExportRow, typeof FIRST_ADDRESS>(ADDRESSES, FIRST_ADDRESS),
        servers: pages<ServerExportRow, typeof FIRST_SERVER>(SERVERS, FIRST_SERVER),
        senders: pages<SenderExportRow, typeof FIRST_SENDER>(SENDERS, FIRST_SENDER),
        whois: async (id) => (await whois(id, NO_KEY))[0],
      };
    },
  });
}
