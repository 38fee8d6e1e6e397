import { stat } from 'node:fs/promises';
import type { DataPlace } from '../../app/stores.ts';
import type { LimitWait } from '../../client/index.ts';
import { CREDENTIAL_VARIABLES } from '../../config/read-settings.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { type InputLimits, inputLimitsOf, type Source } from '../../ingest/sources/format.ts';
import { openFile, openStdin } from '../../ingest/sources/source.ts';
import { keepStart } from '../../ingest/sources/source-start.ts';
import { urlKey } from '../../urls/url-group.ts';
import type { Json } from '../../urls/wire.ts';
import { type Entry, type EntryPage, readEntries, whyUnreadable } from '../check-input.ts';
import { type LookUp, lookUpAt, lookUpIn } from '../check-look-up.ts';
import { type Checked, type CheckFormat, CSV, JSON_LINES, tableFormat } from '../check-output.ts';
import { UsageError } from '../command.ts';
import { dataCommand, openExisting } from '../data-command.ts';
import { INPUT_LIMIT_FLAGS, readIngestSettings } from '../ingest-settings.ts';
import { fitTerminal, print, quoted, timeText } from '../output.ts';
import { counted, countText, createProgress, shareOf } from '../progress.ts';
import { refuseTar } from '../tar.ts';
import { currentTs } from '../time.ts';

/** At least one URL is known. 1 and 2 are failures, as everywhere. */
const EXIT_FOUND = 3;
/** Their keys take about 40 MB. Beyond it, the summary has a lower bound. */
const DISTINCT_MAX = 1_000_000;
/** Of a key, as a number: two of a million URLs have the same with a probability of 0.2 %, and then one is not counted. */
const NUMBER_BYTES = 6;

export const check = dataCommand(
  {
    synopsis: 'check FILE|-',
    about: `Looks up every URL of a file or of standard input (-), plain or compressed as .gz or .zip, and prints a result for each, in the
order of the input. Every spelling of a URL is accepted, also a defanged one such as hxxps://bad[.]example/a. It also works while a
server is running, and no query is counted. With --server the URLs are looked up at a server, where each of them counts as a query;
the variables ${CREDENTIAL_VARIABLES.username} and ${CREDENTIAL_VARIABLES.password}, or ${CREDENTIAL_VARIABLES.token}, have the login.

Without --extract and --column each line is one URL; empty lines and lines that begin with # are skipped. --column takes
the URLs from a column of a CSV file. --extract finds all URLs in any text: logs, reports, mail (.eml, mbox) with its encoded parts. It cuts
punctuation after a URL, and closing brackets and quotes around it. Text that is no URL is reported, and the others are
still looked up.

With --json each line is {"line":…,"input":…,"found":true,…} with the keys of the API (url/last),
{"line":…,"input":…,"found":false,"url":…}, or {"line":…,"input":…,"error":…,"message":…}. Standard error gets a summary.

Exit codes: 0 when none of the URLs is known or there are none, ${EXIT_FOUND} when at least one is known, 1 when the command failed or every line,
or cell of the column, is something else than a URL, 2 when the command line is wrong.`,
    operands: ['FILE or -'],
    flags: {
      extract: { meaning: 'find the URLs in text of any kind; with --column, in the cells' },
      column: {
        argument: 'NAME|NUMBER',
        meaning: 'the column of a CSV file that has the URLs, by its name in the first row or by its number from 1',
      },
      found: { meaning: 'print only URLs that are known' },
      server: { argument: 'URL', meaning: 'look up at this server, such as https://intel.example.com' },
      csv: { meaning: 'print CSV, for spreadsheets' },
      json: { meaning: 'print one JSON object per URL, each on its own line' },
      ...INPUT_LIMIT_FLAGS,
    },
    examples: [
      'urlwarden check urls.txt --found',
      'zcat access.log.*.gz | urlwarden check - --extract --found --json',
      'urlwarden check report.csv --column url --csv > checked.csv',
    ],
  },
  async ({ operands: [name = ''], flags, place }) => {
    if (flags.csv && flags.json) throw new UsageError('--csv and --json exclude each other: give one of them');
    const limits = inputLimitsOf(readIngestSettings(flags));
    const input = refuseTar(await openInput(name, limits, flags.extract === true));
    const { source, start } = keepStart(input);
    const { lookUp, close } = await openLookUp(flags.server, place);
    const choices = { isExtracting: flags.extract === true, column: flags.column };
    const format = flags.csv ? CSV : flags.json ? JSON_LINES : tableFormat(process.stdout.isTTY);
    try {
      const pages = readEntries(source, limits, choices);
      const summary = await checkPages({ lookUp, source, pages, format, isFoundOnly: flags.found === true });
      process.stderr.write(fitTerminal(summaryText(summary, choices.column), process.stderr));
      const fault = summary.urls > 0 ? null : whyUnreadable(start().bytes);
      if (fault !== null) throw badRequest(`${source.name}: ${fault}`);
      if (summary.urls > 0 || summary.invalid === 0) return summary.found > 0 ? EXIT_FOUND : 0;
      throw badRequest(noUrls(choices));
    } finally {
      await close();
      // Standard input that is not read to its end would keep the process alive.
      process.stdin.destroy();
    }
  },
);

async function openLookUp(server: string | undefined, place: DataPlace): Promise<{ lookUp: LookUp; close(): unknown }> {
  if (server !== undefined) return { lookUp: lookUpAt(server), close: () => {} };
  const store = await openExisting(place);
  return { lookUp: lookUpIn(store), close: store.close };
}

async function openInput(name: string, limits: InputLimits, isExtracting: boolean): Promise<Source> {
  if (/^[a-z]+:\/\//i.test(name)) {
    throw new UsageError(`FILE is a URL. To look it up: urlwarden lookup ${quoted(name)}`);
  }
  if (name !== '-') {
    const isFolder = (await stat(name).catch(() => null))?.isDirectory();
    if (isFolder) throw badRequest(`${name}: is a folder; check takes a file, or - for standard input`);
    return openFile(name, limits);
  }
  const what = isExtracting ? 'text' : 'one URL per line';
  if (process.stdin.isTTY) process.stderr.write(`Reading standard input, ${what}. Ctrl-D ends it.\n`);
  return openStdin(limits);
}

type Run = {
  lookUp: LookUp;
  source: Source;
  pages: AsyncIterable<EntryPage>;
  format: CheckFormat;
  isFoundOnly: boolean;
};

/** `urls` and `found` count a URL as often as it is in the input. */
type Summary = { lines: number; urls: number; distinct: number; found: number; invalid: number };

async function checkPages({ lookUp, source, pages, format, isFoundOnly }: Run): Promise<Summary> {
  const summary: Summary = { lines: 0, urls: 0, distinct: 0, found: 0, invalid: 0 };
  const distinct = createDistinct();
  const progress = createProgress();
  let heading = format.heading;
  /** Of the pages before. */
  let [lines, bytes] = [0, 0];
  try {
    for await (const page of pages) {
      await checkPage(page);
      lines += page.lines;
      bytes = source.progress().readBytes;
    }
  } finally {
    progress.end();
  }
  // A program that reads a CSV expects its heading; a person needs none over nothing.
  if (format === CSV) await print(heading);
  return { ...summary, distinct: distinct.count() };

  async function checkPage(page: EntryPage): Promise<void> {
    for (const entry of page.entries) if (entry.ok) distinct.add(entry.url);
    const { readBytes, totalBytes } = source.progress();
    let [done, doneShare] = [0, 0];
    const share = () => shareOf({ readBytes: bytes + (readBytes - bytes) * doneShare, totalBytes });
    const onWait = (wait: LimitWait) => progress.showWait(share(), `${progressText(summary)}. ${waitText(wait)}`);
    try {
      for await (const checked of checkEntries(lookUp, page.entries, onWait)) {
        done += checked.length;
        doneShare = done === page.entries.length ? 1 : done / page.entries.length;
        summary.lines = lines + Math.round(page.lines * doneShare);
        count(checked);
        await printResults(checked);
        progress.showStep(share(), progressText(summary));
      }
    } catch (error) {
      throw summary.urls + summary.invalid === 0 ? error : withLine(error, page.entries[done]);
    }
  }

  function count(checked: readonly Checked[]): void {
    summary.found += checked.filter(({ last }) => last !== null).length;
    summary.urls += checked.filter(({ entry }) => entry.ok).length;
    summary.invalid += checked.filter(({ entry }) => !entry.ok).length;
    // For a reader that closes the pipe before the end.
    if (summary.found > 0) process.exitCode = EXIT_FOUND;
  }

  async function printResults(checked: readonly Checked[]): Promise<void> {
    const shown = isFoundOnly ? checked.filter(({ last }) => last !== null) : checked;
    if (shown.length === 0) return;
    if (process.stdout.isTTY) progress.end();
    await print(heading + shown.map((one) => format.print(one)).join(''));
    heading = '';
  }
}

/**
 * In the order of the entries, in parts as results arrive: those before a failure were charged. A URL that occurs several times
 * is looked up once. The last part may be empty.
 */
async function* checkEntries(
  lookUp: LookUp,
  entries: readonly Entry[],
  onWait: (wait: LimitWait) => void,
): AsyncGenerator<Checked[]> {
  const urls = new Set(entries.flatMap((entry) => (entry.ok ? [entry.url] : [])));
  const results = new Map<string, Json | null>();
  let next = 0;
  for await (const part of lookUp([...urls], onWait)) {
    for (const [url, last] of part) results.set(url, last);
    const ready = takeReady();
    if (ready.length > 0) yield ready;
  }
  yield takeReady();

  function takeReady(): Checked[] {
    const ready: Checked[] = [];
    for (let entry = entries[next]; entry !== undefined; entry = entries[++next]) {
      const last = entry.ok ? results.get(entry.url) : null;
      if (last === undefined) break;
      ready.push({ entry, last });
    }
    return ready;
  }
}

/** The position of what failed, where the results end. */
function withLine(error: unknown, entry: Entry | undefined): unknown {
  if (!(error instanceof AppError) || entry === undefined) return error;
  const rest = `Line ${entry.line} and those after it are not looked up.`;
  return new AppError(error.code, `${error.message.replace(/\.$/, '')}. ${rest}`, { cause: error });
}

/** Counts different URLs in bounded memory. */
function createDistinct() {
  const numbers = new Set<number>();
  return {
    add(url: string): void {
      if (numbers.size < DISTINCT_MAX) numbers.add(Buffer.from(urlKey(url)).readUIntBE(0, NUMBER_BYTES));
    },
    count: () => numbers.size,
  };
}

function progressText({ lines, found, invalid }: Summary): string {
  return `${counted(lines, 'line')}, ${countText(found)} found${invalid > 0 ? `, ${countText(invalid)} invalid` : ''}`;
}

function waitText({ limit, seconds }: LimitWait): string {
  const time = timeText(currentTs() + Math.ceil(seconds)).slice('2026-01-31T'.length, -'Z'.length);
  return `Limit ${limit ?? 'of the server'}: waiting until ${time} UTC`;
}

function summaryText({ lines, urls, distinct, found, invalid }: Summary, column: string | undefined): string {
  const atLeast = distinct < DISTINCT_MAX ? '' : 'at least ';
  return `${[
    counted(lines, column === undefined ? 'line' : 'row'),
    `${counted(urls, 'URL')} (${atLeast}${countText(distinct)} distinct)`,
    `${countText(found)} found`,
    `${countText(invalid)} invalid`,
  ].join(', ')}\n`;
}

/** An exit code of 0 would say that harmless URLs were checked. */
function noUrls({ isExtracting, column }: { isExtracting: boolean; column: string | undefined }): string {
  if (isExtracting) return 'Nothing in the input is a URL that can be looked up.';
  if (column !== undefined)
    return 'No cell of the column is a URL. Choose another column, or find URLs in its text with --extract.';
  return 'No line is a URL. For logs, mail and other text add --extract, for a CSV file --column NAME.';
}
