import { setImmediate } from 'node:timers/promises';
import type { Intelligence } from '../../app/stores.ts';
import { AppError } from '../../core/errors.ts';
import { EXIT_FAILURE } from '../command.ts';
import { dataCommand, openExisting, printResult } from '../data-command.ts';
import { JSON_FLAG } from '../define-command.ts';
import { counted, createProgress } from '../progress.ts';
import { stopSignal } from '../stop-signal.ts';

export const domainRebuild = dataCommand(
  {
    synopsis: 'domain rebuild',
    about: `Computes the registrable domain of every stored host again, and what follows from it. Use it after an update of
this program that brought a new list of public suffixes, and once for URLs that were stored before there were
domains. It works in small steps, also while a server is running, and can be repeated.

Ctrl-C stops it after the current step. Run the same command again to continue.`,
    flags: { json: JSON_FLAG },
  },
  async ({ flags, place }) => {
    const store = await openExisting(place);
    const { signal, dispose } = stopSignal();
    try {
      const report = await rebuild(store, signal);
      await printResult({ text: reportText(report), json: report }, flags.json);
      return report.isDone ? 0 : EXIT_FAILURE;
    } finally {
      dispose();
      await store.close();
    }
  },
);

type RebuildReport = { isDone: boolean; hostsChanged: number; urlsChanged: number };

/** The store remembers the place, so every run continues the one before it. */
async function rebuild(store: Pick<Intelligence, 'rebuildHosts'>, signal: AbortSignal): Promise<RebuildReport> {
  const progress = createProgress();
  const report: RebuildReport = { isDone: false, hostsChanged: 0, urlsChanged: 0 };
  try {
    while (!report.isDone && !signal.aborted) {
      const page = await store.rebuildHosts();
      report.isDone = page.isDone;
      report.hostsChanged += page.hostsChanged;
      report.urlsChanged += page.urlsChanged;
      progress.showStep(page.share, `${Math.floor(page.share * 100)} %: ${changesText(report)}`);
      await setImmediate(); // a signal is delivered between two iterations of the event loop
    }
    return report;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, `${error.message}. ${CONTINUE}`, { cause: error });
  } finally {
    progress.end();
  }
}

const CONTINUE = 'Run the same command again to continue.';

function reportText(report: RebuildReport): string {
  return report.isDone
    ? `The domains of all hosts are up to date: ${changesText(report)}.\n`
    : `Stopped: ${changesText(report)}. ${CONTINUE}\n`;
}

function changesText({ hostsChanged, urlsChanged }: RebuildReport): string {
  return `${counted(hostsChanged, 'host')} and ${counted(urlsChanged, 'URL')} changed`;
}
