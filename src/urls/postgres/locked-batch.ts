import { toBytes, toByteText } from '../../core/byte-text.ts';
import { hostParts } from '../../core/domain-name.ts';
import type { StatusObservation } from '../../core/observation.ts';
import { foldFamily } from '../../core/text.ts';
import type { Scalar } from '../../database/postgres/array-literal.ts';
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
import { asGiven, runRows, unnested } from '../../database/postgres/parameters.ts';
import { nextIds } from '../../database/postgres/reserved-ids.ts';
import type { Listing } from '../store.ts';
import type { TimelineChange } from '../stored-timeline.ts';
import type { UrlGroup } from '../url-group.ts';
import { lastColumns, type StatusUpdate } from './events.ts';

/** A URL of a batch. Its row is locked until the end of the transaction, or this transaction adds it. */
export type BatchUrl = StatusUpdate & {
  group: UrlGroup;
  parts: HostParts;
  /** Of the row, before the batch. */
  payloadTs: number | null;
  payloadFileId: number | null;
};

/**
 * `parts` and `names` by host. The maps of reporters and reasons grow when stored entries are read. The ids of new URLs, and those of
 * their hosts, are 0 until `setNewIds`.
 */
export type LockedBatch = {
  /** `known` and `added` together, in order of key. */
  urls: BatchUrl[];
  known: BatchUrl[];
  added: BatchUrl[];
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
  const [urls, known, added]: [BatchUrl[], BatchUrl[], BatchUrl[]] = [[], [], []];
  for (const group of groups) {
    const row = stored.get(group.key);
    const [, id, hostId, payloadTs, payloadFileId] = row ?? NEW_ROW;
    const url: BatchUrl = {
      id,
      hostId,
      isNew: row === undefined,
      statuses: group.statuses,
      implied: null,
      group,
      parts: texts.parts.get(group.host) as HostParts,
      payloadTs,
      payloadFileId,
    };
    urls.push(url);
    (url.isNew ? added : known).push(url);
  }
  return {
    urls,
    known,
    added,
    parts: texts.parts,
    names,
    families,
    tags,
    reporters: new Map(reporters),
    removals: new Map(removals),
  };
}

const NEW_ROW: UrlRow = [new Uint8Array(), 0, 0, null, null];

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
  const { added, names, parts } = batch;
  const ids = await nextIds(session, { urls: added.length, ...countMissing(names, reserved) });
  setIds(names, parts, reserved, ids);
  for (const [i, url] of added.entries()) {
    url.id = ids.urls[i] as number;
    url.hostId = (names.hosts.get(url.group.host) as StoredHost).id;
  }
}

/** When URLs of each domain were first seen online in the batch; null: never. */
export function firstSightings({ urls }: LockedBatch): Map<string, number | null> {
  const first = new Map<string, number | null>();
  for (const { parts, statuses } of urls) {
    const { domain } = parts;
    if (domain === null) continue;
    const ts = statuses.find(isOnline)?.ts ?? null;
    const known = first.get(domain) ?? null;
    if (known === null || (ts !== null && ts < known)) first.set(domain, ts);
  }
  return first;
}

const isOnline = ({ status }: StatusObservation): boolean => status === 'online';

// In order of key. With the last event and payload: an update would write the row and its entries in indexes again.
const ADD_URLS = `
  insert into urls (
    id, url_key, url, host_id, event_ts, event_kind, event_removal_id, event_reporter_id, payload_ts, payload_file_id)
  select ${unnested('bigint', 'bytea', 'text', 'bigint', 'bigint', 'smallint', 'bigint', 'bigint', 'bigint', 'bigint')}`;

/** Adds the new URLs of a batch; returns how many there are. `lastPayloads`: by URL. */
export function addUrls(
  session: Session,
  { added, removals, reporters }: LockedBatch,
  changes: ReadonlyMap<number, TimelineChange>,
  lastPayloads: ReadonlyMap<number, { ts: number; fileId: number }>,
): Promise<number> {
  const rows: Scalar[][] = [];
  for (const { id, hostId, group } of added) {
    const last = lastColumns(changes.get(id)?.last, { removals, reporters });
    const payload = lastPayloads.get(id);
    rows.push([id, toBytes(group.key), group.url, hostId, ...last, payload?.ts ?? null, payload?.fileId ?? null]);
  }
  return runRows(session, ADD_URLS, rows, asGiven);
}
