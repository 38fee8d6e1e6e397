import { type ByteText, sliceToByteText, toBytes } from '../../core/byte-text.ts';
import type { Observation } from '../../core/observation.ts';
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
import { type PackedGroups, unpackGroups } from '../packed-groups.ts';
import { onlineSpan } from '../sighting-rules.ts';
import { type ApplyReport, type Listing, NOTHING_APPLIED } from '../store.ts';
import type { TimelineChange } from '../stored-timeline.ts';
import { groupByUrl, type UrlGroup } from '../url-group.ts';
import { addNewTimelines, putStatuses, type StatusUpdate, statusChanges } from './events.ts';
import { createBackfillFamilies, fillFiles, upsertFiles } from './files.ts';
import { type ListedChanges, markListed, putListed } from './listings.ts';
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
function createApplyGroups(db: Database, backfillFamilies: () => Promise<void>) {
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

  return async (groups: readonly UrlGroup[], listing: Listing | undefined): Promise<ApplyReport> => {
    if (groups.length === 0) return { ...NOTHING_APPLIED };
    const report = await afterSameUrls(groups, () => applyOnce(groups, listing));
    await backfillFamilies();
    return report;
  };
}

export function createApply(db: Database, backfillFamilies: () => Promise<void>) {
  const apply = createApplyGroups(db, backfillFamilies);
  return (observations: readonly Observation[], listing?: Listing) => apply(groupByUrl(observations), listing);
}

/** For the thread that writes an import. */
export function createApplyPacked(db: Database) {
  const apply = createApplyGroups(db, createBackfillFamilies(db));
  return ({ values, texts, bytes }: PackedGroups, listing?: Listing) => {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    return apply([...unpackGroups({ values, texts, bytes: buffer }, sliceToByteText)], listing);
  };
}

/**
 * A batch waits for earlier ones of this process that have some of its URLs. The database would let it wait as well, but for
 * a URL that both of them add it would then have to begin again.
 */
function createUrlOrder() {
  const running = new Set<{ keys: ReadonlySet<ByteText>; done: Promise<unknown> }>();
  return async <T>(groups: readonly UrlGroup[], work: () => Promise<T>): Promise<T> => {
    const earlier = [...running].filter(({ keys }) => groups.some(({ key }) => keys.has(key)));
    const done = Promise.allSettled(earlier.map((batch) => batch.done)).then(work);
    const batch = { keys: new Set(groups.map(({ key }) => key)), done };
    running.add(batch);
    return done.finally(() => running.delete(batch));
  };
}

const NOT_LISTED: ListedChanges = { rows: [], implied: new Map(), feeds: new Map() };

async function applyGroups(
  session: Session,
  groups: readonly UrlGroup[],
  listing: Listing | undefined,
  reserved: ReservedNames,
): Promise<ApplyReport> {
  const lock = createLock();
  const recorder = createChangeRecorder();
  const batch = await lockBatch(session, lock, groups, listing);
  const { urls, names, parts } = batch;
  if (listing !== undefined) await setNewIds(session, batch, reserved);
  const listed = listing === undefined ? NOT_LISTED : await markUrlsListed(session, batch, listing);
  const payloads = urlPayloads(batch);
  const known = urls.filter(({ isNew }) => !isNew);
  const updateOf = ({ id, hostId, isNew, group }: BatchUrl): StatusUpdate => {
    return { urlId: id, hostId, isNew, statuses: group.statuses, implied: listed.implied.get(id) ?? null };
  };
  const knownUpdates = known.map(updateOf);
  const impliedOf = ({ id, group }: BatchUrl) => impliedAddresses(id, group.url, listed.implied.get(id));
  const [, changes, { files }, lastOf, resolutions] = await Promise.all([
    listing === undefined && setNewIds(session, batch, reserved),
    statusChanges(session, knownUpdates, batch),
    lock({ files: () => upsertFiles(session, new Set(payloads.map(({ file }) => file))) }),
    readLast(session, payloads),
    readResolutions(session, known.flatMap(addressesOf), known.flatMap(impliedOf)),
  ]);
  const newUpdates = urls.filter(({ isNew }) => isNew).map(updateOf);
  addNewTimelines(changes, newUpdates);
  for (const url of urls) for (const address of addressesOf(url)) resolutions.apply(address);
  resolutions.applyHosts(urls.flatMap(impliedOf));
  const newUrls = new Set(newUpdates.map(({ urlId }) => urlId));
  const payloadRows = payloadChanges(payloads, files, lastOf);

  const written = Promise.all([
    lock({ new_urls: () => addUrls(session, batch, changes, payloadRows.last) }),
    putPayloads(session, payloadRows, { newUrls, recorder, lastOf }),
    fillFiles(session, files),
    putStatuses(session, [...knownUpdates, ...newUpdates], changes, batch),
    resolutions.write(newUrls),
    putTags(session, urls, batch.tags),
    putListed(session, listed.rows),
  ]);
  if (names.newHosts.length + names.newDomains.length > 0) {
    await written;
    await afterSameNames(session, names, reserved);
  }
  const added: AddedNames = { hosts: new Set(names.newHosts), domains: new Set(names.newDomains) };
  recordUrls(recorder, batch, changes, added);
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
  return reportOf(changes, { urlsAdded: newUrls.size, payloadsAdded, resolutionsChanged: resolutions.changed() });
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

function addressesOf({ id, group }: BatchUrl): UrlAddress[] {
  return group.addresses.map(([ts, ip, asn]) => ({ urlId: id, ts, ip, asn }));
}

/** A URL that is online counts for the score of its domain, and lists the address that its host is. */
function recordUrls(
  recorder: ChangeRecorder,
  { urls, parts }: LockedBatch,
  changes: ReadonlyMap<number, TimelineChange>,
  added: AddedNames,
): void {
  for (const name of added.domains) recorder.domain(name, 'add');
  for (const { id, hostId, group, isNew } of urls) {
    const change = changes.get(id);
    if (isNew) recorder.url(id, 'add');
    else if (change?.isLastChanged) recorder.url(id, 'update');
    if (!change?.isSeenAgain) continue;
    const { domain = null, ip = null } = parts.get(group.host) ?? {};
    if (domain !== null) recorder.domain(domain, 'update');
    else if (ip !== null) recorder.addressHost(hostId, added.hosts.has(group.host) ? 'add' : 'update');
  }
}

function sightingsOf({ urls, parts, names }: LockedBatch, changes: ReadonlyMap<number, TimelineChange>): Sightings {
  const sightings: Sightings = { online: [], addresses: [] };
  for (const { id: urlId, isNew, hostId, group } of urls) {
    const { host, addresses } = group;
    const domainId = names.hosts.get(host)?.domainId ?? null;
    if (domainId === null || parts.get(host)?.domain === null) continue;
    const span = onlineSpan(changes.get(urlId)?.upserts ?? []);
    if (span !== null) sightings.online.push({ urlId, isNewUrl: isNew, hostId, domainId, span });
    for (const [ts, ip] of addresses) sightings.addresses.push({ domainId, hostId, ip: toBytes(ip), ts });
  }
  return sightings;
}

function markUrlsListed(session: Session, { urls, reporters }: LockedBatch, listing: Listing) {
  const feedId = reporters.get(listing.feed) as number;
  return markListed(
    session,
    urls.map(({ id }) => id),
    feedId,
    listing,
  );
}
