import { type Control, type DataPlace, type Intelligence, openControl, openIntelligence } from '../../app/stores.ts';
import { requireSourceName } from '../../ingest/evidence-choices.ts';
import { FORMATS, findFormat } from '../../ingest/formats/formats.ts';
import { type ImportOptions, type ImportReport, runImport } from '../../ingest/import.ts';
import { defaultFeedName } from '../../ingest/import-sources.ts';
import { openNetworks } from '../../ingest/networks.ts';
import { createDnsResolver, resolvingFormat } from '../../ingest/resolve.ts';
import { openUrl } from '../../ingest/sources/fetch.ts';
import { createGuard } from '../../ingest/sources/fetch-guard.ts';
import { inputLimitsOf, type Source } from '../../ingest/sources/format.ts';
import { openFile, openStdin } from '../../ingest/sources/source.ts';
import { readFamilies } from '../../ingest/tag-families.ts';
import { orAdvice } from '../advice.ts';
import { EXIT_FAILURE, UsageError } from '../command.ts';
import { dataCommand, openBeside, openNew, printResult } from '../data-command.ts';
import { type Input, JSON_FLAG } from '../define-command.ts';
import { EVIDENCE_FLAGS, readEvidenceFlags } from '../evidence-flags.ts';
import { asUsage } from '../flag-values.ts';
import { FORMAT_LIST, importCommand, noFormat, URL_START } from '../import-advice.ts';
import { INGEST_FLAGS, type IngestSettings, readIngestSettings } from '../ingest-settings.ts';
import { fieldList, fitTerminal, rejectText, timeText, visible } from '../output.ts';
import { countText, createProgress } from '../progress.ts';
import { stopSignal } from '../stop-signal.ts';
import { refuseTar } from '../tar.ts';
import { currentTs, readTime } from '../time.ts';
import type { Flags } from '../usage.ts';

const FLAGS = {
  feed: {
    argument: 'NAME',
    meaning:
      'the feed that the data belongs to (default: the name of the format; of a list with --as, the name of the list or file)',
  },
  complete: {
    meaning:
      'the source lists all URLs that are online: a URL that this feed listed before and that is missing now is offline',
  },
  'as-of': {
    argument: 'TIME',
    meaning:
      'time of a complete listing (default: the newest time in it) and of rows without a time (default: now), as Unix seconds, 2026-01-31T12:00:00Z, or 1d or 12h ago',
  },
  force: {
    meaning:
      "apply a complete listing or a list even if it looks cut off: it would take more than half of the feed's URLs offline or delete more than half of the list, or its last row is rejected",
  },
  strict: { meaning: 'stop at the first row that is rejected' },
  'dry-run': { meaning: 'read and check everything, write nothing' },
  ...EVIDENCE_FLAGS,
  ...INGEST_FLAGS,
  json: JSON_FLAG,
} as const satisfies Flags;

export const importRun = dataCommand(
  {
    synopsis: 'import FORMAT FILE|URL|-',
    about: `Imports a file, a download or standard input (-), plain or compressed as .gz or .zip. It also works while a
server is running. An import can be repeated: rows that are already stored change nothing. To
continue an interrupted import, run the same command again.

  urlwarden import list      the newest imports and their outcomes
  urlwarden import rejects   the rows that an import rejected, and the reasons

Formats:
${FORMAT_LIST}`,
    operands: ['FORMAT'],
    operandValues: FORMATS.map(({ name }) => name),
    optional: ['FILE, URL or -'],
    flags: FLAGS,
    examples: [
      'urlwarden import urlhaus-csv https://urlhaus.abuse.ch/downloads/csv_recent/',
      'urlwarden import url-list list.txt.gz --feed own-list',
      'urlwarden import ip-list attackers.txt --dataset XBL --feed honeypot --trust 0.6',
      'urlwarden import misp-warninglist list.json --as shared',
    ],
  },
  async (input) => {
    const settings = readIngestSettings(input.flags);
    const choices = await readChoices(input, settings);
    const { signal, dispose } = stopSignal();
    const source = refuseTar(await openSource(input.operands[1], settings, signal));
    const into = input.flags['dry-run'] ? null : await openData(input.place);
    const progress = createProgress();
    try {
      const { show: onProgress, showWaiting: onWaiting } = progress;
      const imported = runImport({ ...choices, source, into, signal, onProgress, onWaiting });
      const report = await orAdvice(
        withIndexes(imported, into?.store, () => progress.showStep(null, 'Creating indexes', true)),
      );
      progress.end();
      await printResult({ text: reportText(report), json: report }, input.flags.json);
      return report.outcome === 'done' ? 0 : EXIT_FAILURE;
    } finally {
      progress.end();
      dispose();
      await Promise.all([into?.store.close(), into?.control.close()]);
      // Standard input that is not read to its end would keep the process alive.
      process.stdin.destroy();
    }
  },
);

type Choices = Omit<ImportOptions, 'source' | 'into' | 'signal' | 'onProgress' | 'onWaiting'>;

async function readChoices({ operands, flags }: Input<typeof FLAGS>, settings: IngestSettings): Promise<Choices> {
  const [formatName = '', sourceName = ''] = operands;
  const limits = inputLimitsOf(settings);
  const format = findFormat(formatName);
  if (format === null) throw await noFormat(operands, limits);
  const evidence = readEvidenceFlags(format, flags);
  const feed = flags.feed ?? defaultFeedName(format.name, evidence.listKind, sourceName);
  const asOf = flags['as-of'];
  return {
    format: settings.resolvesHosts ? resolvingFormat(format, createDnsResolver()) : format,
    lookupAsn: openNetworks(settings.asnDb).asnOf,
    families: readFamilies(settings.familiesFile),
    feed: asUsage(() => requireSourceName('--feed', feed)),
    isUnnamed: flags.feed === undefined,
    ...evidence,
    allowReserved: settings.allowReserved,
    limits,
    nowTs: currentTs,
    isComplete: flags.complete === true,
    asOfTs: asOf === undefined ? null : readTime('--as-of', asOf),
    isForced: flags.force === true,
    isStrict: flags.strict === true,
    adviseFormat: (name) => `Try: ${importCommand(name, sourceName)}`,
  };
}

const OTHER_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i;

async function openSource(name: string | undefined, settings: IngestSettings, signal: AbortSignal): Promise<Source> {
  // Not checked with FORMAT: a misspelt format, or a misspelt `import list`, is reported first.
  if (name === undefined || name === '') throw new UsageError('FILE, URL or - is missing');
  const limits = inputLimitsOf(settings);
  if (name === '-') return openStdin(limits);
  if (OTHER_SCHEME.test(name))
    throw new UsageError(`Only http and https URLs are fetched, not ${JSON.stringify(name)}`);
  if (!URL_START.test(name)) return openFile(name, limits);
  const guard = createGuard(settings.feedsAllowPrivate);
  const download = await openUrl(name, { guard, signal, inputLimits: limits });
  if (download === 'not_modified') throw new Error('304 in response to a request without validators');
  return download;
}

async function openData(place: DataPlace): Promise<{ store: Intelligence; control: Control }> {
  const control = await openNew(place, openControl);
  return { control, store: await openBeside(control, openIntelligence(place, { isForImport: true })) };
}

/** Most imports have no index to create. */
const SHOWN_AFTER_MS = 500;

/** Also after a failure: otherwise the next command would have to create them. */
async function withIndexes(
  imported: Promise<ImportReport>,
  store: Pick<Intelligence, 'createIndexes'> | undefined,
  onWait: () => void,
): Promise<ImportReport> {
  const report = await imported.catch(async (error) => {
    await store?.createIndexes?.().catch(() => {}); // the first error says more
    throw error;
  });
  const startedMs = performance.now();
  const timer = setTimeout(onWait, SHOWN_AFTER_MS);
  try {
    await store?.createIndexes?.();
  } finally {
    clearTimeout(timer);
  }
  return { ...report, seconds: report.seconds + (performance.now() - startedMs) / 1000 };
}

function reportText(report: ImportReport): string {
  const ending = {
    done: report.isOnlineOnly ? NEVER_OFFLINE : '',
    refused: `\nRefused. ${report.error}\n`,
    failed: `\nFailed. ${visible(report.error ?? '')}\n`,
    stopped: '\nStopped. Run the same command again to continue; data that is already stored does not change.\n',
  }[report.outcome];
  const counts = fieldList(countsOf(report));
  const message = fitTerminal(ending, process.stdout);
  // Nothing could be used: the reason says more than the rows, and one of them is enough.
  if (report.outcome === 'failed') return counts + message + rejectsText(report, 1);
  return counts + rejectsText(report, report.firstRejects.length) + message;
}

const NEVER_OFFLINE = `
Note: every status in this import is online, and it is not a complete listing. None of these URLs goes offline by itself.
If the source lists everything that is online, import each new version of it with --complete, or add it as a feed:
urlwarden feed add NAME --format FORMAT --url URL --complete
`;

function countsOf(report: ImportReport): [string, string][] {
  const { read, seconds, urlsAdded, eventsChanged, payloadsAdded, resolutionsChanged, filesChanged } = report;
  const rate = Math.round(read / Math.max(seconds, 0.001));
  const pairs: [string, string][] = [
    ['rows read', `${countText(read)} in ${seconds.toFixed(1)} s (${countText(rate)}/s)`],
    ['rejected', countText(report.rejected)],
  ];
  // Nothing else happened.
  if (report.outcome === 'failed') return pairs;
  if (report.id === null) {
    if (report.evidence > 0) pairs.push(['evidence', countText(report.evidence)]);
    return [...pairs, ['observations', `${countText(report.observations)} (dry run: nothing was written)`]];
  }
  pairs.push(
    ['new URLs', countText(urlsAdded)],
    ['events changed', countText(eventsChanged)],
    ['payloads added', countText(payloadsAdded)],
    ['resolutions changed', countText(resolutionsChanged)],
    ['files changed', countText(filesChanged)],
  );
  if (report.evidence > 0) {
    pairs.push(
      ['listings changed', countText(report.listingsChanged)],
      ['domains changed', countText(report.domainsChanged)],
      ['list entries changed', countText(report.listsChanged)],
    );
  }
  if (report.listingTs !== null) {
    pairs.push(['went offline', `${countText(report.wentOffline)} by the listing of ${timeText(report.listingTs)}`]);
  }
  if (report.repeatedWrites > 0) pairs.push(['repeated writes', `${countText(report.repeatedWrites)}${REPEATED}`]);
  return pairs;
}

const REPEATED =
  ': the database was unavailable. Changes whose confirmation was lost are stored, but not counted above.';

/** Of a rejected row in the report; `import rejects` shows more. */
const REJECT_MAX_LENGTH = 160;

function rejectsText({ id, rejected, firstRejects }: ImportReport, limit: number): string {
  if (rejected === 0) return '';
  const examples = firstRejects.slice(0, limit);
  const isCut = examples.some(({ text }) => text.length > REJECT_MAX_LENGTH);
  const more = (isCut || rejected > examples.length) && id !== null;
  const shown = examples.map((one) => rejectText(one, REJECT_MAX_LENGTH)).join('');
  return `\n${shown}${more ? `Show more: urlwarden import rejects ${id}\n` : ''}`;
}
