import { AppError } from '../../core/errors.ts';
import { type TimeWindow, timeWindow } from '../../core/time.ts';
import { refangHost } from '../../core/url/refang.ts';
import { parseSearchKey, type SearchKey, type SearchKeyName } from '../../urls/search-key.ts';
import type { Fact } from '../../urls/store.ts';
import { UsageError } from '../command.ts';
import { dataCommand, openExisting } from '../data-command.ts';
import type { FlagValues } from '../define-command.ts';
import { print, timeText, visible } from '../output.ts';
import { currentTs, readTime } from '../time.ts';
import type { Flags } from '../usage.ts';

const KEY_FLAGS = {
  ip: { argument: 'ADDRESS', meaning: 'URLs seen at this address or in this network: 192.0.2.1, 192.0.2.0/24' },
  host: { argument: 'HOST', meaning: 'URLs of exactly this host name or address, without names below it' },
  asn: { argument: 'NUMBER', meaning: 'URLs seen in this autonomous system: 64500, AS64500' },
  family: { argument: 'NAME', meaning: 'URLs that served this malware family, in any letter case' },
  sha256: { argument: 'HASH', meaning: 'URLs that served the file with this SHA-256' },
} as const satisfies Flags;

type KeyFlag = keyof typeof KEY_FLAGS;

const KEY_NAMES: Record<KeyFlag, SearchKeyName> = {
  ip: 'ip',
  host: 'host',
  asn: 'asn',
  family: 'malware_family',
  sha256: 'sha256',
};

const FLAGS = {
  ...KEY_FLAGS,
  since: {
    argument: 'TIME',
    meaning: 'only what was seen since this time: Unix seconds or 2026-01-31T12:00:00Z (default: 12 months before now)',
  },
  until: { argument: 'TIME', meaning: 'only what was seen until this time (default: now)' },
  limit: { argument: 'NUMBER', meaning: 'at most this many lines (default: all)' },
  json: { meaning: 'print one JSON object per line, with the keys ts, id and url, as the API' },
} as const satisfies Flags;

type SearchFlags = FlagValues<typeof FLAGS>;

export const search = dataCommand(
  {
    synopsis: 'search --ip|--host|--asn|--family|--sha256 VALUE',
    about: `Finds the URLs that match one search key, by the rules of the API (url/search): one line for every match, so a
URL may occur several times, in any order. An address matches by the days on which a URL was seen at it, a host by the changes of
status of its URLs, a family and a file by the times at which they were served. Without --since and --until it searches
the last 12 months. Defanged values such as bad[.]example are accepted. It also works while a server is running, and no
query is counted.

The exit code is 1 if nothing matches.`,
    flags: FLAGS,
    examples: [
      'urlwarden search --ip 198.51.100.0/24',
      'urlwarden search --family Mirai --since 2026-01-01 --json',
      "urlwarden search --host 'bad[.]example' --limit 20",
    ],
  },
  async ({ flags, place }) => {
    const key = readKey(flags);
    const window = readWindow(flags);
    const limit = readLimit(flags.limit);
    const store = await openExisting(place);
    try {
      let isAnyFound = false;
      for await (const lines of store.search(key, window, { limit, signal: new AbortController().signal })) {
        await print(flags.json ? lines : `${isAnyFound ? '' : HEADING}${tableLines(lines)}`);
        isAnyFound = true;
      }
      if (!isAnyFound) throw new AppError('not_found', noMatch(window));
      return 0;
    } finally {
      await store.close();
    }
  },
);

function readKey(flags: SearchFlags): SearchKey {
  const given = (Object.keys(KEY_FLAGS) as KeyFlag[]).filter((name) => flags[name] !== undefined);
  const [flag] = given;
  if (flag === undefined || given.length > 1) {
    const names = Object.keys(KEY_FLAGS).map((name) => `--${name}`);
    throw new UsageError(`Exactly one of ${names.join(', ')} must be given`);
  }
  const text = flags[flag] ?? '';
  const name = KEY_NAMES[flag];
  const parsed = parseSearchKey(name, flag === 'ip' || flag === 'host' ? refangHost(text) : text);
  // The reason begins with the name of the key in the API.
  if (!parsed.ok) throw new UsageError(`--${flag}${parsed.reason.slice(name.length)}`);
  return parsed.key;
}

function readWindow({ since, until }: SearchFlags): TimeWindow {
  const read = (flag: string, text: string | undefined) => (text === undefined ? undefined : readTime(flag, text));
  const window = timeWindow(read('--since', since), read('--until', until), currentTs());
  if (window === null) throw new UsageError('--since must not be after --until');
  return window;
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return Number.MAX_SAFE_INTEGER;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`--limit must be a whole number from 1, not ${JSON.stringify(text)}`);
}

const HEADING = `${'TIME'.padEnd('2026-01-31T12:00:00Z'.length)}  URL\n`;

/** Both columns are known before the last row, so memory does not grow with the number of matches. */
function tableLines(lines: string): string {
  const facts = lines.trimEnd().split('\n');
  return facts
    .map((line) => JSON.parse(line) as Fact)
    .map(factText)
    .join('');
}

function factText({ ts, url }: Fact): string {
  return `${timeText(ts)}  ${visible(url)}\n`;
}

function noMatch({ since, until }: TimeWindow): string {
  return `Nothing matches from ${timeText(since)} to ${timeText(until)}. For other times use --since and --until.`;
}
