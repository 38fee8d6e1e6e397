import { toBytes, toByteText } from '../../core/byte-text.ts';
import { hostParts } from '../../core/domain-name.ts';
import { foldFamily } from '../../core/text.ts';
import type { Session } from '../../database/postgres/database.ts';
import { familyIds, type Ids, removalIds, reporterIds, tagIds } from '../../database/postgres/dictionaries.ts';
import {
  countMissing,
  findNames,
  HOLD_HOSTS,
  type HostNames,
  type HostParts,
  type ReservedNames,
  type StoredHost,
  setIds,
} from '../../database/postgres/host-names.ts';
import type { Lock } from '../../database/postgres/lock-order.ts';
import { runRows, unnested } from '../../database/postgres/parameters.ts';
import { nextIds } from '../../database/postgres/reserved-ids.ts';
import type { Listing } from '../store.ts';
import { kindCode, type TimelineChange } from '../stored-timeline.ts';
import type { UrlGroup } from '../url-group.ts';

/** A URL of a batch. Its row is locked until the end of the transaction, or this transaction adds it. */
export type BatchUrl = {
  group: UrlGroup;
  /** 0 for a new one until `setNewIds`. */
  id: number;
  hostId: number;
  isNew: boolean;
  /** Of the row, before the batch. */
  payloadTs: number | null;
  payloadFileId: number | null;
};

/** `parts` and `names` by host. The maps of reporters and reasons grow when stored entries are read. */
export type LockedBatch = {
  urls: BatchUrl[];
  parts: ReadonlyMap<string, HostParts>;
  names: HostNames;
  reporters: Map<string, number>;
  removals: Map<string, number>;
  families: Ids;
  tags: Ids;
};

// Shared: meanwhile no listing of the feed is added or finished, so that `missed_ts` stays right.
const LOCK_FEED_SHARED = 'select id from reporters where text_key(name) = text_key($1) for share';

// Only columns of the table itself: after a wait, joined rows would be those of the start of the statement.
const LOCK_URLS = `
  select url_key, id, host_id, payload_ts, payload_file_id from urls
  where url_key = any($1::bytea[]) order by url_key for update`;

/**
 * By id. The expression keeps the planner from reading the whole table in the order of the index on `url_key`, because
 * sorting is off (`PLANNING`): 4 s instead of 2 ms for 500 of a million URLs.
 */
export const LOCK_URLS_BY_ID = `
  select count(*) from (select 1 from urls where id = any($1::bigint[]) order by url_key || '' for update) l`;

type UrlRow = [key: Uint8Array, id: number, hostId: number, payloadTs: number | null, payloadFileId: number | null];

/** Locks and reads the URLs that are stored, adds texts and finds hosts: one round trip. */
export async function lockBatch(
  session: Session,
  lock: Lock,
  groups: readonly UrlGroup[],
  listing: Listing | undefined,
): Promise<LockedBatch> {
  const texts = textsOf(groups, listing);
  const [{ reporters, removals, families, tags, urls: rows }, names] = await Promise.all([
    lock({
      host_table: () => session.run(HOLD_HOSTS),
      reporters: () => reporterIds(session, texts.reporters),
      feed: listing && (() => session.query(LOCK_FEED_SHARED, [listing.feed])),
      removals: () => removalIds(session, texts.removals),
      families: () => familyIds(session, texts.families, foldFamily),
      tags: () => tagIds(session, texts.tags, foldFamily),
      urls: () => session.query<UrlRow>(LOCK_URLS, [groups.map(({ key }) => toBytes(key))]),
    }),
    findNames(session, texts.parts),
  ]);
  const stored = new Map(rows.map((row) => [toByteText(row[0]), row]));
  const urls = groups.map((group): BatchUrl => {
    const row = stored.get(group.key);
    if (row === undefined) return { group, id: 0, hostId: 0, isNew: true, payloadTs: null, payloadFileId: null };
    const [, id, hostId, payloadTs, payloadFileId] = row;
    return { group, id, hostId, isNew: false, payloadTs, payloadFileId };
  });
  return {
    urls,
    parts: texts.parts,
    names,
    families,
    tags,
    reporters: new Map(reporters),
    removals: new Map(removals),
  };
}

function textsOf(groups: readonly UrlGroup[], listing: Listing | undefined) {
  const reporters = new Set(listing === undefined ? [] : [listing.feed]);
  // Most entries have no reason.
  const removals = new Set(['']);
  const families = new Set<string>();
  const tags = new Set<string>();
  /** By host. */
  const parts = new Map<string, HostParts>();
  for (const { host, statuses, payloads, tags: given } of groups) {
    if (!parts.has(host)) parts.set(host, hostParts(host));
    for (const { reporter, removal } of statuses) {
      reporters.add(reporter);
      removals.add(removal);
    }
    for (const { family } of payloads) if (family !== null) families.add(family);
    for (const tag of given) tags.add(tag);
  }
  return { reporters, removals, families, tags, parts };
}

/**
 * Takes ids for new URLs, hosts and domains: rows that refer to them are written before their own are. If another transaction
 * adds one of the new URLs meanwhile, `addUrls` fails, and the batch is applied again.
 */
export async function setNewIds(session: Session, batch: LockedBatch, reserved: ReservedNames): Promise<void> {
  const { urls, names, parts } = batch;
  const newUrls = urls.filter(({ isNew }) => isNew);
  const ids = await nextIds(session, { urls: newUrls.length, ...countMissing(names, reserved) });
  setIds(names, parts, reserved, ids);
  for (const [i, url] of newUrls.entries()) {
    url.id = ids.urls[i] as number;
    url.hostId = (names.hosts.get(url.group.host) as StoredHost).id;
  }
}

/** When URLs of each domain were first seen online in the batch; null: never. */
export function firstSightings({ urls, parts }: LockedBatch): Map<string, number | null> {
  const first = new Map<string, number | null>();
  for (const { group } of urls) {
    const domain = parts.get(group.host)?.domain ?? null;
    if (domain === null) continue;
    const ts = group.statuses.find(({ status }) => status === 'online')?.ts ?? null;
    const known = first.get(domain) ?? null;
    if (known === null || (ts !== null && ts < known)) first.set(domain, ts);
  }
  return first;
}

// In order of key. With the last event and payload: an update would write the row and its entries in indexes again.
const ADD_URLS = `
  insert into urls (
    id, url_key, url, host_id, event_ts, event_kind, event_removal_id, event_reporter_id, payload_ts, payload_file_id)
  select ${unnested('bigint', 'bytea', 'text', 'bigint', 'bigint', 'smallint', 'bigint', 'bigint', 'bigint', 'bigint')}`;

/** Adds the new URLs of a batch; returns how many there are. `lastPayloads`: by URL. */
export function addUrls(
  session: Session,
  { urls, removals, reporters }: LockedBatch,
  changes: ReadonlyMap<number, TimelineChange>,
  lastPayloads: ReadonlyMap<number, { ts: number; fileId: number }>,
): Promise<number> {
  const newUrls = urls.filter(({ isNew }) => isNew);
  return runRows(session, ADD_URLS, newUrls, ({ id, hostId, group }) => {
    const { key, url } = group;
    const event = changes.get(id)?.last;
    const payload = lastPayloads.get(id);
    return [
      id,
      toBytes(key),
      url,
      hostId,
      event?.ts ?? null,
      event ? kindCode(event) : null,
      event ? (removals.get(event.removal) as number) : null,
      event ? (reporters.get(event.reporter) as number) : null,
      payload?.ts ?? null,
      payload?.fileId ?? null,
    ];
  });
}
