import { type ByteText, toBytes, toByteText } from '../../core/byte-text.ts';
import { dayOf } from '../../core/time.ts';
import type { Scalar } from '../../database/postgres/array-literal.ts';
import type { Session } from '../../database/postgres/database.ts';
import { columns, runRows, unnested } from '../../database/postgres/parameters.ts';
import { hostAddress, mergeResolution, type Resolution } from '../resolution-rules.ts';
import { bucketOf } from '../store.ts';
import type { StatusUpdate } from './events.ts';

/** An address of a URL whose row is locked, or is added by this transaction. */
export type UrlAddress = { urlId: number; isNewUrl: boolean; ts: number; ip: ByteText; asn: number | null };

type ReadResolution = UrlAddress & { isChanged: boolean };
type Row = [urlId: number, ip: Uint8Array, ts: number, asn: number | null];

const FIND = `
  select r.url_id, r.ip, r.ts, r.asn from unnest($1::bigint[], $2::bytea[], $3::integer[]) as a (url_id, ip, day)
  join resolutions r on r.url_id = a.url_id and r.ip = a.ip and r.day = a.day`;

const FIND_NEWEST = `
  select a.url_id, a.ip, r.ts, r.asn from unnest($1::bigint[], $2::bytea[]) as a (url_id, ip)
  cross join lateral (
    select ts, asn from resolutions where url_id = a.url_id and ip = a.ip order by day desc limit 1) r`;

// For URLs that this transaction adds.
const ADD = `
  insert into resolutions (url_id, ip, day, ts, bucket, asn)
  select ${unnested('bigint', 'bytea', 'integer', 'bigint', 'integer', 'bigint')}`;

// `setNetworks` writes networks without a lock on the URL: a stored network is never replaced by null.
const PUT = `${ADD}
  on conflict (url_id, ip, day) do update set ts = excluded.ts, asn = coalesce(excluded.asn, resolutions.asn)`;

type Resolutions = {
  apply(addresses: readonly UrlAddress[]): void;
  /** With the networks of the newest resolutions of these URLs and addresses. After `apply`. */
  applyHosts(addresses: readonly UrlAddress[]): void;
  changed(): number;
  write(): Promise<unknown>;
};

/**
 * Reads the resolutions that these addresses may change, and the newest one of each of `hostAddresses`. Not to be read for
 * URLs that this transaction adds.
 */
export async function readResolutions(
  session: Session,
  addresses: readonly UrlAddress[],
  hostAddresses: readonly UrlAddress[],
): Promise<Resolutions> {
  const byKey = new Map([...addresses, ...hostAddresses].map((one) => [keyOf(one), one]));
  const [found, newestFound] = await Promise.all([
    byKey.size === 0
      ? []
      : session.query<Row>(
          FIND,
          columns(3, [...byKey.values()], ({ urlId, ip, ts }) => [urlId, toBytes(ip), dayOf(ts)]),
        ),
    hostAddresses.length === 0
      ? []
      : session.query<Row>(
          FIND_NEWEST,
          columns(2, hostAddresses, ({ urlId, ip }) => [urlId, toBytes(ip)]),
        ),
  ]);
  const resolutions = new Map(found.map(toResolution).map((one) => [keyOf(one), one]));
  let changes = 0;

  function applyOne({ urlId, isNewUrl, ts, ip, asn }: UrlAddress): void {
    const key = keyOf({ urlId, ts, ip });
    const old = resolutions.get(key);
    const merged = old === undefined ? { ts, asn, isChanged: true } : mergeResolution(old, { ts, asn });
    if (!merged.isChanged) return;
    changes++;
    resolutions.set(key, { urlId, isNewUrl, ip, ts: merged.ts, asn: merged.asn, isChanged: true });
  }

  return {
    apply(given) {
      for (const address of given) applyOne(address);
    },
    applyHosts(hosts) {
      if (hosts.length === 0) return;
      const newest = newestOf([...newestFound.map(toResolution), ...resolutions.values()]);
      for (const address of hosts) applyOne({ ...address, asn: newest.get(placeOf(address))?.asn ?? null });
    },
    changed: () => changes,
    async write() {
      const added: ReadResolution[] = [];
      const known: ReadResolution[] = [];
      for (const one of resolutions.values()) if (one.isChanged) (one.isNewUrl ? added : known).push(one);
      await Promise.all([runRows(session, ADD, added, toRow), runRows(session, PUT, known, toRow)]);
    },
  };
}

function toRow({ urlId, ip, ts, asn }: ReadResolution): Scalar[] {
  return [urlId, toBytes(ip), dayOf(ts), ts, bucketOf(ts), asn];
}

function toResolution([urlId, ip, ts, asn]: Row): ReadResolution {
  return { urlId, isNewUrl: false, ip: toByteText(ip), ts, asn, isChanged: false };
}

/** By URL and address. */
function newestOf(all: readonly ReadResolution[]): Map<string, Resolution> {
  const newest = new Map<string, Resolution>();
  for (const one of all) {
    const known = newest.get(placeOf(one));
    if (known === undefined || dayOf(known.ts) <= dayOf(one.ts)) newest.set(placeOf(one), one);
  }
  return newest;
}

function keyOf(address: Pick<UrlAddress, 'urlId' | 'ip' | 'ts'>): string {
  return `${address.urlId} ${address.ip} ${dayOf(address.ts)}`;
}

function placeOf({ urlId, ip }: Pick<UrlAddress, 'urlId' | 'ip'>): string {
  return `${urlId} ${ip}`;
}

/** A URL whose host is an address gets a resolution for every event, also for an implied offline. */
export function impliedAddresses({ id, isNew, implied }: StatusUpdate, url: string): UrlAddress[] {
  if (!implied?.after) return [];
  const ip = hostAddress(url);
  return ip === null ? [] : [{ urlId: id, isNewUrl: isNew, ts: implied.after.ts, ip: toByteText(ip), asn: null }];
}
