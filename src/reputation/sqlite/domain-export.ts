import { NAME_LIST_KINDS } from '../../core/evidence.ts';
import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import {
  type AddressExportRow,
  createDomainExport,
  type EvidenceExportRow,
  type ExportedDomain,
  type RankExportRow,
  type SenderExportRow,
  type ServerExportRow,
  type WhoisExportRow,
} from '../domain-export.ts';
import type { ReputationStore } from '../store.ts';

const DOMAINS = `select name, id from domains where name > ? order by name limit ${PAGE_ROWS}`;

const EVIDENCE = `
  select e.source_id, e.kind, e.host_id, sources.name, hosts.host,
    e.rank, e.best_ts, e.best_confidence, e.first_ts, e.last_ts, e.details
  from domain_evidence e join sources on sources.id = e.source_id join hosts on hosts.id = e.host_id
  where e.domain_id = ? and (e.source_id, e.kind, e.host_id) > (?, ?, ?)
  order by e.source_id, e.kind, e.host_id limit ${PAGE_ROWS}`;

const ADDRESSES = `
  select a.host_id, a.ip, a.day, hosts.host, a.ts from name_addresses a join hosts on hosts.id = a.host_id
  where a.domain_id = ? and (a.host_id, a.ip, a.day) > (?, ?, ?) and a.origin = 1
  order by a.host_id, a.ip, a.day limit ${PAGE_ROWS}`;

const SERVERS = `
  select n.ns_host_id, n.day, hosts.host, n.ts from name_servers n join hosts on hosts.id = n.ns_host_id
  where n.domain_id = ? and (n.ns_host_id, n.day) > (?, ?) order by n.ns_host_id, n.day limit ${PAGE_ROWS}`;

const SENDERS = `
  select ip, helo, ts from senders where domain_id = ? and (ip, helo) > (?, ?) order by ip, helo limit ${PAGE_ROWS}`;

const WHOIS = 'select ts, created_ts, expires_ts, registrar from domain_whois where domain_id = ?';

// Entries of a list without ranks come from `applyLists`.
const RANKS = `
  select l.name, l.source_id, sources.name, l.rank, l.ts from name_lists l join sources on sources.id = l.source_id
  where (l.name, l.source_id) > (?, ?) and l.kind = ${NAME_LIST_KINDS.indexOf('popular')} and l.rank is not null
  order by l.name, l.kind, l.source_id limit ${PAGE_ROWS}`;

/** All that sources gave about domains. */
export function createExportDomains(db: Database): ReputationStore['exportDomains'] {
  const domains = db.prepare<ExportedDomain>(DOMAINS);
  const whois = db.prepare<WhoisExportRow>(WHOIS);
  const ranks = db.prepare<RankExportRow>(RANKS);
  const rows = {
    evidence: createReadPage<EvidenceExportRow>(db, EVIDENCE),
    addresses: createReadPage<AddressExportRow>(db, ADDRESSES),
    servers: createReadPage<ServerExportRow>(db, SERVERS),
    senders: createReadPage<SenderExportRow>(db, SENDERS),
    whois: (id: number) => whois.get(id),
  };
  return createDomainExport({
    domains: (after) => domains.all(after),
    rowsOf: () => rows,
    ranks: (after) => ranks.all(...after),
  });
}

function createReadPage<Row extends unknown[]>(db: Database, sql: string) {
  const statement = db.prepare<Row>(sql);
  return (domainId: number, after: readonly (number | string | Uint8Array)[]) => statement.all(domainId, ...after);
}
