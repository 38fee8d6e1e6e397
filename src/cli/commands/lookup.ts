import type { Intelligence } from '../../app/stores.ts';
import { URL_ERRORS } from '../../core/url/errors.ts';
import { normalizeUrl } from '../../core/url/normalize.ts';
import { refangUrl } from '../../core/url/refang.ts';
import { type Line, withoutReturn } from '../../ingest/sources/lines.ts';
import { HISTORY_LIMIT } from '../../urls/wire.ts';
import { EXIT_FAILURE } from '../command.ts';
import { dataCommand, openExisting } from '../data-command.ts';
import { detailsJson, detailsText } from '../details-output.ts';
import { print, visible } from '../output.ts';
import { inputLines, UNREADABLE } from '../questions.ts';
import { currentTs } from '../time.ts';

/** URLs that are looked up at the same time: PostgreSQL answers several while one would wait for the network. */
const CONCURRENT_URLS = 10;

export const lookup = dataCommand(
  {
    synopsis: 'lookup URL…|-',
    about: `Shows what is known about each URL: its last status and when that was last confirmed, its last payload, its
addresses with their networks (ASN) and its tags. - reads one URL per line of standard input. Any spelling of a URL
will do, also a defanged one such as hxxps://bad[.]example/a. It also works while a server is running, and no query
is counted.

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
    const options: Options = { isHistory: flags.history === true, isJson: flags.json === true };
    try {
      let isAnyKnown = false;
      for await (const lines of linesOf(operands)) {
        for (let at = 0; at < lines.length; at += CONCURRENT_URLS) {
          const chunk = lines.slice(at, at + CONCURRENT_URLS);
          const answers = await Promise.all(chunk.map((line) => answer(store, line, options)));
          await print(answers.map(({ text }) => text).join(''));
          isAnyKnown ||= answers.some(({ isKnown }) => isKnown);
        }
      }
      return isAnyKnown ? 0 : EXIT_FAILURE;
    } finally {
      await store.close();
    }
  },
);

type Options = { isHistory: boolean; isJson: boolean };

type Answer = { text: string; isKnown: boolean };

async function* linesOf(operands: readonly string[]): AsyncGenerator<Line[]> {
  for (const operand of operands) {
    if (operand === '-') yield* inputLines();
    else yield [{ ok: true, text: operand }];
  }
}

/** Empty lines have no answer. */
async function answer(store: Intelligence, line: Line, { isHistory, isJson }: Options): Promise<Answer> {
  if (!line.ok) return refused(line.text, line.error, UNREADABLE[line.error]);
  const input = withoutReturn(line.text);
  if (input.trim() === '') return { text: '', isKnown: false };
  const normal = normalizeUrl(refangUrl(input));
  if (!normal.ok) return refused(input, normal.error, URL_ERRORS[normal.error]);
  const details = await store.urlDetails(normal.url, isHistory ? HISTORY_LIMIT : 1);
  if (details === null) return refused(normal.url, 'not_found', 'not known', input);
  const text = isJson
    ? `${JSON.stringify(detailsJson(details, isHistory))}\n`
    : `${heading(normal.url, input)}${detailsText(details, isHistory, currentTs())}`;
  return { text, isKnown: true };

  function refused(url: string, error: string, reason: string, asked = url): Answer {
    const text = isJson ? `${JSON.stringify({ url, error })}\n` : `${heading(url, asked)}  ${reason}\n`;
    return { text, isKnown: false };
  }
}

/** The URL as it is stored, and how it was asked for if that differs. */
function heading(url: string, asked: string): string {
  return `${visible(url)}\n${url === asked ? '' : `  asked for  ${visible(asked)}\n`}`;
}
