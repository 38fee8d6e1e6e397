import { UsageError } from './command.ts';

/** 2026-01-31, or with a time of day, which is in UTC if it has no offset. */
const ISO_8601 = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

const DAY_LENGTH = '2026-01-31'.length;

/** Not `m`: a person who writes 6m for a time in the past may mean months. */
const AGO = /^\d+[dh]$/;

/** Parses the value of a flag: Unix seconds, ISO 8601, or how long ago in days or hours (`30d`, `12h`). */
export function readTime(flag: string, text: string): number {
  const ts = agoTs(text) ?? fixedTs(text);
  if (Number.isFinite(ts)) return ts;
  throw new UsageError(
    `${flag} must be Unix seconds or a time such as 2026-01-31T12:00:00Z, or 30d or 12h ago, not ${JSON.stringify(text)}`,
  );
}

/** The same for a time in the future: Unix seconds or ISO 8601. `--for` says how long. */
export function readEndTime(flag: string, text: string): number {
  const ts = fixedTs(text);
  if (Number.isFinite(ts)) return ts;
  throw new UsageError(
    `${flag} must be Unix seconds or a time such as 2026-12-31 or 2026-12-31T12:00:00Z, not ${JSON.stringify(text)}. To say how long: --for 30d`,
  );
}

/** NaN for any other text. */
function fixedTs(text: string): number {
  return /^\d{1,12}$/.test(text) ? Number(text) : isoTs(text);
}

/** Null also for a time before 1970. */
function agoTs(text: string): number | null {
  const seconds = AGO.test(text) ? parseSpan(text) : null;
  return seconds === null || seconds > currentTs() ? null : currentTs() - seconds;
}

function isoTs(text: string): number {
  const match = ISO_8601.exec(text);
  if (match === null || !isDay(text.slice(0, DAY_LENGTH))) return Number.NaN;
  const lacksOffset = match[1] === undefined && text.length > DAY_LENGTH;
  return Math.floor(Date.parse(lacksOffset ? `${text}Z` : text) / 1000);
}

/** `Date` would continue into the next month: 2026-02-30 would be 2 March. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text);
}

/** Unix seconds of the system clock. */
export function currentTs(): number {
  return Math.floor(Date.now() / 1000);
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** `90s`, `5m`, `1h`, `7d` as seconds; null for any other text. */
export function parseSpan(text: string): number | null {
  const match = /^([1-9]\d{0,5})([dhms])$/.exec(text);
  const unit = UNITS.find(([name]) => name === match?.[2]);
  return match === null || unit === undefined ? null : Number(match[1]) * unit[1];
}

type SpanBounds = { least: number; greatest: number; examples: string };

/** Parses the value of a flag: `12h`, within bounds in seconds. One that was not given is undefined. */
export function readSpan(flag: string, text: string | undefined, bounds: SpanBounds): number | undefined {
  if (text === undefined) return undefined;
  const { least, greatest, examples } = bounds;
  const seconds = parseSpan(text);
  if (seconds !== null && seconds >= least && seconds <= greatest) return seconds;
  const range = `from ${spanFlag(least)} to ${spanFlag(greatest)}`;
  throw new UsageError(`${flag} must be a time ${range}, such as ${examples}, not ${JSON.stringify(text)}`);
}

/** As a flag has it: `30d`. */
export function spanFlag(seconds: number): string {
  return spanText(seconds).replace(' ', '');
}

/** In the largest unit that fits at least twice, or exactly once; rounded down: `5 m`, `90 m`, `1 h`, `26 h`, `2 d`. */
export function spanText(seconds: number): string {
  const [name, size] = UNITS.find(([, unit]) => seconds >= 2 * unit || seconds === unit) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${name}`;
}
