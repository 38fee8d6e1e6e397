import { toHex } from '../core/byte-text.ts';
import { foldFamily } from '../core/text.ts';
import { dayOf } from '../core/time.ts';
import { normalizeUrl } from '../core/url/normalize.ts';
import { comparePayloads, DETAILS_KEY_BYTES, isNewerPayload, type ServedFile, SHA256_BYTES } from './file-rules.ts';
import {
  afterId,
  type EventColumns,
  type EventRow,
  type FamilyRow,
  type FileRow,
  keyOf,
  type ListedRow,
  type PayloadOfTime,
  type PayloadRow,
  type ResolutionRow,
  type TableRows,
  type TagRow,
  type UrlRow,
  type UrlTagRow,
} from './integrity-rows.ts';
import { bucketOf, type CheckedTable, type Fault, type RowKey } from './store.ts';
import { ENTRY_KINDS, toEntry } from './stored-timeline.ts';
import { type EntryKind, type EventKind, inOrder, isEvent } from './timeline.ts';
import { urlKey } from './url-group.ts';

// What must hold between the tables, and which values can be derived from others (docs/tables.md, docs/timeline.md).

/** In this order, so that a repair finds what it needs: the hosts of URLs before those of their events. */
export const CHECKED_TABLES = [
  'families',
  'files',
  'urls',
  'events',
  'payloads',
  'resolutions',
  'listed',
  'tags',
  'url_tags',
] as const satisfies readonly CheckedTable[];

/** A value that follows from other rows. */
export type Repair =
  | { set: 'host'; urlId: number; host: string }
  | { set: 'last status'; urlId: number; event: EventColumns | null }
  | { set: 'last payload'; urlId: number; payload: ServedPayload | null }
  | { set: 'sighting'; urlId: number; sighting: Sighting | null }
  | { set: 'host of event'; urlId: number; ts: number; kind: number; hostId: number }
  | { set: 'family of payloads'; fileId: number }
  | { set: 'bucket'; urlId: number; ip: Uint8Array; day: number; bucket: number }
  | { set: 'folded'; familyId: number; folded: string }
  | { set: 'folded tag'; tagId: number; folded: string };

type FoundFault = Omit<Fault, 'isRepairable'> & { repair: Repair | null };
export type FoundPage = { rows: number; faults: FoundFault[]; next: RowKey | null };

export function toFault({ table, key, problem, repair }: FoundFault): Fault {
  return { table, key, problem, isRepairable: repair !== null };
}

/** A row of `url_sightings`. */
type Sighting = { domainId: number; hostId: number; onlineTs: number };

type Found = [problem: string, repair?: Repair | null];

type ServedPayload = ServedFile & { fileId: number };

/** The newest of payloads of one second; null without any. */
export function newestPayload(rows: readonly PayloadOfTime[]): ServedPayload | null {
  let newest: ServedPayload | null = null;
  for (const [ts, fileId, key] of rows) {
    const payload = { ts, fileId, key: key ?? NO_KEY };
    if (isNewerPayload(payload, newest)) newest = payload;
  }
  return newest;
}

/** The newest of what is stored about a URL: the visible event, the payload, and the time it was seen online. */
type Newest = { event: EventColumns | null; payload: ServedPayload | null; onlineTs: number | null };

export function urlFaults(row: UrlRow, newest: Newest): FoundFault[] {
  const [urlId, key, url, host] = row;
  const found: Found[] = [];
  const normalized = normalizeUrl(url);
  const isOwnKey = Buffer.compare(key, urlKey(url)) === 0;
  if (!normalized.ok || normalized.url !== url) found.push(['the URL is not in its normalized form']);
  // Which of the two is damaged is unknown, so neither is changed: a wrong URL must not become findable.
  if (!isOwnKey) found.push(['url_key is not the hash of the URL']);
  if (normalized.ok && host !== normalized.host) {
    const repair: Repair = { set: 'host', urlId, host: normalized.host };
    found.push(['host_id is not the id of the host of the URL', isOwnKey ? repair : null]);
  }
  found.push(...lastStatusFaults(row, newest.event), ...lastPayloadFaults(row, newest.payload));
  // After the repair of a host, the next check compares with its domain.
  if (normalized.ok && host === normalized.host) found.push(...sightingFaults(row, newest.onlineTs));
  return faultsAt('urls', row, found);
}

function lastStatusFaults(row: UrlRow, event: EventColumns | null): Found[] {
  const [urlId, , , , ts, kind, removalId, reporterId] = row;
  const copy = [ts, kind, removalId, reporterId];
  if (copy.every((value, i) => value === (event?.[i] ?? null))) return [];
  const problem = `the last status is ${eventText(copy)}, the newest event is ${eventText(event)}`;
  return [[problem, { set: 'last status', urlId, event }]];
}

/** Of a file that does not exist. */
const NO_KEY = new Uint8Array(0);

function lastPayloadFaults(row: UrlRow, newest: ServedPayload | null): Found[] {
  const [urlId] = row;
  const [, , , , , , , , ts, fileId, foundTs, key] = row;
  if (ts === null && fileId === null && newest === null) return [];
  const last = foundTs === null ? null : { ts: foundTs, key: key ?? NO_KEY };
  // Beyond `MAX_TIES` payloads of one second, `newest` may not be the newest, but nothing may be newer than the last one.
  if (last !== null && newest !== null && comparePayloads(newest, last) <= 0) return [];
  const problem = `the last payload is ${payloadText(ts, fileId)}, the newest one is ${payloadText(newest?.ts, newest?.fileId)}`;
  return [[problem, { set: 'last payload', urlId, payload: newest }]];
}

/** A URL has a sighting if it was seen online and its host belongs to a domain. */
function sightingFaults(row: UrlRow, onlineTs: number | null): Found[] {
  const [urlId] = row;
  const [hostId, domainId, storedDomainId, storedHostId, storedTs, rebuildId] = sightingColumns(row);
  if (rebuildId !== null) return [];
  const sighting = domainId === null || onlineTs === null ? null : { domainId, hostId, onlineTs };
  const stored = storedTs === null ? 'none' : `${storedTs} (domain ${storedDomainId}, host ${storedHostId})`;
  const right = sighting === null ? 'none' : `${onlineTs} (domain ${domainId}, host ${hostId})`;
  if (stored === right) return [];
  return [
    [`the time last seen online is ${stored}, by the events it is ${right}`, { set: 'sighting', urlId, sighting }],
  ];
}

function sightingColumns(row: UrlRow) {
  const [, , , , , , , , , , , , ...columns] = row;
  return columns;
}

function eventText(event: readonly (number | null)[] | null): string {
  const [ts = null, kind = null, removalId, reporterId] = event ?? [];
  if (ts === null) return 'none';
  return `${ENTRY_KINDS[kind ?? -1] ?? kind}@${ts} (removal ${removalId}, reporter ${reporterId})`;
}

function payloadText(ts: number | null | undefined, fileId: number | null | undefined): string {
  return ts == null ? 'none' : `file ${fileId}@${ts}`;
}

/**
 * The faults of entries in order of key. A timeline is checked if the page has all of it. The next page begins after the
 * last URL that is complete in this one; a URL with more entries than a page is read over several pages.
 */
function eventsPage(rows: EventRow[], after: RowKey, limit: number): FoundPage {
  const urls = [...Map.groupBy(rows, ([urlId]) => urlId).entries()];
  const isCutAtEnd = rows.length === limit;
  const isContinued = ([urlId]: [number, EventRow[]]) => urlId === after[0];
  if (isCutAtEnd && urls.length > 1) urls.pop();
  const faults = urls.flatMap((url) => {
    const isComplete = !isContinued(url) && !(isCutAtEnd && rows.length === url[1].length);
    return [...url[1].flatMap(eventFaults), ...(isComplete ? timelineFaults(url[1]) : [])];
  });
  const checked = urls.reduce((sum, [, entries]) => sum + entries.length, 0);
  const [lastUrl] = urls.at(-1) ?? [];
  const isOneUrl = checked === rows.length;
  const next = isOneUrl ? keyOf('events', rows.at(-1) ?? []) : afterId('events', lastUrl ?? 0);
  return { rows: checked, faults, next: isCutAtEnd ? next : null };
}

function eventFaults(row: EventRow): FoundFault[] {
  const [urlId, ts, kind, hostId, removalId, reporterId, confirmedTs, urlHostId, foundRemoval, foundReporter, implied] =
    row;
  const found: Found[] = [];
  if (ENTRY_KINDS[kind] === undefined) found.push([`there is no kind ${kind}`]);
  if (urlHostId === null) found.push([`there is no URL ${urlId}`]);
  else if (hostId !== urlHostId) {
    const repair: Repair = { set: 'host of event', urlId, ts, kind, hostId: urlHostId };
    found.push([`the host is ${hostId}, that of the URL is ${urlHostId}`, repair]);
  }
  if (foundRemoval === null) found.push([`there is no removal ${removalId}`]);
  if (foundReporter === null) found.push([`there is no reporter ${reporterId}`]);
  if (confirmedTs !== null && confirmedTs < ts) found.push(['the newest sighting is older than the event']);
  if (implied === 0) found.push(['an offline without a sighting, which no listing implies']);
  return faultsAt('events', row, found);
}

/** The states in which an entry of each kind is stored; see `kindOf` in timeline.ts. */
const STATES_BEFORE: Record<EntryKind, readonly string[]> = {
  added: ['unknown', 'removed'],
  online: ['offline'],
  offline: ['online'],
  removed: ['online', 'offline'],
  offline_after_removal: ['removed'],
  removed_again: ['removed'],
  offline_again: ['offline', 'removed'],
};

/** The state after an event; a hidden entry leaves the state as it was. */
const STATE_AFTER: Record<EventKind, string> = {
  added: 'online',
  online: 'online',
  offline: 'offline',
  removed: 'removed',
};

/** Each entry must follow from the state before it. */
function timelineFaults(rows: EventRow[]): FoundFault[] {
  const entries = rows.map(([, ts, kind, , removalId, reporterId, confirmedTs]) =>
    toEntry([ts, kind, `${removalId}`, `${reporterId}`, confirmedTs]),
  );
  let state = 'unknown';
  for (const [i, entry] of inOrder(entries).entries()) {
    if (!STATES_BEFORE[entry.kind].includes(state)) {
      const problem = `${entry.kind}@${entry.ts}, entry ${i + 1} of the timeline, cannot follow: the URL was ${state}`;
      return faultsAt('events', rows[0] ?? [], [[problem]]);
    }
    if (isEvent(entry)) state = STATE_AFTER[entry.kind];
  }
  return [];
}

function payloadFaults(row: PayloadRow): FoundFault[] {
  const [urlId, , fileId, familyId, foundUrlId, foundFileId, fileFamilyId, foundFamilyId, spreadFileId] = row;
  const found: Found[] = [];
  if (foundUrlId === null) found.push([`there is no URL ${urlId}`]);
  if (foundFileId === null) found.push([`there is no file ${fileId}`]);
  if (familyId !== null && foundFamilyId === null) found.push([`there is no family ${familyId}`]);
  if (familyId !== null && foundFileId !== null && fileFamilyId === null) {
    found.push([`the family is ${familyId}, and its file has none`]);
  }
  if (familyId === null && fileFamilyId !== null && spreadFileId === null) {
    found.push([`the family ${fileFamilyId} of its file is missing`, { set: 'family of payloads', fileId }]);
  }
  return faultsAt('payloads', row, found);
}

const ADDRESS_BYTES = 16;

function resolutionFaults(row: ResolutionRow): FoundFault[] {
  const [urlId, ip, day, ts, bucket, foundUrlId] = row;
  const found: Found[] = [];
  if (foundUrlId === null) found.push([`there is no URL ${urlId}`]);
  if (ip.length !== ADDRESS_BYTES) found.push([`the address has ${ip.length} bytes`]);
  if (day !== dayOf(ts)) found.push([`the time ${ts} is not on the day ${day}`]);
  else if (bucket !== bucketOf(ts)) {
    const repair: Repair = { set: 'bucket', urlId, ip, day, bucket: bucketOf(ts) };
    found.push([`the bucket of ${ts} is ${bucketOf(ts)}, not ${bucket}`, repair]);
  }
  return faultsAt('resolutions', row, found);
}

/** Not repairable: whether the row, the listing or the event is damaged is unknown. */
function listedFaults(row: ListedRow): FoundFault[] {
  const [urlId, feedId, foundUrlId, foundFeedId, isMissedRight, isOfflineStored] = row;
  const found: Found[] = [];
  if (foundUrlId === null) found.push([`there is no URL ${urlId}`]);
  if (foundFeedId === null) found.push([`there is no feed ${feedId}`]);
  if (!isMissedRight) found.push(['missed_ts is not the first complete listing after ts']);
  if (!isOfflineStored) found.push(['no feed lists the URL any more, and the offline that follows is missing']);
  return faultsAt('listed', row, found);
}

function fileFaults(row: FileRow): FoundFault[] {
  const [, key, familyId, foundFamilyId] = row;
  const found: Found[] = [];
  if (key.length !== SHA256_BYTES && key.length !== DETAILS_KEY_BYTES) found.push([`the key has ${key.length} bytes`]);
  if (familyId !== null && foundFamilyId === null) found.push([`there is no family ${familyId}`]);
  return faultsAt('files', row, found);
}

function familyFaults(row: FamilyRow): FoundFault[] {
  const [familyId, name, folded] = row;
  const right = foldFamily(name);
  const repair: Repair = { set: 'folded', familyId, folded: right };
  return faultsAt('families', row, folded === right ? [] : [['folded is not the folded name', repair]]);
}

function tagFaults(row: TagRow): FoundFault[] {
  const [tagId, name, folded] = row;
  const right = foldFamily(name);
  const repair: Repair = { set: 'folded tag', tagId, folded: right };
  return faultsAt('tags', row, folded === right ? [] : [['folded is not the folded name', repair]]);
}

function urlTagFaults(row: UrlTagRow): FoundFault[] {
  const [urlId, tagId, foundUrlId, foundTagId] = row;
  const found: Found[] = [];
  if (foundUrlId === null) found.push([`there is no URL ${urlId}`]);
  if (foundTagId === null) found.push([`there is no tag ${tagId}`]);
  return faultsAt('url_tags', row, found);
}

function faultsAt(table: CheckedTable, row: readonly unknown[], found: readonly Found[]): FoundFault[] {
  if (found.length === 0) return [];
  const key = keyOf(table, row).map(keyText).join(' ');
  return found.map(([problem, repair = null]) => ({ table, key, problem, repair }));
}

/** A key as text; bytes are hexadecimal. */
export function keyText(part: number | Uint8Array): string {
  return typeof part === 'number' ? `${part}` : toHex(part);
}

const ROW_FAULTS = {
  payloads: payloadFaults,
  resolutions: resolutionFaults,
  listed: listedFaults,
  files: fileFaults,
  families: familyFaults,
  tags: tagFaults,
  url_tags: urlTagFaults,
};

/** The result of one page, which has at most `limit` rows. */
export function foundPage<Table extends keyof TableRows>(
  table: Table,
  rows: TableRows[Table][],
  { after, limit }: { after: RowKey; limit: number },
): FoundPage {
  if (table === 'events') return eventsPage(rows as EventRow[], after, limit);
  const faultsOf = ROW_FAULTS[table as keyof typeof ROW_FAULTS] as (row: TableRows[Table]) => FoundFault[];
  return { rows: rows.length, faults: rows.flatMap(faultsOf), next: nextKey(table, rows, limit) };
}

/** Null after the last page. */
export function nextKey(table: CheckedTable, rows: readonly (readonly unknown[])[], limit: number): RowKey | null {
  const last = rows.at(-1);
  return last === undefined || rows.length < limit ? null : keyOf(table, last);
}
