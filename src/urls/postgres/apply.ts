import { type ByteText, sliceToByteText, toBytes } from '../../core/byte-text.ts';
import { type ChangeRecorder, createChangeRecorder } from '../../database/changes.ts';
import { putChanges } from '../../database/postgres/changes.ts';
import type { Database, Session } from '../../database/postgres/database.ts';
import {
  type AddedNames,
  addNewDomains,
  addNewHosts,
  afterSameNames,
  createReservedNames,
  type ReservedNames,
} from '../../database/postgres/host-names.ts';
import { createLock } from '../../database/postgres/lock-order.ts';
import { packBatch, type UrlBatch, unpackGroups } from '../packed-groups.ts';
import { onlineSpan } from '../sighting-rules.ts';
import { type ApplyReport, type Listing, NOTHING_APPLIED } from '../store.ts';
import type { TimelineChange } from '../stored-timeline.ts';
import type { UrlGroup } from '../url-group.ts';
import { addNewTimelines, putStatuses, statusChanges } from './events.ts';
import { fillFiles, upsertFiles } from './files.ts';
import { markListed, putListed } from './listings.ts';
import { addUrls, type BatchUrl, firstSightings, type LockedBatch, lockBatch, setNewIds } from './locked-batch.ts';
import { payloadChanges, putPayloads, readLast, urlPayloads } from './payloads.ts';
import { impliedAddresses, readResolutions, type UrlAddress } from './resolutions.ts';
import { putSightings, type Sightings } from './sightings.ts';
import { putTags } from './tags.ts';

/**
 * Applies batches of observations, each in one transaction. Between begin and commit a batch of any size takes three round
 * trips: lock texts and URLs; read timelines and resolutions, lock files, take ids for what is new; write. New hosts are written
 * in a fourth one, before it the ones that an earlier batch may have added are read, and with a listing there is one that reads it.
 */
export function createApply(db: Database, backfillFamilies: () => Promise<void>) {
  const reserved = createReservedNames();
  const afterSameUrls = createUrlOrder();

  async function applyOnce(groups: readonly UrlGroup[], listing: Listing | undefined): Promise<ApplyReport> {
    let reservation: ReturnType<typeof reserved.open> | null = null;
    try {
      return await db.transaction(async (session) => {
        const attempt = reserved.open();
        reservation = attempt;
        try {
          return await applyGroups(session, groups, listing, attempt);
        } catch (error) {
          attempt.close(); // now: the next attempt may need the connection of a batch that waits for this one
          throw error;
        }
      });
    } finally {
      (reservation as ReturnType<typeof reserved.open> | null)?.close();
    }
  }

  return async (batch: UrlBatch, listing?: Listing): Promise<ApplyReport> => {
    const groups = toGroups(batch);
    if (groups.length === 0) return { ...NOTHING_APPLIED };
    const report = await afterSameUrls(groups, () => applyOnce(groups, listing));
    await backfillFamilies();
    return report;
  };
}

function toGroups(batch: UrlBatch): UrlGroup[] {
  const { values, texts, bytes } = packBatch(batch);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length); // from another thread it comes as an Uint8Array
  return [...unpackGroups({ values, texts, bytes: buffer }, sliceToByteText)];
}

/**
 * A batch waits for earlier ones of this process that have some of its URLs. The database would let it wait as well, but for
 * a URL that both of them add it would then have to begin again.
 */
function createUrlOrder() {
  const running = new Set<{ keys: ReadonlySet<ByteText>; done: Promise<unknown> }>();
  return async <T>(groups: readonly UrlGroup[], work: () => Promise<T>): Promise<T> => {
    const earlier = [...running].filter(({ keys }) => hasOneOf(keys, groups));
    const done = Promise.allSettled(earlier.map((batch) => batch.done)).then(work);
    const batch = { keys: keysOf(groups), done };
    running.add(batch);
    return done.finally(() => running.delete(batch));
  };
}

function hasOneOf(keys: ReadonlySet<ByteText>, groups: readonly UrlGroup[]): boolean {
  for (const { key } of groups) if (keys.has(key)) return true;
  return false;
}

function keysOf(groups: readonly UrlGroup[]): Set<ByteText> {
  const keys = new Set<ByteText>();
  for (const { key } of groups) keys.add(key);
  return keys;
}

async function applyGroups(
  session: Session,
  groups: readonly UrlGroup[],
  listing: Listing | undefined,
  reserved: ReservedNames,
): Promise<ApplyReport> {
  const lock = createLock();
  const recorder = createChangeRecorder();
  const batch = await lockBatch(session, lock, groups, listing);
  const { urls, known, added, names, parts } = batch;
  if (listing !== undefined) await setNewIds(session, batch, reserved);
  const listed = listing === undefined ? [] : await markUrlsListed(session, batch, listing);
  const payloads = urlPayloads(batch);
  const ofKnown = { addresses: addressesOf(known), implied: impliedOf(known) };
  const [, changes, { files }, lastOf, resolutions] = await Promise.all([
    listing === undefined && setNewIds(session, batch, reserved),
    statusChanges(session, known, batch),
    lock({ files: () => upsertFiles(session, new Set(payloads.map(({ file }) => file))) }),
    readLast(session, payloads),
    readResolutions(session, ofKnown.addresses, ofKnown.implied),
  ]);
  addNewTimelines(changes, added);
  for (const addresses of [ofKnown.addresses, addressesOf(added)]) resolutions.apply(addresses);
  resolutions.applyHosts([...ofKnown.implied, ...impliedOf(added)]);
  const payloadRows = payloadChanges(payloads, files, lastOf);

  const written = Promise.all([
    lock({ new_urls: () => addUrls(session, batch, changes, payloadRows.last) }),
    putPayloads(session, payloadRows, { recorder, lastOf }),
    fillFiles(session, files),
    putStatuses(session, urls, changes, batch),
    resolutions.write(),
    putTags(session, urls, batch.tags),
    putListed(session, listed),
  ]);
  if (names.newHosts.length + names.newDomains.length > 0) {
    await written;
    await afterSameNames(session, names, reserved);
  }
  const addedNames: AddedNames = { hosts: new Set(names.newHosts), domains: new Set(names.newDomains) };
  recordUrls(recorder, batch, changes, addedNames);
  const addedIds = new Set(names.newDomains.map((name) => names.domains.get(name) as number));
  const [[, payloadsAdded]] = await Promise.all([
    written,
    lock({
      domains: () => addNewDomains(session, names, firstSightings(batch)),
      hosts: () => addNewHosts(session, names, parts),
      names: () => putSightings(session, sightingsOf(batch, changes), addedIds),
    }),
    putChanges(session, recorder),
  ]);
  return reportOf(changes, { urlsAdded: added.length, payloadsAdded, resolutionsChanged: resolutions.changed() });
}

function reportOf(
  changes: ReadonlyMap<number, TimelineChange>,
  counts: Omit<ApplyReport, 'eventsChanged' | 'newestEventTs'>,
): ApplyReport {
  let eventsChanged = 0;
  let newestEventTs: number | null = null;
  for (const change of changes.values()) {
    eventsChanged += change.eventsChanged;
    const ts = change.last?.ts ?? null;
    if (ts !== null && ts > (newestEventTs ?? -1)) newestEventTs = ts;
  }
  return { ...counts, eventsChanged, newestEventTs };
}

/** As they were observed. */
function addressesOf(urls: readonly BatchUrl[]): UrlAddress[] {
  const addresses: UrlAddress[] = [];
  for (const { id, isNew, group } of urls) {
    for (const [ts, ip, asn] of group.addresses) addresses.push({ urlId: id, isNewUrl: isNew, ts, ip, asn });
  }
  return addresses;
}

function impliedOf(urls: readonly BatchUrl[]): UrlAddress[] {
  const addresses: UrlAddress[] = [];
  for (const url of urls) if (url.implied !== null) addresses.push(...impliedAddresses(url, url.group.url));
  return addresses;
}

/** A URL that is online counts for the score of its domain, and lists the address that its host is. */
function recordUrls(
  recorder: ChangeRecorder,
  { urls }: LockedBatch,
  changes: ReadonlyMap<number, TimelineChange>,
  added: AddedNames,
): void {
  for (const name of added.domains) recorder.domain(name, 'add');
  for (const { id, hostId, group, parts, isNew } of urls) {
    const change = changes.get(id);
    if (isNew) recorder.url(id, 'add');
    else if (change?.isLastChanged) recorder.url(id, 'update');
    if (!change?.isSeenAgain) continue;
    const { domain, ip } = parts;
    if (domain !== null) recorder.domain(domain, 'update');
    else if (ip !== null) recorder.addressHost(hostId, added.hosts.has(group.host) ? 'add' : 'update');
  }
}

function sightingsOf({ urls, names }: LockedBatch, changes: ReadonlyMap<number, TimelineChange>): Sightings {
  const sightings: Sightings = { online: [], addresses: [] };
  for (const { id: urlId, isNew, hostId, group, parts } of urls) {
    const { host, addresses } = group;
    const domainId = parts.domain === null ? null : (names.hosts.get(host)?.domainId ?? null);
    if (domainId === null) continue;
    const span = onlineSpan(changes.get(urlId)?.upserts ?? []);
    if (span !== null) sightings.online.push({ urlId, isNewUrl: isNew, hostId, domainId, span });
    for (const [ts, ip] of addresses) sightings.addresses.push({ domainId, hostId, ip: toBytes(ip), ts });
  }
  return sightings;
}

/** Returns the rows to write, and sets how the implied offlines of the URLs change. */
async function markUrlsListed(session: Session, { urls, reporters }: LockedBatch, listing: Listing) {
  const feedId = reporters.get(listing.feed) as number;
  const listed = await markListed(
    session,
    urls.map(({ id }) => id),
    feedId,
    listing,
  );
  for (const url of urls) url.implied = listed.implied.get(url.id) ?? null;
  return listed.rows;
}
