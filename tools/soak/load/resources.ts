import { readdirSync, readFileSync } from 'node:fs';

/** Samples of what a process uses, from /proc. */
export type Resources = {
  memoryMb(): number;
  openFiles(): number;
  /** Over the last two thirds of the samples. */
  trend(): Trend;
  stop(): void;
};

export type Trend = {
  mbPerHour: number;
  /** By how much the fitted line rises over these samples. */
  grownMb: number;
  minutes: number;
  firstOpenFiles: number;
  lastOpenFiles: number;
};

/** Memory in MB at a time in ms. */
type Sample = { ms: number; mb: number; files: number };

const SAMPLE_MS = 2_000;

/** A leak of one byte per request at 8,000 requests a second is 28 MB an hour. */
const MAX_MB_PER_HOUR = 20;
/** Garbage that was not collected yet when the samples begin or end. */
const NOISE_MB = 10;
/** In the first minutes the heap grows to the size that the load needs. */
const MIN_MINUTES = 5;

/** Null: the samples are too few to distinguish growth from noise. */
export function maxGrownMb(minutes: number): number | null {
  return minutes < MIN_MINUTES ? null : NOISE_MB + (MAX_MB_PER_HOUR * minutes) / 60;
}

/** The server keeps a varying number of connections to PostgreSQL, 13 at most, and opens files for a moment. */
export const MAX_GROWN_FILES = 20;

export function watchResources(pid: number): Resources {
  const samples: Sample[] = [];
  const sample = () => samples.push({ ms: performance.now(), mb: memoryMb(pid), files: openFiles(pid) });
  const timer = setInterval(() => {
    // The process may have ended, which is reported elsewhere.
    try {
      sample();
    } catch {
      clearInterval(timer);
    }
  }, SAMPLE_MS);
  sample();
  return {
    memoryMb: () => samples.at(-1)?.mb ?? Number.NaN,
    openFiles: () => samples.at(-1)?.files ?? Number.NaN,
    trend: () => trendOf(samples.slice(Math.floor(samples.length / 3))),
    stop: () => clearInterval(timer),
  };
}

/** Anonymous memory: mapped files, such as the database, do not count. */
function memoryMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** The slope by least squares. */
export function trendOf(samples: readonly Sample[]): Trend {
  const meanMs = mean(samples.map(({ ms }) => ms));
  const meanMb = mean(samples.map(({ mb }) => mb));
  const spread = samples.reduce((sum, { ms }) => sum + (ms - meanMs) ** 2, 0);
  const common = samples.reduce((sum, { ms, mb }) => sum + (ms - meanMs) * (mb - meanMb), 0);
  const mbPerMs = spread === 0 ? 0 : common / spread;
  const [first, last] = [samples[0] as Sample, samples.at(-1) as Sample];
  return {
    mbPerHour: mbPerMs * 3_600_000,
    grownMb: mbPerMs * (last.ms - first.ms),
    minutes: (last.ms - first.ms) / 60_000,
    firstOpenFiles: first.files,
    lastOpenFiles: last.files,
  };
}

function mean(numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
