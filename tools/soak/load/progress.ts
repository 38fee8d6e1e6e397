import type { ServerProcess } from '../../shared/server-process.ts';
import type { Generator, Report } from './generator.ts';
import type { Problems } from './problems.ts';
import type { Resources } from './resources.ts';

export type Totals = { answered: number; statuses: Record<string, number> };

type ProgressOptions = {
  generator: Generator;
  resources: Resources;
  server: ServerProcess;
  /** Requests a second that should be sent. */
  rate: number;
  problems: Problems;
  log(text: string): void;
};

/** Prints a line a minute. */
export type Progress = {
  /** Prints the sums. */
  end(): Totals;
};

const REPORT_MS = 60_000;

export function createProgress({ generator, resources, server, rate, problems, log }: ProgressOptions): Progress {
  const totals = { seconds: 0, answered: 0, unsent: 0, statuses: {} as Record<string, number> };

  function add(report: Report): void {
    totals.seconds += report.seconds;
    totals.answered += report.answered;
    totals.unsent += report.unsent;
    for (const [name, count] of Object.entries(report.statuses)) {
      totals.statuses[name] = (totals.statuses[name] ?? 0) + count;
    }
  }

  async function report(): Promise<void> {
    const minute = generator.report();
    add(minute);
    // A slow machine lowers the rate, which is no fault of the server. No response at all is one.
    if (minute.answered === 0) problems.add('no response for a minute', new Date().toISOString());
    const memory = `${resources.memoryMb().toFixed(0)} MB, ${resources.openFiles()} files`;
    const delay = await loopDelay(server.metricsUrl);
    log(`${new Date().toISOString().slice(11, 19)} ${rateText(minute, rate)}, ${memory}, event loop p99 ${delay}`);
  }

  const timer = setInterval(() => void report(), REPORT_MS);
  return {
    end() {
      clearInterval(timer);
      add(generator.report());
      const { answered, seconds, unsent, statuses } = totals;
      const share = ((answered / (answered + unsent)) * 100).toFixed(1);
      log(`  ${answered} responses in ${(seconds / 60).toFixed(1)} minutes (${statusText(statuses)})`);
      log(`  ${share} % of the chosen load could be sent${Number(share) < 90 ? ': the machine was too busy' : ''}`);
      return { answered, statuses };
    },
  };
}

function rateText({ seconds, answered, p50Ms, p99Ms, statuses }: Report, rate: number): string {
  const perSecond = answered / seconds;
  const share = Math.round((perSecond / rate) * 100);
  const times = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
  return `${Math.round(perSecond)}/s (${share} %), ${times}, ${statusText(statuses)}`;
}

function statusText(statuses: Record<string, number>): string {
  return Object.entries(statuses)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ');
}

/** Since the previous call. 10 ms is an idle loop. */
async function loopDelay(metricsUrl: string | null): Promise<string> {
  try {
    const text = await (await fetch(metricsUrl ?? '')).text();
    const seconds = Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1]);
    return `${(seconds * 1_000).toFixed(0)} ms`;
  } catch {
    return 'unknown';
  }
}
