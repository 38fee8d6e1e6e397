import { type Control, type DataPlace, type Intelligence, openControl, openIntelligence } from '../../app/stores.ts';
import { FORMATS, findFormat } from '../../ingest/formats/formats.ts';
import { type ImportOptions, type ImportReport, runImport } from '../../ingest/import.ts';
import { openNetworks } from '../../ingest/networks.ts';
import { createDnsResolver, resolvingFormat } from '../../ingest/resolve.ts';
import { openUrl } from '../../ingest/sources/fetch.ts';
import { createGuard } from '../../ingest/sources/fetch-guard.ts';
import { type Format, inputLimitsOf, type Source } from '../../ingest/sources/format.ts';
import { openFile, openStdin } from '../../ingest/sources/source.ts';
import { EXIT_FAILURE, UsageError } from '../command.ts';
import { dataCommand, type Input } from '../data-command.ts';
import { INGEST_OPTIONS, INGEST_USAGE, type IngestSettings, readIngestSettings } from '../ingest-settings.ts';
import { listing, print, rejectText, timeText } from '../output.ts';
import { count, createProgress } from '../progress.ts';
import { stopSignal } from '../stop-signal.ts';
import { currentTs, readTime } from '../time.ts';

const width = Math.max(...FORMATS.map(({ name }) => name.length));
const formatList = FORMATS.map(({ name, summary }) => `  ${name.padEnd(width)}   ${summary}\n`).join('');

export const importRun = dataCommand(
  {
    synopsis:
      'import FORMAT FILE|URL|- [--feed NAME] [--complete] [--as-of TIME] [--force] [--strict] [--dry-run] [--json]',
    about: `Adds what a source tells about URLs: a file, a download, or standard input (-), also packed as .gz or .zip, also
beside a running server. The same again changes nothing, so what was cut off is simply started again. Rows that
cannot be used are put aside: urlwarden import rejects. What was imported: urlwarden import list.

${formatList}`,
    flags: `  --feed NAME    whose data it is (default: the name of the format)
  --complete     the source names everything that is online: what this feed named before, and not now, is offline
  --as-of TIME   the time of a complete listing (default: the newest time in it), and of rows without one
                 (default: now), as Unix seconds or 2026-01-31T12:00:00Z
  --force        apply a complete listing also when it looks cut off: it would take more than half of the feed's
                 URLs offline, or its last row cannot be used
  --strict       stop at the first row that cannot be used
  --dry-run      read and check everything, write nothing
  --json         for programs: the report as one JSON value
${INGEST_USAGE}`,
    operands: ['FORMAT', 'FILE, URL or -'],
    options: {
      feed: { type: 'string' },
      complete: { type: 'boolean' },
      'as-of': { type: 'string' },
      force: { type: 'boolean' },
      strict: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
      json: { type: 'boolean' },
      ...INGEST_OPTIONS,
    },
  },
  async (input) => {
    const settings = readIngestSettings(input.options);
    const choices = readChoices(input, settings);
    const { signal, dispose } = stopSignal();
    const source = await openSource(input.operands[1] ?? '', settings, signal);
    const into = input.options['dry-run'] ? null : await openData(input.place);
    const progress = createProgress();
    try {
      const report = await runImport({ ...choices, source, into, signal, onProgress: progress.show });
      progress.end();
      await print(input.options.json ? `${JSON.stringify(report)}\n` : reportText(report));
      return report.outcome === 'done' ? 0 : EXIT_FAILURE;
    } finally {
      progress.end();
      dispose();
      await Promise.all([into?.store.close(), into?.control.close()]);
      // A source that nobody reads to its end would keep the program waiting.
      process.stdin.destroy();
    }
  },
);

type Choices = Omit<ImportOptions, 'source' | 'into' | 'signal' | 'onProgress'>;

function readChoices({ operands: [formatName = ''], options }: Input, settings: IngestSettings): Choices {
  const format = requireFormat(formatName);
  const asOf = options['as-of'];
  return {
    format: settings.resolvesHosts ? resolvingFormat(format, createDnsResolver()) : format,
    lookupAsn: openNetworks(settings.asnDb).asnOf,
    feed: typeof options.feed === 'string' ? options.feed : format.name,
    limits: inputLimitsOf(settings),
    nowTs: currentTs,
    isComplete: options.complete === true,
    asOfTs: typeof asOf === 'string' ? readTime('--as-of', asOf) : null,
    isForced: options.force === true,
    isStrict: options.strict === true,
  };
}

function requireFormat(name: string): Format {
  const format = findFormat(name);
  if (format !== null) return format;
  throw new UsageError(`There is no format ${JSON.stringify(name)}. There are:\n${formatList}`);
}

const URL_START = /^https?:\/\//i;

async function openSource(name: string, settings: IngestSettings, signal: AbortSignal): Promise<Source> {
  const limits = inputLimitsOf(settings);
  if (name === '-') return openStdin(limits);
  if (!URL_START.test(name)) return openFile(name, limits);
  const guard = createGuard(settings.feedsAllowPrivate);
  const download = await openUrl(name, { guard, signal, inputLimits: limits });
  if (download === 'not_modified') throw new Error('an answer to a question that was not asked');
  return download;
}

async function openData(place: DataPlace): Promise<{ store: Intelligence; control: Control }> {
  const control = await openControl(place);
  return { control, store: await openIntelligence(place) };
}

/** What an import did, for people. */
export function reportText(report: ImportReport): string {
  const { outcome, error, id } = report;
  const ending = {
    done: '',
    refused: `\nThe listing was refused. ${error}\n`,
    stopped: '\nStopped. Start the same import again to go on: what is there already stays as it is.\n',
  }[outcome];
  return listing(pairsOf(report)) + rejectsText(report, id) + ending;
}

function pairsOf(report: ImportReport): [string, string][] {
  const { read, seconds, urlsAdded, eventsChanged, payloadsAdded, resolutionsChanged, filesChanged } = report;
  const rate = Math.round(read / Math.max(seconds, 0.001));
  const rows: [string, string][] = [
    ['rows read', `${count(read)} in ${seconds.toFixed(1)} s (${count(rate)}/s)`],
    ['rejected', count(report.rejected)],
  ];
  if (report.id === null)
    return [...rows, ['observations', `${count(report.observations)} (dry run: nothing was written)`]];
  rows.push(
    ['new URLs', count(urlsAdded)],
    ['events changed', count(eventsChanged)],
    ['payloads added', count(payloadsAdded)],
    ['resolutions changed', count(resolutionsChanged)],
    ['files changed', count(filesChanged)],
  );
  if (report.listingTs === null) return rows;
  return [...rows, ['went offline', `${count(report.wentOffline)} by the listing of ${timeText(report.listingTs)}`]];
}

function rejectsText({ rejected, firstRejects }: ImportReport, id: number | null): string {
  if (rejected === 0) return '';
  const more = rejected > firstRejects.length && id !== null ? `All of them: urlwarden import rejects ${id}\n` : '';
  return `\n${firstRejects.map(rejectText).join('')}${more}`;
}
