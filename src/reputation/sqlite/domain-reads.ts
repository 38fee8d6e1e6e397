import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import {
  type AddressPageRow,
  createDomainReads,
  type EvidencePageRow,
  MAX_URL_PAYLOADS,
  type SenderRow,
  type SightingRow,
} from '../domain-reads.ts';
import { EVIDENCE_COLUMNS, SOURCE_COLUMNS } from '../domain-rows.ts';

const SIGHTINGS = `
  select s.online_ts, s.url_id, hosts.host from url_sightings s join hosts on hosts.id = s.host_id
  where s.domain_id = ? and (s.online_ts, s.url_id) < (?, ?)
  order by s.online_ts desc, s.url_id desc limit ${PAGE_ROWS}`;

const EVIDENCE_PAGE = `
  select e.source_id, e.kind, e.host_id, ${SOURCE_COLUMNS}, ${EVIDENCE_COLUMNS}
  from domain_evidence e join sources s on s.id = e.source_id join hosts on hosts.id = e.host_id
  where e.domain_id = ? and (e.source_id, e.kind, e.host_id) > (?, ?, ?)
  order by e.source_id, e.kind, e.host_id limit ${PAGE_ROWS}`;

const ADDRESS_PAGE = `
  select host_id, ip, day, origin, ts from name_addresses
  where domain_id = ? and (host_id, ip, day, origin) > (?, ?, ?, ?)
  order by host_id, ip, day, origin limit ${PAGE_ROWS}`;

const SENDER_PAGE = `
  select ip, helo, ts from senders where domain_id = ? and (ip, helo) > (?, ?) order by ip, helo limit ${PAGE_ROWS}`;

const URL = `
  select u.id, u.url, (
    select families.name from payloads p join files on files.id = p.file_id join families on families.id = p.family_id
    where p.url_id = u.id order by p.ts desc, files.file_key desc limit 1)
  from urls u where u.id = ?`;

const PAYLOADS = `
  select p.ts, files.file_key, families.name
  from payloads p join files on files.id = p.file_id left join families on families.id = files.family_id
  where p.url_id = ? and length(files.file_key) = 32 order by p.ts desc limit ${MAX_URL_PAYLOADS}`;

export function createReadDomains(db: Database) {
  const sightings = db.prepare<SightingRow>(SIGHTINGS);
  const evidence = db.prepare<EvidencePageRow>(EVIDENCE_PAGE);
  const addresses = db.prepare<AddressPageRow>(ADDRESS_PAGE);
  const senders = db.prepare<SenderRow>(SENDER_PAGE);
  const url = db.prepare<[urlId: number, url: string, family: string | null]>(URL);
  const payloads = db.prepare<[ts: number, fileKey: Uint8Array, family: string | null]>(PAYLOADS);
  return createDomainReads({
    sightings: (id, before) => sightings.all(id, ...before),
    evidence: (id, after) => evidence.all(id, ...after),
    addresses: (id, after) => addresses.all(id, ...after),
    senders: (id, after) => senders.all(id, ...after),
    urls: (ids) => ids.map((id) => url.one(id)),
    payloads: (ids) => ids.flatMap((id) => payloads.all(id)),
  });
}
