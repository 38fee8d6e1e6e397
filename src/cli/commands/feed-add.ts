import { readFileSync } from 'node:fs';
import { AppError } from '../../core/errors.ts';
import { KEY_HEADER, KNOWN_FEEDS, type KnownFeed } from '../../ingest/feeds/known-feeds.ts';
import { FORMATS } from '../../ingest/formats/formats.ts';
import { parseHeaderLine, readFetchUrl, shownUrl } from '../../ingest/sources/fetch-url.ts';
import type { Feed } from '../../ingest/store.ts';
import { UsageError } from '../command.ts';
import { controlCommand, type Input } from '../data-command.ts';
import { feedJson } from '../feed-output.ts';
import { readSecret } from '../terminal.ts';
import { currentTs, parseSpan, spanText } from '../time.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const EVERY_DEFAULT_SECONDS = 3_600;
/** Shorter than any publisher wants, and longer than a feed may be late. */
const EVERY_MIN_SECONDS = 60;
const EVERY_MAX_SECONDS = 30 * 86_400;

const width = Math.max(...KNOWN_FEEDS.map(({ name }) => name.length));
const knownList = KNOWN_FEEDS.map(({ name, about }) => `  ${name.padEnd(width)}   ${about}\n`).join('');

export const feedAdd = controlCommand(
  {
    synopsis: 'feed add NAME [--format FORMAT --url URL] [--every TIME] [--header NAME] [--complete]',
    about: `Adds a feed. A running server fetches it within seconds, and then again and again. These need nothing but
their name:

${knownList}
A key goes into a header, which is sent to the host of the URL only and never shown. Its value is asked for, or
is the first line of standard input where that is no terminal. {NAME} in the URL stands for that value too.
With --header ${KEY_HEADER} the feeds of abuse.ch are fetched from where it documents them for users with a key.

  urlwarden feed add urlhaus-recent --header ${KEY_HEADER}
`,
    flags: `  --format NAME  see urlwarden import --help
  --url URL      http or https
  --every TIME   such as 5m, 1h or 7d (default ${spanText(EVERY_DEFAULT_SECONDS).replace(' ', '')})
  --header NAME  a header to send
  --header-file FILE
                 headers to send, one a line as NAME: VALUE; - for standard input
  --complete     each fetch lists everything that is online: what it no longer lists is offline
  --private      it lies in a network that the server allows with --feeds-allow-private
`,
    operands: ['NAME'],
    options: {
      format: { type: 'string' },
      url: { type: 'string' },
      every: { type: 'string' },
      header: { type: 'string' },
      'header-file': { type: 'string' },
      complete: { type: 'boolean' },
      private: { type: 'boolean' },
    },
  },
  async (control, { operands: [name = ''], options }) => {
    const draft = readDraft(name, options);
    if ((await control.feed(name)) !== null) {
      throw new AppError('bad_request', `There is a feed ${name} already: urlwarden feed remove ${name} first`);
    }
    const headers = await readHeaders(options);
    const feed = toFeed(draft, headers, currentTs());
    readFetchUrl(feed.url, headers);
    await control.putFeed(feed);
    const text = `Added ${name}: ${feed.format} from ${shownUrl(feed.url)} every ${spanText(feed.intervalSeconds)}.\n`;
    return { text, json: feedJson(feed, currentTs()) };
  },
);

type Draft = KnownFeed & { allowsPrivate: boolean };

/** What was typed, and for the rest what is known of a feed of that name. */
function readDraft(name: string, options: Input['options']): Draft {
  if (!NAME.test(name))
    throw new UsageError('NAME must be letters, digits, points, dashes and underscores, at most 64');
  const known = KNOWN_FEEDS.find((feed) => feed.name === name);
  const format = options.format ?? known?.format;
  const url = options.url ?? known?.url;
  if (format === undefined) throw new UsageError('--format NAME is missing');
  if (url === undefined) throw new UsageError('--url URL is missing');
  if (!FORMATS.some((candidate) => candidate.name === format)) {
    throw new UsageError(`--format must be one of ${FORMATS.map((candidate) => candidate.name).join(', ')}`);
  }
  return {
    name,
    about: '',
    format: `${format}`,
    url: `${url}`,
    ...(known?.keyedUrl !== undefined && options.url === undefined && { keyedUrl: known.keyedUrl }),
    intervalSeconds: readEvery(options.every) ?? known?.intervalSeconds ?? EVERY_DEFAULT_SECONDS,
    isComplete: options.complete === true || (known?.isComplete ?? false),
    allowsPrivate: options.private === true,
  };
}

function readEvery(text: string | true | undefined): number | null {
  if (text === undefined) return null;
  const seconds = parseSpan(`${text}`);
  if (seconds !== null && seconds >= EVERY_MIN_SECONDS && seconds <= EVERY_MAX_SECONDS) return seconds;
  throw new UsageError('--every must be a time from 1m to 30d, such as 5m, 1h or 7d');
}

async function readHeaders(options: Input['options']): Promise<Record<string, string>> {
  const { header, 'header-file': file } = options;
  if (file !== undefined) return Object.fromEntries(readHeaderFile(`${file}`).map(parseHeaderLine));
  if (header === undefined) return {};
  if (`${header}`.includes(':')) {
    throw new UsageError('Give --header the name alone: others could read the value in the list of processes');
  }
  return Object.fromEntries([parseHeaderLine(`${header}: ${await readSecret(`${header}`)}`)]);
}

function readHeaderFile(file: string): string[] {
  try {
    const text = readFileSync(file === '-' ? process.stdin.fd : file, 'utf8');
    return text.split(/\r?\n/).filter((line) => line.trim() !== '');
  } catch (cause) {
    throw new AppError('bad_request', `The headers cannot be read: ${(cause as Error).message}`, { cause });
  }
}

function toFeed(draft: Draft, headers: Record<string, string>, nowTs: number): Feed {
  const { name, format, intervalSeconds, isComplete, allowsPrivate } = draft;
  const hasKey = Object.keys(headers).some((header) => header.toLowerCase() === KEY_HEADER.toLowerCase());
  return {
    name,
    format,
    url: (hasKey && draft.keyedUrl) || draft.url,
    intervalSeconds,
    headers,
    isComplete,
    allowsPrivate,
    ...NEVER_RUN,
    nextRunTs: nowTs,
  };
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
