import { NAME_LIST_KINDS } from '../../core/evidence.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import type { WhoisExportRow } from '../domain-export.ts';
import { type FactRows, mergeWhois, type WhoisRow } from '../domain-rules.ts';

const POPULAR = NAME_LIST_KINDS.indexOf('popular');
/** The origin of addresses that facts give. */
const FACT = 1;

const PUT_ADDRESS = `
  insert into name_addresses (domain_id, host_id, ip, day, origin, ts) values (?, ?, ?, ?, ${FACT}, ?)
  on conflict do update set ts = excluded.ts where excluded.ts > ts`;

const PUT_SERVER = `
  insert into name_servers (domain_id, ns_host_id, day, ts) values (?, ?, ?, ?)
  on conflict do update set ts = excluded.ts where excluded.ts > ts`;

const PUT_SENDER = `
  insert into senders (domain_id, ip, helo, ts) values (?, ?, ?, ?)
  on conflict do update set ts = excluded.ts where excluded.ts > ts`;

const FIND_WHOIS = 'select ts, created_ts, expires_ts, registrar from domain_whois where domain_id = ?';

const PUT_WHOIS = 'insert or replace into domain_whois values (?, ?, ?, ?, ?)';

// As `mergeRank`.
const PUT_RANK = `
  insert into name_lists (name, kind, source_id, rank, ts) values (?, ${POPULAR}, ?, ?, ?)
  on conflict do update set rank = excluded.rank, ts = excluded.ts
  where excluded.ts > ts or (excluded.ts = ts and (rank is null or excluded.rank < rank))`;

/** Applies facts; returns how many rows changed. */
export function createApplyFacts(db: Database, { domains, hosts, sources }: Dictionaries) {
  const putAddress = db.prepare(PUT_ADDRESS);
  const putServer = db.prepare(PUT_SERVER);
  const putSender = db.prepare(PUT_SENDER);
  const findWhois = db.prepare<WhoisExportRow>(FIND_WHOIS);
  const putWhois = db.prepare(PUT_WHOIS);
  const putRank = db.prepare(PUT_RANK);

  function applyWhois(given: WhoisRow): number {
    const id = domains.idOf(given.domain);
    const found = findWhois.get(id);
    if (found !== undefined) {
      const [ts, createdTs, expiresTs, registrar] = found;
      const stored = { domain: given.domain, ts, createdTs, expiresTs, registrar };
      if (mergeWhois(stored, given) === stored) return 0;
    }
    return putWhois.run(id, given.ts, given.createdTs, given.expiresTs, given.registrar);
  }

  return ({ addresses, servers, senders, whois, ranks }: FactRows): number => {
    let changed = 0;
    for (const { name, ip, day, ts } of addresses) {
      changed += putAddress.run(domains.idOf(name.domain), hosts.idOf(name.hostname), ip, day, ts);
    }
    for (const { domain, server, day, ts } of servers) {
      changed += putServer.run(domains.idOf(domain), hosts.idOf(server.hostname), day, ts);
    }
    for (const { domain, ip, helo, ts } of senders) changed += putSender.run(domains.idOf(domain), ip, helo, ts);
    for (const row of whois) changed += applyWhois(row);
    // Without a row in `domains`: a popularity list has a million names, of which few have anything else.
    for (const { domain, source, rank, ts } of ranks) changed += putRank.run(domain, sources.idOf(source), rank, ts);
    return changed;
  };
}
