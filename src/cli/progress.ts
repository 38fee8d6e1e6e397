import type { ImportProgress } from '../ingest/import.ts';
import type { Waiting } from '../ingest/retry.ts';

/** Between two updates of the bar. */
const REDRAW_MS = 100;
/** Between two lines if the output is not a terminal but, for example, a log. */
const LINE_MS = 10_000;
const BAR_WIDTH = 24;
const MIN_BAR_WIDTH = 4;
/** Used if the terminal does not report its width, or reports 0, as a new one does. */
const UNKNOWN_COLUMNS = 80;

/** Moves the cursor to the beginning of the line and erases it (ECMA-48, EL). */
const CLEAR_LINE = '\r\u001b[K';

type ProgressOutput = { isTTY?: boolean; columns?: number; write(text: string): unknown };

/** Shows the progress of a long run: a bar that is redrawn on a terminal, otherwise a line every ten seconds. */
export function createProgress(output: ProgressOutput = process.stderr, nowMs: () => number = () => performance.now()) {
  const isTerminal = output.isTTY === true;
  let shownMs = isTerminal ? Number.NEGATIVE_INFINITY : nowMs();
  let isDrawn = false;
  let isWaiting = false;

  const isTooSoon = () => nowMs() - shownMs < (isTerminal ? REDRAW_MS : LINE_MS);

  function write(share: number | null, text: string): void {
    shownMs = nowMs();
    isDrawn = isTerminal;
    if (!isTerminal) output.write(`${text}\n`);
    else output.write(CLEAR_LINE + withBar(share, text, (output.columns || UNKNOWN_COLUMNS) - 1));
  }

  /** The first line of a wait is shown at once. */
  function showWait(share: number | null, text: string): void {
    if (isWaiting && isTooSoon()) return;
    isWaiting = true;
    write(share, text);
  }

  return {
    show(progress: ImportProgress): void {
      if (isTooSoon()) return;
      isWaiting = false;
      write(shareOf(progress), progressText(progress));
    },

    /** Shows the finished share of any other work, null if unknown. On a terminal, `isLong` shows it even if the bar is new. */
    showStep(share: number | null, text: string, isLong = false): void {
      isWaiting = false;
      if (!isTooSoon() || (isLong && isTerminal)) write(share, text);
    },

    showWait,

    showWaiting({ reason, seconds }: Waiting): void {
      showWait(null, `Waiting for the database, ${clock(seconds)}. ${reason}`);
    },

    /** Removes the bar, so that the next output starts at the beginning of a line. The next step draws it again at once. */
    end(): void {
      if (!isDrawn) return;
      output.write(CLEAR_LINE);
      isDrawn = false;
      shownMs = Number.NEGATIVE_INFINITY;
    },
  };
}

/** The text is worth more than the bar: where it is narrow, the bar is shorter, or missing. */
function withBar(share: number | null, text: string, columns: number): string {
  const width = Math.min(BAR_WIDTH, columns - text.length - '[] '.length);
  if (share === null || width < MIN_BAR_WIDTH) return text.slice(0, columns);
  const done = Math.floor(share * width);
  return `[${'#'.repeat(done)}${'-'.repeat(width - done)}] ${text}`;
}

function progressText(progress: ImportProgress): string {
  const { rows, rejected, seconds } = progress;
  const share = shareOf(progress);
  return [
    counted(rows, 'row'),
    `${countText(Math.round(rows / Math.max(seconds, 0.001)))}/s`,
    ...(rejected > 0 ? [`${countText(rejected)} rejected`] : []),
    ...(share === null ? [] : [`${Math.floor(share * 100)} %`]),
    ...(share === null || share < 0.001 ? [] : [`${clock((seconds * (1 - share)) / share)} left`]),
  ].join(', ');
}

export function shareOf({ readBytes, totalBytes }: Pick<ImportProgress, 'readBytes' | 'totalBytes'>): number | null {
  return totalBytes === null || totalBytes === 0 ? null : Math.min(1, readBytes / totalBytes);
}

/** 1:02:03, 2:03 */
function clock(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = `${Math.floor(seconds % 60)}`.padStart(2, '0');
  return hours > 0 ? `${hours}:${`${minutes}`.padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** With a comma between thousands in every locale. */
export function countText(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 row`, `2 rows`, `1,234 rows`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${countText(count)} ${count === 1 ? noun : plural}`;
}
