import type { ImportReport } from '../../../ingest/report.ts';
import { count } from '../../progress.ts';
import { listing, timeText } from '../../table.ts';
import { rejectText } from './rejects.ts';

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
