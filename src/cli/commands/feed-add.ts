import { readFileSync } from 'node:fs';
import { AppError } from '../../core/errors.ts';
import { suggestion } from '../../core/suggestion.ts';
import { checkFeedHost } from '../../ingest/feeds/feed-host.ts';
import { KEY_HEADER, KNOWN_FEEDS } from '../../ingest/feeds/known-feeds.ts';
import {
  addFeed,
  checkFeedName,
  draftFeed,
  EVERY_DEFAULT_SECONDS,
  EVERY_MAX_SECONDS,
  EVERY_MIN_SECONDS,
  type FeedDraft,
  type FeedValues,
  feedFields,
  refuseKnownName,
  toNewFeed,
} from '../../ingest/feeds/manage.ts';
import { FORMATS } from '../../ingest/formats/formats.ts';
import { parseHeaderLine, shownUrl } from '../../ingest/sources/fetch-url.ts';
import { recordChange } from '../audit-record.ts';
import { UsageError } from '../command.ts';
import { controlAddingCommand } from '../data-command.ts';
import type { FlagValues } from '../define-command.ts';
import { EVIDENCE_FLAGS, flagName, readEvidenceValues } from '../evidence-flags.ts';
import { feedJson } from '../feed-output.ts';
import { asUsage } from '../flag-values.ts';
import { readIngestSettings } from '../ingest-settings.ts';
import { readSecret } from '../terminal.ts';
import { currentTs, readSpan, spanFlag, spanText } from '../time.ts';
import { definitions, type Flags } from '../usage.ts';

const KEYED_NAMES = KNOWN_FEEDS.filter(({ keyedUrl }) => keyedUrl !== undefined)
  .map(({ name }) => name)
  .join(' and ');

export const FEED_FLAGS = {
  format: {
    argument: 'FORMAT',
    meaning: 'format of the feed: see urlwarden import --help',
    values: FORMATS.map(({ name }) => name),
  },
  url: { argument: 'URL', meaning: 'http or https URL to fetch' },
  every: {
    argument: 'TIME',
    meaning: `interval from 1m to 30d, such as 5m, 1h or 7d (default: that of the well-known feed, or ${spanFlag(EVERY_DEFAULT_SECONDS)})`,
  },
  header: { argument: 'NAME', meaning: 'a header to send; asks for its value' },
  'header-file': { argument: 'FILE', meaning: 'headers to send, one "NAME: VALUE" per line; - is standard input' },
  complete: { meaning: 'each fetch lists all URLs that are online: a URL that is no longer listed is offline' },
  private: { meaning: 'the URL is in a network that the server allows with --feeds-allow-private' },
  ...EVIDENCE_FLAGS,
} as const satisfies Flags;

export const feedAdd = controlAddingCommand(
  {
    synopsis: 'feed add NAME [--format FORMAT --url URL]',
    about: `Adds a feed. A running server fetches it within seconds, and then at its interval. These well-known feeds
need only their name; any other feed needs --format and --url:

${definitions(KNOWN_FEEDS.map(({ name, about, terms }) => [name, `${about}. Terms: ${terms}`]))}
An access key is sent in a header, only to the host of the URL, and is never shown. The command asks for
the value of the header; if standard input is not a terminal, the value is its first line. {NAME} in the
URL is replaced with the value of the header NAME. With --header ${KEY_HEADER}, ${KEYED_NAMES} are fetched
from the URLs that abuse.ch documents for users with a key.`,
    operands: ['NAME'],
    operandValues: KNOWN_FEEDS.map(({ name }) => name),
    flags: FEED_FLAGS,
    examples: [
      'urlwarden feed add urlhaus',
      `urlwarden feed add urlhaus-recent --header ${KEY_HEADER}`,
      'urlwarden feed add office --format ip-list --as allow --url https://intranet.example/networks.txt',
      'urlwarden feed add mirror --format urlhaus-csv --url https://mirror.example/online.csv --complete',
    ],
  },
  async (control, { operands: [name = ''], flags }) => {
    const draft = readDraft(name, flags);
    await refuseKnownName(control, name);
    const networks = { allowed: readIngestSettings(flags).feedsAllowPrivate, of: 'command' } as const;
    // Before a person types a key. Well-known feeds are public.
    const note = flags.url === undefined ? null : await checkFeedHost(flags.url, draft.allowsPrivate, networks);
    const feed = toNewFeed(draft, await readHeaders(flags), currentTs());
    await addFeed(control, feed);
    await recordChange(control, { action: 'feed.add', subject: name, after: feedFields(feed) });
    const text = `Added ${name}: ${feed.format} from ${shownUrl(feed.url)} every ${spanText(feed.intervalSeconds)}.\n${WHO_FETCHES}${name}\n`;
    const json = feedJson(feed, currentTs());
    return note === null ? { text, json } : { text: `${text}Note: ${note}\n`, json: { ...json, note } };
  },
);

const WHO_FETCHES = 'A running server fetches it within seconds. Without a server: urlwarden feed run ';

type Given = FlagValues<typeof FEED_FLAGS>;
type HeaderFlags = Pick<Given, 'header' | 'header-file'>;

/** Flags have precedence over the values of a well-known feed. */
function readDraft(name: string, given: Given): FeedDraft {
  asUsage(() => checkFeedName('NAME', name));
  const known = KNOWN_FEEDS.find((feed) => feed.name === name);
  if ((given.format ?? known?.format) === undefined || (given.url ?? known?.url) === undefined) {
    throw new UsageError(unknownFeed(name, given));
  }
  return asUsage(() => draftFeed(name, readValues(given), flagName));
}

const EVERY_BOUNDS = { least: EVERY_MIN_SECONDS, greatest: EVERY_MAX_SECONDS, examples: '5m, 1h or 7d' };

/** Values that were not given are undefined. */
export function readValues(given: Given): FeedValues {
  return {
    ...readEvidenceValues(given),
    format: given.format,
    url: given.url,
    intervalSeconds: readSpan('--every', given.every, EVERY_BOUNDS),
    isComplete: given.complete,
    allowsPrivate: given.private,
  };
}

function unknownFeed(name: string, { format, url }: Given): string {
  const names = KNOWN_FEEDS.map((feed) => feed.name);
  const missing = format === undefined ? '--format' : '--url';
  const isOneMissing = format !== undefined || url !== undefined;
  return [
    `There is no well-known feed ${JSON.stringify(name)}.${suggestion(name, names)}`,
    `Well-known feeds: ${names.join(', ')}.`,
    `For any other feed give --format FORMAT and --url URL${isOneMissing ? `; ${missing} is missing` : ''}.`,
  ].join(' ');
}

export async function readHeaders({ header, 'header-file': file }: HeaderFlags): Promise<Record<string, string>> {
  if (file !== undefined) return Object.fromEntries(readHeaderFile(file).map(parseHeaderLine));
  if (header === undefined) return {};
  if (header.includes(':')) {
    throw new UsageError('Give --header only the name: other users of this machine could read the value');
  }
  return Object.fromEntries([parseHeaderLine(`${header}: ${await readSecret(header)}`)]);
}

function readHeaderFile(file: string): string[] {
  try {
    const text = readFileSync(file === '-' ? process.stdin.fd : file, 'utf8');
    return text.split(/\r?\n/).filter((line) => line.trim() !== '');
  } catch (cause) {
    throw new AppError('bad_request', `The headers cannot be read: ${(cause as Error).message}`, { cause });
  }
}
