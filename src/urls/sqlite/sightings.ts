import { toByteText } from '../../core/byte-text.ts';
import { dayOf } from '../../core/time.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries, Named } from '../../database/sqlite/dictionaries.ts';
import type { OnlineSpan } from '../sighting-rules.ts';

const PUT_SIGHTING = `
  insert into url_sightings (url_id, domain_id, host_id, online_ts) values (?, ?, ?, ?)
  on conflict do update set online_ts = excluded.online_ts where excluded.online_ts > online_ts`;

const SET_FIRST = `
  update domains set first_url_ts = ?1 where id = ?2 and (first_url_ts is null or first_url_ts > ?1)`;

// origin 0: from URLs.
const PUT_ADDRESS = `
  insert into name_addresses (domain_id, host_id, ip, day, origin, ts) values (?, ?, ?, ?, 0, ?)
  on conflict do update set ts = excluded.ts where excluded.ts > ts`;

type NameAddress = { domainId: number; hostId: number; ip: Uint8Array; ts: number };

/**
 * What the domains of URLs learn from a batch: when the URLs were seen online, and the addresses of their hosts. Nothing is
 * written for a host that belongs to no domain.
 */
export function createSightings(db: Database, { hosts }: Pick<Dictionaries, 'hosts'>) {
  const putSighting = db.prepare(PUT_SIGHTING);
  const setFirst = db.prepare(SET_FIRST);
  const putAddress = db.prepare(PUT_ADDRESS);
  const firstTs = new Map<number, number>();
  const addresses = new Map<string, NameAddress>();

  return {
    /** To be called at the beginning of each transaction. */
    begin(): void {
      firstTs.clear();
      addresses.clear();
    },

    addOnline(urlId: number, host: Named, span: OnlineSpan | null): void {
      const domainId = span === null ? null : (hosts.domainOf(host)?.id ?? null);
      if (span === null || domainId === null) return;
      putSighting.run(urlId, domainId, host.id, span.lastTs);
      const known = firstTs.get(domainId);
      if (known === undefined || known > span.firstTs) firstTs.set(domainId, span.firstTs);
    },

    addAddress(host: Named, ts: number, ip: Uint8Array): void {
      const domainId = hosts.domainOf(host)?.id;
      if (domainId === undefined) return;
      const hostId = host.id;
      const key = `${hostId} ${dayOf(ts)} ${toByteText(ip)}`;
      const known = addresses.get(key);
      if (known === undefined || known.ts < ts) addresses.set(key, { domainId, hostId, ip, ts });
    },

    /** Most URLs of a batch share a domain or a host, so these rows are written once, at the end. */
    end(): void {
      for (const [domainId, ts] of firstTs) setFirst.run(ts, domainId);
      for (const { domainId, hostId, ip, ts } of addresses.values())
        putAddress.run(domainId, hostId, ip, dayOf(ts), ts);
    },
  };
}
