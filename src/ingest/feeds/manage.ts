import { AppError, badRequest } from '../../core/errors.ts';
import { DEFAULT_TRUST_PERMILLE } from '../../core/evidence.ts';
import {
  chooseEvidence,
  type EvidenceValues,
  type NameOf,
  requireFormat,
  requireSourceName,
} from '../evidence-choices.ts';
import { readFetchUrl, shownUrl } from '../sources/fetch-url.ts';
import type { Feed, FeedChange, FeedStore } from '../store.ts';
import { KEY_HEADER, KNOWN_FEEDS } from './known-feeds.ts';

// What commands and administration pages do with feeds.

export const EVERY_DEFAULT_SECONDS = 3_600;
/** Publishers want longer intervals than this. */
export const EVERY_MIN_SECONDS = 60;
export const EVERY_MAX_SECONDS = 30 * 86_400;

/** What can be set of a feed, without its headers. A value that is not given is undefined. */
export type FeedValues = EvidenceValues & {
  format?: string | undefined;
  url?: string | undefined;
  intervalSeconds?: number | undefined;
  isComplete?: boolean | undefined;
  allowsPrivate?: boolean | undefined;
};

/** A new feed that has no headers yet. */
export type FeedDraft = Pick<
  Feed,
  | 'name'
  | 'format'
  | 'url'
  | 'intervalSeconds'
  | 'isComplete'
  | 'allowsPrivate'
  | 'dataset'
  | 'evidenceKind'
  | 'listKind'
  | 'trustPermille'
  | 'lifeSeconds'
> & { keyedUrl: string | null };

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `GET /api/admin/v1/feeds/known` is another thing than a feed. */
const PATH_WORD = 'known';

export function checkFeedName(what: string, name: string): void {
  if (!NAME.test(name)) {
    throw badRequest(
      `${what} must be 1 to 64 letters, digits, dots, dashes and underscores, the first a letter or digit`,
    );
  }
  requireSourceName(what, name);
  if (name === PATH_WORD)
    throw badRequest(`${what} must not be ${JSON.stringify(name)}: Urlwarden uses this name itself`);
}

/** Given values have precedence over those of a well-known feed of this name. */
export function draftFeed(name: string, given: FeedValues, nameOf: NameOf): FeedDraft {
  const known = KNOWN_FEEDS.find((feed) => feed.name === name);
  const formatName = given.format ?? known?.format;
  const url = given.url ?? known?.url;
  if (formatName === undefined || url === undefined) {
    throw badRequest(
      `There is no well-known feed ${JSON.stringify(name)}: give ${nameOf('format')} and ${nameOf('url')}`,
    );
  }
  const format = requireFormat(formatName, nameOf);
  const defaults = format.name === known?.format ? known : {};
  const { trustPermille, ...evidence } = chooseEvidence(format, given, defaults, nameOf);
  return {
    name,
    format: format.name,
    url,
    ...evidence,
    trustPermille: trustPermille ?? known?.trustPermille ?? DEFAULT_TRUST_PERMILLE,
    keyedUrl: given.url === undefined ? (known?.keyedUrl ?? null) : null,
    intervalSeconds: given.intervalSeconds ?? known?.intervalSeconds ?? EVERY_DEFAULT_SECONDS,
    isComplete: given.isComplete === true || (known?.isComplete ?? false),
    allowsPrivate: given.allowsPrivate === true,
  };
}

/** The feed, due now. Throws if its URL is none, or needs a header that is missing. */
export function toNewFeed({ keyedUrl, ...draft }: FeedDraft, headers: Record<string, string>, nowTs: number): Feed {
  const url = (hasKey(headers) && keyedUrl) || draft.url;
  readFetchUrl(url, headers);
  return { ...draft, url, headers, ...NEVER_RUN, nextRunTs: nowTs };
}

function hasKey(headers: Record<string, string>): boolean {
  return Object.keys(headers).some((header) => header.toLowerCase() === KEY_HEADER.toLowerCase());
}

const NEVER_RUN = {
  isPaused: false,
  etag: null,
  lastModified: null,
  lastRunTs: null,
  lastSuccessTs: null,
  lastError: null,
  failures: 0,
  rows: null,
};

/** Adds a feed, unless there is one of its name. */
export async function addFeed(control: Pick<FeedStore, 'addFeed'>, feed: Feed): Promise<void> {
  if (!(await control.addFeed(feed))) throw knownName(feed.name);
}

/** Before a person types a key and a host is looked up. */
export async function refuseKnownName(control: Pick<FeedStore, 'feed'>, name: string): Promise<void> {
  if ((await control.feed(name)) !== null) throw knownName(name);
}

function knownName(name: string): AppError {
  return badRequest(`There is already a feed ${name}. To change it: urlwarden feed set ${name}`);
}

export async function requireFeed(control: Pick<FeedStore, 'feed'>, name: string): Promise<Feed> {
  const feed = await control.feed(name);
  if (feed === null) throw unknownFeed(name);
  return feed;
}

const unknownFeed = (name: string): AppError =>
  new AppError('not_found', `There is no feed ${JSON.stringify(name)}. See: urlwarden feed list`);

/** Throws `not_found` also if somebody removes the feed meanwhile. */
export async function changeFeed(
  control: Pick<FeedStore, 'changeFeed'>,
  name: string,
  change: FeedChange,
): Promise<void> {
  if (!(await control.changeFeed(name, change))) throw unknownFeed(name);
}

/** A feed that is resumed is due at once. Returns it before and after the change. */
export async function setPaused(
  control: Pick<FeedStore, 'feed' | 'changeFeed'>,
  name: string,
  isPaused: boolean,
  nowTs: number,
): Promise<{ before: Feed; after: Feed }> {
  const before = await requireFeed(control, name);
  const change = isPaused ? { isPaused } : { isPaused, nextRunTs: nowTs };
  await changeFeed(control, name, change);
  return { before, after: { ...before, ...change } };
}

/** Removes a feed and its headers; its data stays. Returns what it was. */
export async function removeFeed(control: Pick<FeedStore, 'feed' | 'removeFeed'>, name: string): Promise<Feed> {
  const feed = await requireFeed(control, name);
  if (!(await control.removeFeed(name))) throw unknownFeed(name);
  return feed;
}

/** Longer than the change takes. If this process dies, the feed waits for it. */
const LEASE_SECONDS = 10;

type Leased = { name: string; owner: string; nowTs: number };

/** A run stores the validators of its URL and the time of the next run at its end, so it must not overlap with a change. */
export async function whileNotFetched<T>(
  control: Pick<FeedStore, 'feed' | 'leaseFeed' | 'releaseFeed'>,
  { name, owner, nowTs }: Leased,
  work: (feed: Feed) => Promise<T>,
): Promise<T> {
  if (!(await control.leaseFeed(name, owner, { nowTs, untilTs: nowTs + LEASE_SECONDS }))) {
    await requireFeed(control, name);
    throw badRequest(
      `${name} is being fetched now. Nothing was changed: try again when the run has ended (urlwarden import list --feed ${name})`,
    );
  }
  try {
    return await work(await requireFeed(control, name));
  } finally {
    await control.releaseFeed(name, owner).catch(() => {}); // the change is made; the lease ends by itself
  }
}

/** What changes of the headers. `advice`: how to give a header again, or to remove all of them. */
type HeaderChange = { added: Record<string, string>; dropsOthers: boolean; advice: string };

/** A life of null is that of the dataset again. */
export function changeOfFeed(
  feed: Feed,
  given: FeedValues,
  header: HeaderChange,
  { nowTs, nameOf }: { nowTs: number; nameOf: NameOf },
): FeedChange {
  const { intervalSeconds = feed.intervalSeconds, ...others } = given;
  const hasHeaderChange = header.dropsOthers || Object.keys(header.added).length > 0;
  if (!hasHeaderChange && Object.values(others).every((value) => value === undefined)) {
    return { intervalSeconds, nextRunTs: nextRun(feed, intervalSeconds) };
  }
  const headers = mergeHeaders(header.dropsOthers ? {} : feed.headers, header.added);
  const url = given.url ?? knownUrl(feed, headers);
  const to = readFetchUrl(url, headers);
  if (!header.dropsOthers) refuseNewOrigin(feed, to, header);
  return {
    ...evidenceOfFeed(feed, given, nameOf),
    url,
    headers,
    intervalSeconds,
    isComplete: given.isComplete ?? feed.isComplete,
    allowsPrivate: given.allowsPrivate ?? feed.allowsPrivate,
    // Otherwise an unchanged response would not be imported in the new way.
    etag: null,
    lastModified: null,
    nextRunTs: nowTs,
  };
}

/** A failed feed keeps the time of its retry; a new one that of its first run. */
function nextRun({ lastRunTs, failures, nextRunTs }: Feed, intervalSeconds: number): number {
  return lastRunTs === null || failures > 0 ? nextRunTs : lastRunTs + intervalSeconds;
}

/** Names of headers are not case-sensitive. */
function mergeHeaders(old: Record<string, string>, added: Record<string, string>): Record<string, string> {
  const replaced = new Set(Object.keys(added).map((name) => name.toLowerCase()));
  const kept = Object.entries(old).filter(([name]) => !replaced.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...added };
}

/** A well-known feed has another URL for users with a key. */
function knownUrl({ name, url }: Feed, headers: Record<string, string>): string {
  const known = KNOWN_FEEDS.find((candidate) => candidate.name === name);
  if (known?.keyedUrl === undefined || (url !== known.url && url !== known.keyedUrl)) return url;
  return hasKey(headers) ? known.keyedUrl : known.url;
}

/** A header may be the key for the old host. */
function refuseNewOrigin(feed: Feed, to: URL, { added, advice }: HeaderChange): void {
  const given = new Set(Object.keys(added).map((name) => name.toLowerCase()));
  const kept = Object.keys(feed.headers).filter((name) => !given.has(name.toLowerCase()));
  if (kept.length === 0 || readFetchUrl(feed.url, feed.headers).origin === to.origin) return;
  throw badRequest(
    `The new URL is on ${to.origin}, to which the value of ${kept.join(', ')} would be sent. ${advice} Nothing was changed.`,
  );
}

type Evidence = Pick<Feed, 'format' | 'dataset' | 'evidenceKind' | 'listKind' | 'trustPermille' | 'lifeSeconds'>;

/** What its evidence means after a change. */
export function evidenceOfFeed(feed: Feed, given: FeedValues, nameOf: NameOf): Evidence {
  const format = requireFormat(given.format ?? feed.format, nameOf);
  const { trustPermille, lifeSeconds, ...choices } = chooseEvidence(
    format,
    given,
    format.name === feed.format ? feed : {},
    nameOf,
  );
  const old = format.hasEvidence ? feed : { trustPermille: DEFAULT_TRUST_PERMILLE, lifeSeconds: null };
  return {
    format: format.name,
    ...choices,
    trustPermille: trustPermille ?? old.trustPermille,
    lifeSeconds: given.lifeSeconds === null ? null : (lifeSeconds ?? old.lifeSeconds),
  };
}

/** What an operator has set of a feed, for the audit log. */
export function feedFields(feed: Feed) {
  return {
    format: feed.format,
    url: shownUrl(feed.url),
    headers: Object.keys(feed.headers),
    every_seconds: feed.intervalSeconds,
    paused: feed.isPaused,
    ...importChoices(feed),
  };
}

/** How the rows of a feed are imported, with the names of the options of `feed add`, for programs. */
export function importChoices(feed: Feed) {
  return {
    complete: feed.isComplete,
    private: feed.allowsPrivate,
    trust: feed.trustPermille / 1000,
    life_seconds: feed.lifeSeconds,
    dataset: feed.dataset,
    kind: feed.evidenceKind,
    as: feed.listKind,
  };
}
