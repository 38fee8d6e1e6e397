import { NAME_LIST_KINDS } from '../../core/evidence.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import type { WhoisExportRow } from '../domain-export.ts';
import { type FactRows, mergeWhois, type WhoisRow } from '../domain-rules.ts';
import { isOfNewestVersion } from './address-lists.ts';

const POPULAR = NAME_LIST_KINDS.indexOf('popular');
/** The origin of addresses that facts give. */
const FACT = 1;

// In two statements, because the change feed records what is new, not that it was seen again.
const ADDRESS = `insert into name_addresses (domain_id, host_id, ip, day, origin, ts) values (?, ?, ?, ?, ${FACT}, ?)`;
const SERVER = 'insert into name_servers (domain_id, ns_host_id, day, ts) values (?, ?, ?, ?)';
const SENDER = 'insert into senders (domain_id, ip, helo, ts) values (?, ?, ?, ?)';
const UNLESS_KNOWN = 'on conflict do nothing';
const IF_NEWER = 'on conflict do update set ts = excluded.ts where excluded.ts > ts';

const FIND_WHOIS = 'select ts, created_ts, expires_ts, registrar from domain_whois where domain_id = ?';

const PUT_WHOIS = 'insert or replace into domain_whois values (?, ?, ?, ?, ?)';

// As `mergeRank`.
const PUT_RANK = `
  insert into name_lists (name, kind, source_id, rank, ts)
  select ?1, ${POPULAR}, ?2, ?3, ?4 where ${isOfNewestVersion('?2', '?4')}
  on conflict do update set rank = excluded.rank, ts = excluded.ts
  where excluded.ts > ts or (excluded.ts = ts and (rank is null or excluded.rank < rank))`;

/** Applies facts; returns how many rows changed. */
export function createApplyFacts(db: Database, { domains, hosts, sources, changes }: Dictionaries) {
  const putAddress = createPut(db, ADDRESS);
  const putServer = createPut(db, SERVER);
  const putSender = createPut(db, SENDER);
  const findWhois = db.prepare<WhoisExportRow>(FIND_WHOIS);
  const putWhois = db.prepare(PUT_WHOIS);
  const putRank = db.prepare(PUT_RANK);

  /** Returns the number of changed rows. */
  function record(domain: string, put: PutResult): number {
    if (put === 'new') changes.domain(domain, 'update');
    return put === 'same' ? 0 : 1;
  }

  function applyWhois(given: WhoisRow): number {
    const id = domains.idOf(given.domain);
    const found = findWhois.get(id);
    if (found !== undefined) {
      const [ts, createdTs, expiresTs, registrar] = found;
      const stored = { domain: given.domain, ts, createdTs, expiresTs, registrar };
      if (mergeWhois(stored, given) === stored) return 0;
    }
    changes.domain(given.domain, 'update');
    return putWhois.run(id, given.ts, given.createdTs, given.expiresTs, given.registrar);
  }

  return ({ addresses, servers, senders, whois, ranks }: FactRows): number => {
    let changed = 0;
    for (const { name, ip, day, ts } of addresses) {
      changed += record(name.domain, putAddress(domains.idOf(name.domain), hosts.idOf(name.hostname), ip, day, ts));
    }
    for (const { domain, server, day, ts } of servers) {
      changed += record(domain, putServer(domains.idOf(domain), hosts.idOf(server.hostname), day, ts));
    }
    for (const { domain, ip, helo, ts } of senders) {
      changed += record(domain, putSender(domains.idOf(domain), ip, helo, ts));
    }
    for (const row of whois) changed += applyWhois(row);
    // Without a row in `domains`: a popularity list has a million names, of which few have anything else.
    for (const { domain, source, rank, ts } of ranks) changed += putRank.run(domain, sources.idOf(source), rank, ts);
    return changed;
  };
}

type PutResult = 'new' | 'newer' | 'same';

function createPut(db: Database, insert: string): (...row: (number | string | Uint8Array)[]) => PutResult {
  const add = db.prepare(`${insert} ${UNLESS_KNOWN}`);
  const update = db.prepare(`${insert} ${IF_NEWER}`);
  return (...row) => {
    if (add.run(...row) > 0) return 'new';
    return update.run(...row) > 0 ? 'newer' : 'same';
  };
}
