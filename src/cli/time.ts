import { UsageError } from './command.ts';

/** 2026-01-31, or with a time of day, which is UTC unless it says otherwise. */
const ISO_8601 = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** A time as it is typed: Unix seconds or ISO 8601. */
export function readTime(flag: string, text: string): number {
  const ts = /^\d{1,12}$/.test(text) ? Number(text) : isoTs(text);
  if (Number.isFinite(ts)) return ts;
  throw new UsageError(`${flag} must be Unix seconds or a time such as 2026-01-31T12:00:00Z`);
}

function isoTs(text: string): number {
  const match = ISO_8601.exec(text);
  if (match === null) return Number.NaN;
  const isBare = match[1] === undefined && text.length > '2026-01-31'.length;
  return Math.floor(Date.parse(isBare ? `${text}Z` : text) / 1000);
}
