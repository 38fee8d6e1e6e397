import { AppError } from '../../core/errors.ts';
import { suggestion } from '../../core/suggestion.ts';
import { foldFamily } from '../../core/text.ts';
import type { TimeWindow } from '../../core/time.ts';
import { refangHost } from '../../core/url/refang.ts';
import { MAX_FAMILY_NAMES } from '../../urls/rows.ts';
import { parseSearchKey, type SearchKey, type SearchKeyName } from '../../urls/search-key.ts';
import type { UrlStore } from '../../urls/store.ts';
import { factsIn } from '../../urls/wire.ts';
import { UsageError } from '../command.ts';
import { dataCommand, openExisting } from '../data-command.ts';
import type { FlagValues } from '../define-command.ts';
import { print, timeText, visible } from '../output.ts';
import { keyAdvice } from '../search-advice.ts';
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
    meaning:
      'only what was seen since this time: Unix seconds, 2026-01-31T12:00:00Z, or 30d or 12h ago (default: all times)',
  },
  until: { argument: 'TIME', meaning: 'only what was seen until this time (default: all times)' },
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
all times; the API searches the last 12 months. Defanged values such as bad[.]example are accepted. It also works while a
server is running, and no query is counted.

The exit code is 1 if nothing matches.`,
    // None is used: it gives the advice which flag is missing.
    optional: ['VALUE'],
    flags: FLAGS,
    examples: [
      'urlwarden search --ip 198.51.100.0/24',
      'urlwarden search --family Mirai --since 30d --json',
      "urlwarden search --host 'bad[.]example' --limit 20",
    ],
  },
  async ({ operands: [operand], flags, place }) => {
    const key = readKey(flags, operand);
    const window = readWindow(flags);
    const limit = readLimit(flags.limit);
    const store = await openExisting(place);
    try {
      let isAnyFound = false;
      for await (const lines of store.search(key, window, { limit, signal: new AbortController().signal })) {
        await print(flags.json ? lines : `${isAnyFound ? '' : HEADING}${tableLines(lines)}`);
        isAnyFound = true;
      }
      if (!isAnyFound)
        throw new AppError('not_found', (await unknownFamily(flags.family, store)) ?? noMatch(flags, window));
      return 0;
    } finally {
      await store.close();
    }
  },
);

function readKey(flags: SearchFlags, operand: string | undefined): SearchKey {
  const given = (Object.keys(KEY_FLAGS) as KeyFlag[]).filter((name) => flags[name] !== undefined);
  const [flag] = given;
  if (operand !== undefined) {
    throw new UsageError(given.length > 0 ? `${JSON.stringify(operand)} is not expected here` : keyAdvice(operand));
  }
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
  const window = {
    since: since === undefined ? 0 : readTime('--since', since),
    until: until === undefined ? Number.MAX_SAFE_INTEGER : readTime('--until', until),
  };
  if (window.since > window.until) throw new UsageError('--since must not be after --until');
  if (window.since > currentTs()) {
    throw new UsageError(
      `--since must not be in the future: ${timeText(window.since)}. Now it is ${timeText(currentTs())}`,
    );
  }
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
  return factsIn(lines)
    .map(({ ts, url }) => `${timeText(ts)}  ${visible(url)}\n`)
    .join('');
}

/** A misspelt family is not the same as one without matches; null if it is stored, or another key was given. */
async function unknownFamily(family: string | undefined, store: UrlStore): Promise<string | null> {
  if (family === undefined) return null;
  const names = await store.familyNames();
  if (names.length >= MAX_FAMILY_NAMES || names.some((name) => foldFamily(name) === foldFamily(family))) return null;
  return `No malware family ${JSON.stringify(family)} is stored.${suggestion(family, names, foldFamily)}`;
}

function noMatch(flags: SearchFlags, { since, until }: TimeWindow): string {
  const from = flags.since === undefined ? '' : ` since ${timeText(since)}`;
  const to = flags.until === undefined ? '' : ` until ${timeText(until)}`;
  if (from === '' && to === '') return 'Nothing matches.';
  return `Nothing matches${from}${to}. Without --since and --until all times are searched.`;
}
