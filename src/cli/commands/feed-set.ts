import { randomUUID } from 'node:crypto';
import type { Control } from '../../app/stores.ts';
import { AppError } from '../../core/errors.ts';
import { DEFAULT_TRUST_PERMILLE } from '../../core/evidence.ts';
import { KNOWN_FEEDS } from '../../ingest/feeds/known-feeds.ts';
import { findFormat } from '../../ingest/formats/formats.ts';
import { readFetchUrl, shownUrl } from '../../ingest/sources/fetch-url.ts';
import type { Feed, FeedChange } from '../../ingest/store.ts';
import { recordChange } from '../audit-record.ts';
import { UsageError } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import type { FlagValues } from '../define-command.ts';
import { readEvidenceFlags } from '../evidence-flags.ts';
import { feedFields, feedJson, requireFeed } from '../feed-output.ts';
import { readIngestSettings } from '../ingest-settings.ts';
import { checkFeedHost } from '../private-feed.ts';
import { currentTs, spanText } from '../time.ts';
import type { Flags } from '../usage.ts';
import { FEED_FLAGS, hasKey, readEvery, readHeaders, unknownFormat } from './feed-add.ts';

const FLAGS = {
  ...FEED_FLAGS,
  every: { argument: 'TIME', meaning: 'interval from 1m to 30d, such as 5m, 1h or 7d' },
  header: { argument: 'NAME', meaning: 'a header to add or replace; asks for its value' },
  'header-file': {
    argument: 'FILE',
    meaning: 'headers to add or replace, one "NAME: VALUE" per line; - is standard input',
  },
  'no-headers': { meaning: 'send none of the present headers any more' },
  'no-complete': { meaning: 'a fetch does not list all URLs that are online' },
  'no-private': { meaning: 'the URL is not in a private network' },
  life: {
    argument: 'TIME',
    meaning: 'how long a listing lives without new evidence, from 1h to 366d; default: that of its dataset again',
  },
  trust: { argument: 'NUMBER', meaning: 'trust in evidence about addresses and domains, from 0 to 0.9' },
} as const satisfies Flags;

export const feedSet = controlCommand(
  {
    synopsis: 'feed set NAME',
    about: `Changes what the flags name; everything else of the feed stays, also its name and its data. Unless only the
interval changes, a running server fetches the feed within seconds. To stop fetching it, use urlwarden feed pause.

Data that is already stored does not change: a new dataset, kind or list counts for what is fetched from now on, and
earlier listings expire as before. Trust and life count for all evidence of the feed after its next run.

Present headers are not sent to another scheme, host or port: with a --url there, give them again or add --no-headers.`,
    operands: ['NAME'],
    flags: FLAGS,
    examples: [
      'urlwarden feed set urlhaus --every 15m',
      'urlwarden feed set mirror --url https://mirror.example/new.csv --no-complete',
    ],
  },
  async (control, { operands: [name = ''], flags }) => {
    refuseContradictions(flags);
    const current = await requireFeed(control, name);
    // Before a person types a key.
    const note = await checkPlace(current, flags);
    const headers = await readHeaders(flags); // before the lease: a person may take long to type a value
    const changed = await whileNotFetched(control, name, async (feed) => {
      const change = changeOf(feed, flags, headers, currentTs());
      await control.changeFeed(name, change);
      const after = { ...feed, ...change };
      await recordChange(control, {
        action: 'feed.set',
        subject: name,
        before: feedFields(feed),
        after: feedFields(after),
      });
      return after;
    });
    const text = `Changed ${name}: ${changed.format} from ${shownUrl(changed.url)} every ${spanText(changed.intervalSeconds)}.\n`;
    const json = feedJson(changed, currentTs());
    return note === null ? { text, json } : { text: `${text}Note: ${note}\n`, json: { ...json, note } };
  },
);

type Given = FlagValues<typeof FLAGS>;

/** Flags of the command itself, not of the place of the data. */
function refuseContradictions(given: Given): void {
  const names = Object.keys(FLAGS) as (keyof Given)[];
  if (names.every((name) => given[name] === undefined)) {
    throw new UsageError(
      `There is nothing to change: give at least one of ${names.map((name) => `--${name}`).join(', ')}`,
    );
  }
  for (const flag of ['complete', 'private'] as const) {
    if (given[flag] && given[`no-${flag}`]) throw new UsageError(`--${flag} and --no-${flag} contradict each other`);
  }
}

/** As for `feed add`; only if the place of the feed changes. */
async function checkPlace(feed: Feed, flags: Given): Promise<string | null> {
  if (flags.url === undefined && !flags.private && !flags['no-private']) return null;
  const isPrivate = flags.private ?? (flags['no-private'] ? false : feed.allowsPrivate);
  return checkFeedHost(flags.url ?? feed.url, isPrivate, readIngestSettings(flags).feedsAllowPrivate);
}

/** Longer than the change takes. If this process dies, the feed waits for it. */
const LEASE_SECONDS = 10;

/** A run stores the validators of its URL and the time of the next run at its end, so it must not overlap with a change. */
async function whileNotFetched<T>(control: Control, name: string, work: (feed: Feed) => Promise<T>): Promise<T> {
  const owner = `command ${process.pid} ${randomUUID()}`;
  const nowTs = currentTs();
  if (!(await control.leaseFeed(name, owner, { nowTs, untilTs: nowTs + LEASE_SECONDS }))) {
    throw new AppError(
      'bad_request',
      `${name} is being fetched now. Nothing was changed: try again when the run has ended (urlwarden import list --feed ${name})`,
    );
  }
  try {
    return await work(await requireFeed(control, name));
  } finally {
    await control.releaseFeed(name, owner);
  }
}

function changeOf(feed: Feed, given: Given, newHeaders: Record<string, string>, nowTs: number): FeedChange {
  const intervalSeconds = readEvery(given.every) ?? feed.intervalSeconds;
  const isOnlyInterval = Object.keys(FLAGS).every(
    (name) => name === 'every' || given[name as keyof Given] === undefined,
  );
  if (isOnlyInterval) return { intervalSeconds, nextRunTs: nextRun(feed, intervalSeconds) };
  const headers = mergeHeaders(given['no-headers'] ? {} : feed.headers, newHeaders);
  const url = given.url ?? knownUrl(feed, headers);
  const to = readFetchUrl(url, headers);
  if (!given['no-headers']) refuseNewOrigin(feed, to, newHeaders);
  return {
    ...evidenceOf(feed, given),
    url,
    headers,
    intervalSeconds,
    isComplete: given.complete ?? (given['no-complete'] ? false : feed.isComplete),
    allowsPrivate: given.private ?? (given['no-private'] ? false : feed.allowsPrivate),
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
function refuseNewOrigin(feed: Feed, to: URL, newHeaders: Record<string, string>): void {
  const given = new Set(Object.keys(newHeaders).map((name) => name.toLowerCase()));
  const kept = Object.keys(feed.headers).filter((name) => !given.has(name.toLowerCase()));
  if (kept.length === 0 || readFetchUrl(feed.url, feed.headers).origin === to.origin) return;
  throw new AppError(
    'bad_request',
    `The new URL is on ${to.origin}, to which the value of ${kept.join(', ')} would be sent. Give it again with --header or --header-file, or remove it with --no-headers. Nothing was changed.`,
  );
}

type Evidence = Pick<Feed, 'format' | 'dataset' | 'evidenceKind' | 'listKind' | 'trustPermille' | 'lifeSeconds'>;

function evidenceOf(feed: Feed, given: Given): Evidence {
  const formatName = given.format ?? feed.format;
  const format = findFormat(formatName);
  if (format === null) throw new UsageError(unknownFormat(formatName));
  const isDefaultLife = given.life === 'default';
  const flags = { ...given, life: isDefaultLife ? undefined : given.life };
  const { trustPermille, lifeSeconds, ...choices } = readEvidenceFlags(
    format,
    flags,
    format.name === feed.format ? feed : {},
  );
  const old = format.hasEvidence ? feed : { trustPermille: DEFAULT_TRUST_PERMILLE, lifeSeconds: null };
  return {
    format: format.name,
    ...choices,
    trustPermille: trustPermille ?? old.trustPermille,
    lifeSeconds: isDefaultLife ? null : (lifeSeconds ?? old.lifeSeconds),
  };
}
