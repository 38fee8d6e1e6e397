import { statSync } from 'node:fs';
import type { Intelligence } from '../../app/stores.ts';
import { normalizeUrl } from '../../core/url/normalize.ts';
import { refangSchemeless, refangUrl } from '../../core/url/refang.ts';
import { type Line, withoutReturn } from '../../ingest/sources/lines.ts';
import type { UrlDetails } from '../../urls/store.ts';
import { HISTORY_LIMIT } from '../../urls/wire.ts';
import { EXIT_FAILURE } from '../command.ts';
import { dataCommand, openExisting } from '../data-command.ts';
import { detailsJson, detailsText } from '../details-output.ts';
import { print, quoted, visible, visibleQuery } from '../output.ts';
import { nonEmptyLines, UNREADABLE } from '../queries.ts';
import { refusalText } from '../search-advice.ts';
import { currentTs } from '../time.ts';

/** URLs that are looked up at the same time: PostgreSQL answers several while one would wait for the network. */
const CONCURRENT_URLS = 10;

export const lookup = dataCommand(
  {
    synopsis: 'lookup URL…|-',
    about: `Shows what is known about each URL: its last status and when that was last confirmed, its last payload, its
addresses with their networks (ASN) and its tags. - reads one URL per line of standard input. Every spelling of a URL
is accepted, also a defanged one such as hxxps://bad[.]example/a. A URL without a scheme, such as bad.example/a, is looked up with
http://, and if that is not known, with https://. It also works while a server is running, and no query is counted.

With --json the keys are those of the API (url/last, with --history url/history), and: confirmed in a status or event, addresses
with ip, asn and ts, and tags. Times are Unix seconds. A URL that is unknown has {"url":…,"error":"not_found"}, one that
cannot be read the reason as its error.

The exit code is 0 if at least one of the URLs is known, otherwise 1.`,
    operands: ['URL or -'],
    isRepeated: true,
    flags: {
      history: {
        meaning: `show the newest ${HISTORY_LIMIT} events and the newest ${HISTORY_LIMIT} payloads instead of the last`,
      },
      json: { meaning: 'print one JSON object per URL, each on its own line' },
    },
    examples: [
      "urlwarden lookup 'http://203.0.113.7/bin.sh'",
      "urlwarden lookup --history 'hxxp://203[.]0[.]113[.]7/bin.sh'",
      'urlwarden lookup --json - < urls.txt',
    ],
  },
  async ({ operands, flags, place }) => {
    const store = await openExisting(place);
    const options: Options = { operands, isHistory: flags.history === true, isJson: flags.json === true };
    try {
      let [hasAnyUrl, isAnyKnown] = [false, false];
      for await (const lines of linesOf(operands)) {
        hasAnyUrl ||= lines.length > 0;
        for (let at = 0; at < lines.length; at += CONCURRENT_URLS) {
          const chunk = lines.slice(at, at + CONCURRENT_URLS);
          const results = await Promise.all(chunk.map((line) => lookUp(store, line, options)));
          await print(results.map(({ text }) => text).join(''));
          isAnyKnown ||= results.some(({ isKnown }) => isKnown);
        }
      }
      if (!hasAnyUrl) process.stderr.write('Standard input has no URL.\n');
      return isAnyKnown ? 0 : EXIT_FAILURE;
    } finally {
      await store.close();
    }
  },
);

type Options = { operands: readonly string[]; isHistory: boolean; isJson: boolean };

type Result = { text: string; isKnown: boolean };

async function* linesOf(operands: readonly string[]): AsyncGenerator<Line[]> {
  for (const operand of operands) {
    if (operand === '-') yield* nonEmptyLines();
    else yield [{ ok: true, text: operand }];
  }
}

/**
 * A host with a dot, or an IPv6 address in brackets; a port; a path or query. Only one dot is written in the expression: with
 * every dot in a group of its own, `a.a.…@` with 30 dots took minutes.
 */
const SCHEMELESS = /^([^\s/?#:@[\]][^\s/?#:@[\].]*\.[^\s/?#:@[\]]+|\[[\da-f:.]+\])(:\d{1,5})?([/?#].*)?$/is;

/** Of a URL in a page, which takes the scheme of the page: `//bad.example/a`. */
const LEADING_SLASHES = /^\/\/(?!\/)/;

/** The URLs that a text may mean, in the order in which they are looked up. */
function candidatesOf(input: string): string[] {
  const url = refangUrl(input);
  const [, host, port, path] = SCHEMELESS.exec(refangSchemeless(input.trim().replace(LEADING_SLASHES, ''))) ?? [];
  // A host alone is no URL: there is no reason to prefer its front page.
  if (host === undefined || (port === undefined && path === undefined)) return [url];
  const rest = `${host}${port ?? ''}${path ?? ''}`;
  return [`http://${rest}`, `https://${rest}`];
}

function fileAdvice(operand: string): string | null {
  if (!isFile(operand)) return null;
  return `This is a file. To look up each of its lines: urlwarden lookup - < ${quoted(operand)}`;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false; // its name may be too long for a file, for example
  }
}

async function lookUp(store: Intelligence, line: Line, options: Options): Promise<Result> {
  const { operands, isHistory, isJson } = options;
  if (!line.ok) return refused(line.text, line.error, UNREADABLE[line.error]);
  const input = withoutReturn(line.text);
  // A line of standard input is never the name of a file.
  const advice = operands.includes(input) ? fileAdvice(input) : null;
  const candidates = candidatesOf(input);
  const normals = candidates.map((candidate) => normalizeUrl(candidate));
  const [normal = normalizeUrl(input)] = normals;
  if (!normal.ok) return refused(input, normal.error, advice ?? refusalText(input, normal.error));
  const details = await firstKnown(store, normals, isHistory ? HISTORY_LIMIT : 1);
  if (details === null) {
    const unknown = candidates.length > 1 ? 'not known, neither with http:// nor with https://' : 'not known';
    return refused(normal.url, 'not_found', advice ?? unknown, input);
  }
  const text = isJson
    ? `${JSON.stringify(detailsJson(details, isHistory))}\n`
    : `${heading(details.url, input)}${detailsText(details, isHistory, currentTs())}`;
  return { text, isKnown: true };

  function refused(url: string, error: string, reason: string, asked = url): Result {
    const text = isJson ? `${JSON.stringify({ url, error })}\n` : `${heading(url, asked)}  ${reason}\n`;
    return { text, isKnown: false };
  }
}

async function firstKnown(
  store: Intelligence,
  normals: readonly ReturnType<typeof normalizeUrl>[],
  limit: number,
): Promise<UrlDetails | null> {
  for (const normal of normals) {
    const details = normal.ok ? await store.urlDetails(normal.url, limit) : null;
    if (details !== null) return details;
  }
  return null;
}

/** The URL as it is stored, and how it was asked for if that differs. */
function heading(url: string, asked: string): string {
  return `${visibleQuery(url)}\n${url === asked ? '' : `  asked for  ${visible(asked)}\n`}`;
}
