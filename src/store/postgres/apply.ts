import { foldFamily } from '../../core/family.ts';
import type { Observation } from '../../core/observation.ts';
import type { ImpliedChange } from '../implied.ts';
import type { ApplyReport, Listing } from '../store.ts';
import { groupByUrl, toBytes, type UrlGroup } from '../url-group.ts';
import { hostAddress, readResolutions, type UrlAddress } from './apply-address.ts';
import { putPayloads, urlPayload } from './apply-payload.ts';
import { putStatuses, statusChanges } from './apply-status.ts';
import type { Database, Session } from './database.ts';
import { familyIds, removalIds, reporterIds } from './dictionary.ts';
import { fillFiles, knowFiles } from './know-file.ts';
import { type Listed, nameUrls, putListed } from './listed.ts';
import { type LockedUrl, lockUrls } from './lock-urls.ts';

// While URLs are named no listing of the feed is added or finished: which one misses them could not be told.
const LOCK_FEED = 'select id from reporters where text_key(name) = text_key($1) for share';

const NOT_LISTED: Listed = { rows: [], changes: new Map() };

/**
 * Applies batches of observations, each in one transaction and, whatever its size, four or five round trips: texts and
 * URLs, what listings say of these, what is known of them, and all that changes. Statements of one round trip are sent
 * together; none is sent after one of them failed.
 */
export function createApply(db: Database, spreadFamilies: () => Promise<void>) {
  return async (observations: readonly Observation[], listing?: Listing): Promise<ApplyReport> => {
    const groups = groupByUrl(observations);
    if (groups.length === 0) return { urlsAdded: 0, eventsChanged: 0, payloadsAdded: 0, resolutionsChanged: 0 };
    const report = await db.transaction((session) => applyGroups(session, groups, listing));
    await spreadFamilies();
    return report;
  };
}

async function applyGroups(
  session: Session,
  groups: readonly UrlGroup[],
  listing: Listing | undefined,
): Promise<ApplyReport> {
  const { urls, urlsAdded, ...texts } = await lockAll(session, groups, listing);
  const listed = listing === undefined ? NOT_LISTED : await name(session, urls, texts.reporters, listing);
  const updates = urls.map(({ id, hostId, statuses }) => {
    return { urlId: id, hostId, statuses, implied: listed.changes.get(id) ?? null };
  });
  const payloads = urls.flatMap((url) => url.payloads.map((one) => urlPayload(url.id, one, texts.families)));
  const addresses = urls.flatMap((url) =>
    url.addresses.map(([ts, ip, asn]) => ({ urlId: url.id, ts, ip: toBytes(ip), asn })),
  );
  const hosts = urls.flatMap((url) => impliedAddresses(url, listed.changes.get(url.id)));
  const [changes, files, resolutions] = await Promise.all([
    statusChanges(session, updates, texts),
    knowFiles(session, payloads),
    readResolutions(session, addresses, hosts),
  ]);
  for (const address of addresses) resolutions.apply(address);
  for (const address of hosts) resolutions.applyHost(address);
  const last = new Map(urls.map((url) => [url.id, url.last]));
  const [payloadsAdded] = await Promise.all([
    putPayloads(session, payloads, files, (urlId) => last.get(urlId) ?? null),
    fillFiles(session, files),
    putStatuses(session, updates, changes, texts),
    resolutions.write(),
    putListed(session, listed.rows),
  ]);
  let eventsChanged = 0;
  for (const change of changes.values()) eventsChanged += change.eventsChanged;
  return { urlsAdded, eventsChanged, payloadsAdded, resolutionsChanged: resolutions.changed() };
}

/** The ids of all texts, and all URLs, locked in an order that is the same in every transaction. */
async function lockAll(session: Session, groups: readonly UrlGroup[], listing: Listing | undefined) {
  const reporterTexts = new Set(listing === undefined ? [] : [listing.feed]);
  // Most entries have no reason.
  const removalTexts = new Set(['']);
  const familyTexts = new Set<string>();
  for (const { statuses, payloads } of groups) {
    for (const { reporter, removal } of statuses) {
      reporterTexts.add(reporter);
      removalTexts.add(removal);
    }
    for (const { family } of payloads) if (family !== null) familyTexts.add(family);
  }
  const [reporters, , removals, families, locked] = await Promise.all([
    reporterIds(session, reporterTexts),
    listing && session.query(LOCK_FEED, [listing.feed]),
    removalIds(session, removalTexts),
    familyIds(session, familyTexts, foldFamily),
    lockUrls(session, groups),
  ]);
  return { ...locked, reporters: new Map(reporters), removals: new Map(removals), families };
}

function name(session: Session, urls: readonly LockedUrl[], reporters: ReadonlyMap<string, number>, listing: Listing) {
  const feedId = reporters.get(listing.feed) as number;
  return nameUrls(
    session,
    urls.map(({ id }) => id),
    feedId,
    listing,
  );
}

/** A URL whose host is an address has a resolution for every event, also for one that a listing implied. */
export function impliedAddresses(url: { id: number; url: string }, change: ImpliedChange | undefined): UrlAddress[] {
  if (!change?.after) return [];
  const ip = hostAddress(url.url);
  return ip === null ? [] : [{ urlId: url.id, ts: change.after.ts, ip, asn: null }];
}
