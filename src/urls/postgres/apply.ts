import { toBytes } from '../../core/byte-text.ts';
import { hostParts } from '../../core/domain-name.ts';
import type { Observation } from '../../core/observation.ts';
import { foldFamily } from '../../core/text.ts';
import { type ChangeRecorder, createChangeRecorder } from '../../database/changes.ts';
import { putChanges } from '../../database/postgres/changes.ts';
import type { Database, Session } from '../../database/postgres/database.ts';
import {
  addDomains,
  addHosts,
  familyIds,
  removalIds,
  reporterIds,
  tagIds,
} from '../../database/postgres/dictionaries.ts';
import { createLock, inOrder, type Lock } from '../../database/postgres/lock-order.ts';
import { columns } from '../../database/postgres/parameters.ts';
import type { ServedFile } from '../file-rules.ts';
import { onlineSpan } from '../sighting-rules.ts';
import { type ApplyReport, type Listing, NOTHING_APPLIED } from '../store.ts';
import type { TimelineChange } from '../stored-timeline.ts';
import { groupByUrl, type UrlGroup } from '../url-group.ts';
import { putStatuses, statusChanges } from './events.ts';
import { fillFiles, upsertFiles } from './files.ts';
import { type ListedChanges, markListed, putListed } from './listings.ts';
import { putPayloads, urlPayload } from './payloads.ts';
import { impliedAddresses, readResolutions } from './resolutions.ts';
import { putSightings, type Sightings } from './sightings.ts';
import { putTags } from './tags.ts';

/**
 * Applies batches of observations, each in one transaction. Between begin and commit a batch of any size takes three
 * round trips, or four with a listing: lock texts and URLs, read listings, read timelines and resolutions and lock
 * files, write what changed, rows of domains last.
 */
export function createApply(db: Database, backfillFamilies: () => Promise<void>) {
  return async (observations: readonly Observation[], listing?: Listing): Promise<ApplyReport> => {
    const groups = groupByUrl(observations);
    if (groups.length === 0) return { ...NOTHING_APPLIED };
    const report = await db.transaction((session) => applyGroups(session, groups, listing));
    await backfillFamilies();
    return report;
  };
}

const NOT_LISTED: ListedChanges = { rows: [], implied: new Map(), feeds: new Map() };

async function applyGroups(
  session: Session,
  groups: readonly UrlGroup[],
  listing: Listing | undefined,
): Promise<ApplyReport> {
  const lock = createLock();
  const recorder = createChangeRecorder();
  const { urls, urlsAdded, newHosts, ...texts } = await lockAll(session, lock, groups, listing, recorder);
  const listed = listing === undefined ? NOT_LISTED : await markUrlsListed(session, urls, texts.reporters, listing);
  const updates = urls.map(({ id, hostId, statuses }) => {
    return { urlId: id, hostId, statuses, implied: listed.implied.get(id) ?? null };
  });
  const payloads = urls.flatMap((url) => url.payloads.map((one) => urlPayload(url.id, one, texts.families)));
  const addresses = urls.flatMap((url) =>
    url.addresses.map(([ts, ip, asn]) => ({ urlId: url.id, ts, ip: toBytes(ip), asn })),
  );
  const hostAddresses = urls.flatMap((url) => impliedAddresses(url, listed.implied.get(url.id)));
  const [changes, { files }, resolutions] = await Promise.all([
    statusChanges(session, updates, texts),
    lock({ files: () => upsertFiles(session, payloads) }),
    readResolutions(session, addresses, hostAddresses),
  ]);
  for (const address of addresses) resolutions.apply(address);
  for (const address of hostAddresses) resolutions.applyHost(address);
  const last = new Map(urls.map((url) => [url.id, url.last]));
  const newUrls = new Set(urls.filter(({ isNew }) => isNew).map(({ id }) => id));
  const sightings = sightingsOf(urls, texts.domains, changes);
  recordUrls(recorder, urls, changes, { domains: texts.domains, newHosts });
  const [payloadsAdded] = await Promise.all([
    putPayloads(session, payloads, files, { newUrls, recorder, lastOf: (urlId) => last.get(urlId) ?? null }),
    putChanges(session, recorder), // `putPayloads` has recorded which last payloads change
    fillFiles(session, files),
    putStatuses(session, updates, changes, texts),
    resolutions.write(),
    putTags(session, urls, texts.tags),
    putListed(session, listed.rows),
    lock({ names: () => putSightings(session, sightings) }),
  ]);
  let eventsChanged = 0;
  let newestEventTs: number | null = null;
  for (const change of changes.values()) {
    eventsChanged += change.eventsChanged;
    const ts = change.last?.ts ?? null;
    if (ts !== null && ts > (newestEventTs ?? -1)) newestEventTs = ts;
  }
  return { urlsAdded, eventsChanged, payloadsAdded, resolutionsChanged: resolutions.changed(), newestEventTs };
}

type RecordedHosts = { domains: ReadonlyMap<string, string | null>; newHosts: ReadonlySet<string> };

/** A URL that is online counts for the score of its domain, and lists the address that its host is. */
function recordUrls(
  recorder: ChangeRecorder,
  urls: readonly LockedUrl[],
  changes: ReadonlyMap<number, TimelineChange>,
  { domains, newHosts }: RecordedHosts,
): void {
  for (const { id, host, isNew } of urls) {
    const change = changes.get(id);
    if (isNew) recorder.url(id, 'add');
    else if (change?.isLastChanged) recorder.url(id, 'update');
    if (!change?.isSeenAgain) continue;
    const domain = domains.get(host) ?? null;
    const ip = domain === null ? hostParts(host).ip : null;
    if (domain !== null) recorder.domain(domain, 'update');
    if (ip !== null) recorder.address(ip, newHosts.has(host) ? 'add' : 'update');
  }
}

function sightingsOf(
  urls: readonly LockedUrl[],
  domains: ReadonlyMap<string, string | null>,
  changes: ReadonlyMap<number, TimelineChange>,
): Sightings {
  const sightings: Sightings = { online: [], addresses: [] };
  for (const { id: urlId, host, hostId, addresses } of urls) {
    if (domains.get(host) === null) continue;
    const span = onlineSpan(changes.get(urlId)?.upserts ?? []);
    if (span !== null) sightings.online.push({ urlId, hostId, span });
    for (const [ts, ip] of addresses) sightings.addresses.push({ hostId, ip: toBytes(ip), ts });
  }
  return sightings;
}

// Shared: meanwhile no listing of the feed is added or finished, so that `missed_ts` stays right.
const LOCK_FEED_SHARED = 'select id from reporters where text_key(name) = text_key($1) for share';

/** Adds what is new, and locks and reads all URLs: the first round trip. */
async function lockAll(
  session: Session,
  lock: Lock,
  groups: readonly UrlGroup[],
  listing: Listing | undefined,
  recorder: ChangeRecorder,
) {
  const texts = textsOf(groups, listing);
  const { reporters, removals, families, tags, hosts, urls } = await lock({
    reporters: () => reporterIds(session, texts.reporters),
    feed: listing && (() => session.query(LOCK_FEED_SHARED, [listing.feed])),
    removals: () => removalIds(session, texts.removals),
    families: () => familyIds(session, texts.families, foldFamily),
    tags: () => tagIds(session, texts.tags, foldFamily),
    domains: () => addDomains(session, firstSightings(groups, texts.domains), recorder),
    hosts: () => addHosts(session, texts.hosts),
    urls: () => lockUrls(session, groups),
  });
  return {
    ...urls,
    newHosts: hosts,
    domains: texts.domains,
    reporters: new Map(reporters),
    removals: new Map(removals),
    families,
    tags,
  };
}

/** When URLs of each domain were first seen online in the batch; null: never. */
function firstSightings(groups: readonly UrlGroup[], domains: ReadonlyMap<string, string | null>) {
  const first = new Map<string, number | null>();
  for (const { host, statuses } of groups) {
    const domain = domains.get(host) ?? null;
    if (domain === null) continue;
    const ts = statuses.find(({ status }) => status === 'online')?.ts ?? null;
    const known = first.get(domain) ?? null;
    if (known === null || (ts !== null && ts < known)) first.set(domain, ts);
  }
  return first;
}

function textsOf(groups: readonly UrlGroup[], listing: Listing | undefined) {
  const reporters = new Set(listing === undefined ? [] : [listing.feed]);
  // Most entries have no reason.
  const removals = new Set(['']);
  const families = new Set<string>();
  const tags = new Set<string>();
  const hosts = new Set<string>();
  /** By host. */
  const domains = new Map<string, string | null>();
  for (const { host, statuses, payloads, tags: given } of groups) {
    if (!hosts.has(host)) {
      hosts.add(host);
      domains.set(host, hostParts(host).domain);
    }
    for (const { reporter, removal } of statuses) {
      reporters.add(reporter);
      removals.add(removal);
    }
    for (const { family } of payloads) if (family !== null) families.add(family);
    for (const tag of given) tags.add(tag);
  }
  return { reporters, removals, families, tags, hosts, domains };
}

/** A URL of a batch with its stored columns; its row is locked until the end of the transaction. */
type LockedUrl = UrlGroup & { id: number; hostId: number; last: ServedFile | null; isNew: boolean };

function markUrlsListed(
  session: Session,
  urls: readonly LockedUrl[],
  reporters: ReadonlyMap<string, number>,
  listing: Listing,
) {
  const feedId = reporters.get(listing.feed) as number;
  return markListed(
    session,
    urls.map(({ id }) => id),
    feedId,
    listing,
  );
}

const ADD_URLS = `
  insert into urls (url_key, url, host_id)
  select g.url_key, g.url, hosts.id from unnest($1::bytea[], $2::text[], $3::text[]) as g (url_key, url, host)
  join hosts on hosts.host = g.host
  where not exists (select 1 from urls where urls.url_key = g.url_key)
  order by g.url_key on conflict do nothing returning id`;

const LOCK_URLS = `
  select count(*) from (select 1 from urls where url_key = any($1::bytea[]) order by url_key for update) l`;

// Not joined to the statement that locks: after a wait, that statement would still return the joined rows of its start.
const READ_URLS = `
  select u.url_key, u.id, u.host_id, u.payload_ts, files.file_key
  from urls u left join files on files.id = u.payload_file_id
  where u.url_key = any($1::bytea[]) order by u.url_key`;

type LockedRow = [key: Uint8Array, id: number, hostId: number, payloadTs: number | null, fileKey: Uint8Array | null];

/** Adds the URLs that are new, then locks all of them, then reads them: what is read cannot change any more. */
async function lockUrls(session: Session, groups: readonly UrlGroup[]) {
  const keys = groups.map(({ key }) => toBytes(key));
  const [added, , rows] = await inOrder([
    () =>
      session.query<[number]>(
        ADD_URLS,
        columns(3, groups, ({ key, url, host }) => [toBytes(key), url, host]),
      ),
    () => session.query(LOCK_URLS, [keys]),
    () => session.query<LockedRow>(READ_URLS, [keys]),
  ]);
  const newIds = new Set(added.map(([id]) => id));
  // Both are in order of key.
  const urls = rows.map(([, id, hostId, ts, key], i): LockedUrl => {
    const last = ts === null || key === null ? null : { ts, key };
    return { ...(groups[i] as UrlGroup), id, hostId, last, isNew: newIds.has(id) };
  });
  return { urls, urlsAdded: added.length };
}
