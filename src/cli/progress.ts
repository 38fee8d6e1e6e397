import type { ImportProgress } from '../ingest/import.ts';

/** Often enough to look alive, seldom enough to cost nothing. */
const REDRAW_MS = 100;
/** Where output goes to a log. */
const LINE_MS = 10_000;
const BAR_WIDTH = 24;
/** Of a terminal that does not tell its width, or tells 0, as a new one does. */
const UNKNOWN_COLUMNS = 80;

export type ProgressOutput = { isTTY?: boolean; columns?: number; write(text: string): unknown };

/** Shows how far a long run is: redrawn in place on a terminal, otherwise a line now and then. */
export function createProgress(output: ProgressOutput = process.stderr, nowMs: () => number = () => performance.now()) {
  const isTerminal = output.isTTY === true;
  let shownMs = isTerminal ? Number.NEGATIVE_INFINITY : nowMs();
  let isDrawn = false;

  return {
    show(progress: ImportProgress): void {
      if (nowMs() - shownMs < (isTerminal ? REDRAW_MS : LINE_MS)) return;
      shownMs = nowMs();
      if (!isTerminal) output.write(`${progressText(progress)}\n`);
      else
        output.write(
          `\r\u001b[K${`${bar(progress)}${progressText(progress)}`.slice(0, (output.columns || UNKNOWN_COLUMNS) - 1)}`,
        );
      isDrawn = isTerminal;
    },

    /** Takes the bar away, so that what is written next begins a line. */
    end(): void {
      if (isDrawn) output.write('\r\u001b[K');
      isDrawn = false;
    },
  };
}

function bar(progress: ImportProgress): string {
  const share = shareOf(progress);
  if (share === null) return '';
  const done = Math.floor(share * BAR_WIDTH);
  return `[${'#'.repeat(done)}${'-'.repeat(BAR_WIDTH - done)}] `;
}

function progressText(progress: ImportProgress): string {
  const { rows, rejected, seconds } = progress;
  const share = shareOf(progress);
  return [
    `${count(rows)} rows`,
    `${count(Math.round(rows / Math.max(seconds, 0.001)))}/s`,
    ...(rejected > 0 ? [`${count(rejected)} rejected`] : []),
    ...(share === null ? [] : [`${Math.floor(share * 100)} %`]),
    ...(share === null || share < 0.001 ? [] : [`${clock((seconds * (1 - share)) / share)} left`]),
  ].join(', ');
}

function shareOf({ readBytes, totalBytes }: ImportProgress): number | null {
  return totalBytes === null || totalBytes === 0 ? null : Math.min(1, readBytes / totalBytes);
}

/** 1:02:03, 2:03 */
function clock(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = `${Math.floor(seconds % 60)}`.padStart(2, '0');
  return hours > 0 ? `${hours}:${`${minutes}`.padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** With a comma between thousands, whatever the language of the machine. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}
