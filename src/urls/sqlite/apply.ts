import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries, Named } from '../../database/sqlite/dictionaries.ts';
import { type PackedGroups, unpackGroups } from '../packed-groups.ts';
import { onlineSpan } from '../sighting-rules.ts';
import { type ApplyReport, type Listing, NOTHING_APPLIED } from '../store.ts';
import { advance, type Entry, isEvent } from '../timeline.ts';
import type { GroupOf } from '../url-group.ts';
import { createAddTimeline, createApplyStatus, lastColumns } from './events.ts';
import type { BackfillFamilies } from './files.ts';
import { createListed } from './listings.ts';
import { createApplyPayloads, type OnlyPayload } from './payloads.ts';
import { createApplyAddress } from './resolutions.ts';
import { createSightings } from './sightings.ts';
import { createAddTags } from './tags.ts';

/** A batch as the writer thread gets it. */
export type PackedBatch = { packed: PackedGroups; listing: Listing | undefined };

type ByteGroup = GroupOf<Uint8Array>;

const subarray = (bytes: Uint8Array, from: number, to: number) => bytes.subarray(from, to);

const FIND_URL = 'select id, host_id from urls where url_key = ?';
const FIND_URL_BY_ID = 'select id, host_id from urls where id = ?';

/**
 * Applies batches of observations, several in one transaction: batches change many of the same pages, which are then written
 * once. What is stored, also of the change feed, is the same as with a transaction each.
 */
export function createApply(db: Database, dictionaries: Dictionaries, backfillFamilies: BackfillFamilies) {
  const { reporters, families, hosts, changes, keys, together, recorded } = dictionaries;
  const addUrl = createAddUrl(db, dictionaries);
  const applyStatus = createApplyStatus(db, dictionaries);
  const payloadWrites = createApplyPayloads(db, families);
  const { applyAddress, applyHostAddress } = createApplyAddress(db);
  const listed = createListed(db);
  const addTags = createAddTags(db, dictionaries.tags);
  const sightings = createSightings(db, dictionaries);
  const findUrl = db.prepare<StoredUrl>(FIND_URL);
  const findUrlById = db.prepare<StoredUrl>(FIND_URL_BY_ID);
  // Most batches have almost only new or almost only known URLs, so the last URL decides what is tried first.
  let isLikelyNew = false;

  /** The row of a stored URL; undefined if it is not stored, or if it is likely new: then adding it is tried first. */
  function find(key: Uint8Array): StoredUrl | undefined {
    if (!keys.isUsed()) return isLikelyNew ? undefined : findUrl.get(key);
    const id = keys.urlId(key);
    return id === undefined ? undefined : findUrlById.one(id);
  }

  /** The row of the URL of a group; a new URL is added with its timeline. */
  function findOrAdd(group: ByteGroup): UrlRow {
    const known = find(group.key);
    const only = known === undefined ? payloadWrites.only(group.payloads) : null;
    const row = known === undefined ? addUrl(group, only) : null;
    isLikelyNew = row !== null;
    if (row !== null) return row;
    const [id, hostId] = known ?? findUrl.one(group.key);
    return { id, hostId, added: null, only };
  }

  function applyUrl(group: ByteGroup, listing: Listing | undefined, report: ApplyReport): void {
    const { url, payloads, addresses, tags } = group;
    const { id: urlId, hostId, added, only } = findOrAdd(group);
    const host = { id: hostId, name: group.host };
    const isNewUrl = added !== null;
    if (isNewUrl) {
      report.urlsAdded++;
      report.eventsChanged += added.filter(isEvent).length;
    }
    const change = listing === undefined ? null : listed.markListed(urlId, reporters.idOf(listing.feed), listing);
    const status = applyStatus(urlId, hostId, isNewUrl ? [] : group.statuses, change);
    const { last } = status;
    report.eventsChanged += status.eventsChanged;
    const newestTs = (last ?? added?.findLast(isEvent))?.ts ?? null;
    if (newestTs !== null && newestTs > (report.newestEventTs ?? -1)) report.newestEventTs = newestTs;
    const span = onlineSpan(added ?? status.upserts);
    sightings.addOnline(urlId, host, span);
    const payload = payloadWrites.apply(urlId, payloads, isNewUrl, only);
    report.payloadsAdded += payload.added;
    if (isNewUrl) changes.url(urlId, 'add');
    else if (status.isLastChanged || payload.isLastChanged) changes.url(urlId, 'update');
    if (span !== null && (isNewUrl || status.isSeenAgain)) recordHost(host);
    addTags(urlId, tags);
    for (const [ts, ip, asn] of addresses) {
      report.resolutionsChanged += applyAddress(urlId, ts, ip, asn, isNewUrl);
      sightings.addAddress(host, ts, ip);
    }
    if (change?.after) report.resolutionsChanged += applyHostAddress(urlId, change.after.ts, url);
  }

  /** A URL that is online counts for the score of its domain, and lists the address that its host is. */
  function recordHost(host: Named): void {
    const domain = hosts.domainOf(host);
    if (domain !== null) changes.domain(domain.name, 'update');
    else changes.addressHost(host.id, hosts.isNew(host.id) ? 'add' : 'update');
  }

  function applyBatch({ packed, listing }: PackedBatch): ApplyReport {
    const report: ApplyReport = { ...NOTHING_APPLIED };
    sightings.begin();
    payloadWrites.begin();
    for (const group of unpackGroups(packed, subarray)) applyUrl(group, listing, report);
    sightings.end();
    return report;
  }

  /** Applies the first batches in one transaction. */
  function applyFirst(batches: readonly PackedBatch[]): ApplyReport[] {
    const reports: ApplyReport[] = [];
    const isRoomy = db.hasSpaceFor(batches.length);
    together(() => {
      for (const batch of batches) {
        reports.push(recorded(() => applyBatch(batch)));
        // Families are set in transactions of their own, before the next batch reads the payloads.
        if (!isRoomy || backfillFamilies.isNeeded()) break;
      }
    });
    backfillFamilies.run();
    return reports;
  }

  /** If there are fewer reports than batches, the others failed and were not applied. */
  return (batches: readonly PackedBatch[]): ApplyReport[] => {
    const reports: ApplyReport[] = [];
    while (reports.length < batches.length) {
      try {
        reports.push(...applyFirst(batches.slice(reports.length)));
      } catch (error) {
        if (reports.length === 0) throw error;
        break;
      }
    }
    return reports;
  };
}

type StoredUrl = [id: number, hostId: number];

/** `added`: the timeline of a URL that was not stored before. */
type UrlRow = { id: number; hostId: number; added: readonly Entry[] | null; only: OnlyPayload | null };

const ADD_URL = `
  insert into urls
    (url_key, url, host_id, event_ts, event_kind, event_removal_id, event_reporter_id, payload_ts, payload_file_id)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;

/**
 * Adds a URL with its timeline; null if it is stored already. No stored timeline is read, and the row is inserted with the
 * last status and its only payload: three statements fewer than for a known URL.
 */
function createAddUrl(db: Database, dictionaries: Dictionaries) {
  const add = db.prepare(ADD_URL);
  const addTimeline = createAddTimeline(db, dictionaries);

  return ({ key, url, host, statuses }: ByteGroup, only: OnlyPayload | null): UrlRow | null => {
    const timeline = advance([], statuses);
    const hostId = dictionaries.hosts.idOf(host);
    const last = lastColumns(timeline.findLast(isEvent), dictionaries);
    const id = add.insertNew(key, url, hostId, ...last, only?.payload.ts ?? null, only?.file.id ?? null);
    if (id === null) return null;
    dictionaries.keys.addUrl(key, id);
    addTimeline(id, hostId, timeline);
    return { id, hostId, added: timeline, only };
  };
}
