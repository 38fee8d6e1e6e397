import { type KeyNetwork, keyRanges } from '../../core/ip/key-network.ts';
import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import { FIRST_HIDDEN_KIND, FIRST_OFFLINE_KIND } from '../../urls/store.ts';
import { addFamily, addRuns, type DerivedProgress, derivedListings, MAX_PAYLOADS } from '../derived-rules.ts';
import type { StoredListing } from '../store.ts';

const IS_HOST = 'select 1 from hosts where ip = ? limit 1';

const HOSTS = `select ip, id from hosts where ip <= ? and (ip, id) > (?, ?) order by ip, id limit ${PAGE_ROWS}`;

type HostRow = [ip: Uint8Array, id: number];

// The events of a host, newest first, by its index alone.
const EVENTS = `
  select ts, url_id, kind from events
  where host_id = ? and kind < ${FIRST_HIDDEN_KIND} and (ts, url_id, kind) < (?, ?, ?)
  order by ts desc, url_id desc, kind desc`;

// Of a page of events, those that are online. A page may have none: a statement that reads on until it has enough took 0.2 s for
// 200,000 offline URLs.
const RUNS = `
  select r.ts, r.url_id, e.confirmed_ts, urls.payload_ts from (${EVENTS} limit ${PAGE_ROWS}) r
  cross join events e on e.url_id = r.url_id and e.ts = r.ts and e.kind = r.kind
  cross join urls on urls.id = r.url_id
  where r.kind < ${FIRST_OFFLINE_KIND} and e.confirmed_ts is not null`;

const LAST_EVENT = `${EVENTS} limit 1 offset ${PAGE_ROWS - 1}`;

type RunRow = [ts: number, urlId: number, confirmedTs: number, payloadTs: number | null];
type EventKey = [ts: number, urlId: number, kind: number];
const FIRST_EVENT: EventKey = [Number.MAX_SAFE_INTEGER, 0, 0];

const NEWEST_FAMILY = `
  select p.ts, families.name from (
    select ts, family_id from payloads where url_id = ? order by ts desc limit ${MAX_PAYLOADS}) p
  join families on families.id = p.family_id order by p.ts desc, families.name desc limit 1`;

type FamilyRow = [ts: number, name: string];

/** Rows and statements of the current step. */
type Step = { size: number };

/** `urlIds`: of URLs whose families were read. */
type Progress = DerivedProgress & { urlIds: Set<number> };

/** Reads listings that follow from URLs, in steps. Two hosts may be one address: 192.0.2.1 and [::ffff:c000:201]. */
export function createDerivedListings(db: Database) {
  const isHost = db.prepare<[number]>(IS_HOST);
  const hosts = db.prepare<HostRow>(HOSTS);
  const runs = db.prepare<RunRow>(RUNS);
  const lastEvent = db.prepare<EventKey>(LAST_EVENT);
  const newestFamily = db.prepare<FamilyRow>(NEWEST_FAMILY);

  /** Nothing is read of a URL whose payloads are all older. The newest URLs come first, so most are: 4 µs less for each. */
  function addFamilyOf(progress: Progress, urlId: number, payloadTs: number | null): void {
    if (payloadTs === null || payloadTs < (progress.family?.ts ?? 0) || progress.urlIds.has(urlId)) return;
    progress.urlIds.add(urlId);
    const row = newestFamily.get(urlId);
    if (row !== undefined) addFamily(progress, ...row);
  }

  function* addHost(progress: Progress, hostId: number, step: Step): Generator<void, void, void> {
    for (let key: EventKey | null = FIRST_EVENT; key !== null; ) {
      const rows = runs.all(hostId, ...key);
      addRuns(
        progress,
        rows.map(([ts, , confirmedTs]) => ({ listedTs: ts, seenTs: confirmedTs })),
      );
      for (const [, urlId, , payloadTs] of rows) addFamilyOf(progress, urlId, payloadTs);
      key = lastEvent.get(hostId, ...key) ?? null;
      step.size += key === null ? rows.length + 1 : PAGE_ROWS;
      if (step.size < PAGE_ROWS) continue;
      step.size = 0;
      yield;
    }
  }

  function* read(network: KeyNetwork, seenSinceTs: number): Generator<void, StoredListing[], void> {
    const step: Step = { size: 0 };
    const addresses: Progress[] = [];
    for (const [from, to] of keyRanges(network)) {
      for (let key: HostRow | null = [from, 0]; key !== null; ) {
        const rows = hosts.all(to, ...key);
        for (const [ip, id] of rows) {
          const last = addresses.at(-1);
          const progress =
            last !== undefined && Buffer.compare(last.ip, ip) === 0
              ? last
              : { ip, episodes: [], family: null, urlIds: new Set<number>() };
          if (progress !== last) addresses.push(progress);
          yield* addHost(progress, id, step);
        }
        key = rows.length < PAGE_ROWS ? null : (rows.at(-1) ?? null);
      }
    }
    return addresses.flatMap((progress) => derivedListings(progress, seenSinceTs));
  }

  return {
    /** Whether the address is the host of a URL. Most are not. */
    isHost: (ip: Uint8Array) => isHost.get(ip) !== undefined,
    read,
  };
}
