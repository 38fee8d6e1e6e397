import { PAGE_ROWS } from '../../database/pages.ts';
import type { Query } from '../../database/postgres/database.ts';
import {
  type AddressPageRow,
  createDomainReads,
  type EvidencePageRow,
  MAX_URL_PAYLOADS,
  type SenderRow,
  type SightingRow,
} from '../domain-reads.ts';

// A test checks the plan of every statement that this file exports (test/reputation/postgres-server.test.ts).

// Hosts, sources and files are looked up by id in subqueries: for a join the planner may read a whole table that was small
// when the plan was made.

export const SIGHTINGS = `
  select online_ts, url_id, (select host from hosts where id = host_id) from url_sightings
  where domain_id = $1 and (online_ts, url_id) < ($2, $3) order by online_ts desc, url_id desc limit ${PAGE_ROWS}`;

export const EVIDENCE_PAGE = `
  select e.source_id, e.kind, e.host_id, s.name, s.trust_permille, s.life_seconds, s.interval_seconds,
    (select host from hosts where id = e.host_id), e.best_ts, e.best_confidence, e.first_ts, e.last_ts, e.details
  from domain_evidence e left join lateral (select * from sources where id = e.source_id limit 1) s on true
  where e.domain_id = $1 and (e.source_id, e.kind, e.host_id) > ($2, $3, $4)
  order by e.source_id, e.kind, e.host_id limit ${PAGE_ROWS}`;

export const ADDRESS_PAGE = `
  select host_id, ip, day, origin, ts from name_addresses
  where domain_id = $1 and (host_id, ip, day, origin) > ($2, $3, $4, $5)
  order by host_id, ip, day, origin limit ${PAGE_ROWS}`;

export const SENDER_PAGE = `
  select ip, helo, ts from senders where domain_id = $1 and (ip, helo) > ($2, $3) order by ip, helo limit ${PAGE_ROWS}`;

// Sorts only the payloads of one second.
export const MALWARE_URLS = `
  select u.id, u.url, (
    select (select name from families where id = p.family_id) from payloads p
    where p.url_id = u.id and p.family_id is not null
    order by p.ts desc, (select file_key from files where id = p.file_id) desc limit 1)
  from urls u where u.id = any($1::bigint[])`;

export const PAYLOADS = `
  select p.ts, p.file_key, (select name from families where id = p.family_id)
  from unnest($1::bigint[]) as u (id) cross join lateral (
    select payloads.ts, f.file_key, f.family_id
    from payloads cross join lateral (select file_key, family_id from files where id = payloads.file_id limit 1) f
    where payloads.url_id = u.id and length(f.file_key) = 32
    order by payloads.ts desc, payloads.file_id desc limit ${MAX_URL_PAYLOADS}) p`;

export function createReadDomains(read: Query) {
  return createDomainReads({
    sightings: (id, before) => read<SightingRow>(SIGHTINGS, [id, ...before]),
    evidence: (id, after) => read<EvidencePageRow>(EVIDENCE_PAGE, [id, ...after]),
    async addresses(id, after) {
      const rows = await read<AddressPageRow>(ADDRESS_PAGE, [id, ...after]);
      // The driver returns a Buffer, whose toString() is another one.
      return rows.map(([hostId, ip, ...rest]) => [hostId, new Uint8Array(ip), ...rest]);
    },
    async senders(id, after) {
      const rows = await read<SenderRow>(SENDER_PAGE, [id, ...after]);
      return rows.map(([ip, ...rest]) => [new Uint8Array(ip), ...rest]);
    },
    urls: (ids) => read(MALWARE_URLS, [ids]),
    payloads: (ids) => read(PAYLOADS, [ids]),
  });
}
