import type { DomainKind } from '../../core/evidence.ts';
import { MAX_TAGS, NO_TAGS, tagFault } from '../../core/observation.ts';
import { foldFamily, textFault } from '../../core/text.ts';

/** Texts that mean "unknown" in public dumps. */
const NULLS = new Set(['', 'None', 'n/a']);
const SHA256 = /^[0-9a-fA-F]{64}$/;

/** The trimmed text; null if it means "unknown" or cannot be stored. Every imported text can be exported. */
export function toText(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  return NULLS.has(text) || textFault(text) !== null ? null : text;
}

/** null if unknown, undefined if it is not a hash. */
export function toSha256(value: unknown): string | null | undefined {
  const text = toText(value);
  if (text === null) return typeof value === 'string' && !NULLS.has(value.trim()) ? undefined : null;
  return SHA256.test(text) ? text.toLowerCase() : undefined;
}

/**
 * A list of texts, or one text with commas. Tags that cannot be stored are left out, as other texts of a row: no row is
 * rejected because of them.
 */
export function toTags(value: unknown): readonly string[] {
  const given = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : NO_TAGS;
  const tags: string[] = [];
  for (const value of given) {
    if (tags.length === MAX_TAGS) break;
    const tag = typeof value === 'string' ? value.trim() : '';
    if (!NULLS.has(tag) && !tags.includes(tag) && tagFault(tag) === null) tags.push(tag);
  }
  return tags.length === 0 ? NO_TAGS : tags;
}

const SPACE = 0x20;
const DASH = 0x2d;
const ZERO = 0x30;
const COLON = 0x3a;
const DAYS_PER_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const FIRST_YEAR = 1970;

/** Length of `2025-07-17 17:19:14`. */
const TIME_LENGTH = 19;
const DAY_LENGTH = 10;
const ZONE = / UTC$/;
const OFFSET = /^(?:\.\d+)?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** Unix seconds of `2025-07-17 17:19:14`, with or without ` UTC`; null if invalid. */
export function parseUtc(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const text = value.length === TIME_LENGTH ? value : value.replace(ZONE, '');
  return text.length === TIME_LENGTH && text.charCodeAt(10) === SPACE ? parseTime(text) : null;
}

/** Unix seconds of the beginning of a day such as `2025-07-17` in UTC; null if invalid. */
export function parseDay(value: unknown): number | null {
  return typeof value === 'string' && value.length === DAY_LENGTH ? parseTime(`${value} 00:00:00`) : null;
}

/** Unix seconds of an RFC 3339 time such as `2025-07-17T17:19:14.000Z` or `…+00:00`, without fractions; null if invalid. */
export function parseIsoTime(value: unknown): number | null {
  if (typeof value !== 'string' || value.charAt(10) !== 'T') return null;
  const offset = OFFSET.exec(value.slice(TIME_LENGTH));
  const ts = parseTime(value);
  if (offset === null || ts === null) return null;
  const seconds = Number(offset[2] ?? 0) * 3600 + Number(offset[3] ?? 0) * 60;
  return offset[1] === '-' ? ts + seconds : Math.max(ts - seconds, 0);
}

/**
 * Refuses days that do not exist; `Date` would continue into the next month. Digit by digit: each row of a dump has two
 * times, and a regular expression takes three times as long.
 */
function parseTime(text: string): number | null {
  const year = digits(text, 0) * 100 + digits(text, 2);
  const month = digits(text, 5);
  const day = digits(text, 8);
  const hour = digits(text, 11);
  const minute = digits(text, 14);
  const second = digits(text, 17);
  // A character that is not a digit becomes NaN, which fails every comparison.
  const isTime =
    hasSeparators(text) && year >= FIRST_YEAR && hour <= 23 && minute <= 59 && second <= 59 && isDay(year, month, day);
  return isTime ? Date.UTC(year, month - 1, day, hour, minute, second) / 1000 : null;
}

function digits(text: string, at: number): number {
  return digit(text.charCodeAt(at)) * 10 + digit(text.charCodeAt(at + 1));
}

function digit(code: number): number {
  return code >= ZERO && code <= ZERO + 9 ? code - ZERO : Number.NaN;
}

function hasSeparators(text: string): boolean {
  return (
    text.charCodeAt(4) === DASH &&
    text.charCodeAt(7) === DASH &&
    text.charCodeAt(13) === COLON &&
    text.charCodeAt(16) === COLON
  );
}

function isDay(year: number, month: number, day: number): boolean {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && isLeap ? 29 : (DAYS_PER_MONTH[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

/** Unix seconds in MISP: a number, or a string of digits. */
export function parseSeconds(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || !/^\d{1,10}$/.test(text)) return null;
  return Number(text) || null;
}

/** Case-insensitive; keeps the first spelling. */
export function distinctFamilies(names: (string | null)[]): string[] {
  const byKey = new Map<string, string>();
  for (const name of names) {
    if (name !== null && !byKey.has(foldFamily(name))) byKey.set(foldFamily(name), name);
  }
  return [...byKey.values()];
}

/** null if there are several: the family of the file is ambiguous. */
export function onlyFamily(names: (string | null)[]): string | null {
  const families = distinctFamilies(names);
  return families.length === 1 ? (families[0] ?? null) : null;
}

/** Words for a botnet controller in tags, labels and comments. */
const CONTROLLER = /command[ _-]?(?:and|&)[ _-]?control|(?:^|[^a-z0-9])(?:c2|c&c|cnc)(?![a-z0-9])/i;
const PHISHING = /phish/i;

/** The first one that is there counts. */
const KINDS_OF_LABELS: readonly DomainKind[] = ['botnetcc', 'phishing', 'malware'];

/** What a name is, by labels and tags; `malware` if they say nothing else. */
export function kindOf(labels: readonly string[]): DomainKind {
  if (labels.some((label) => CONTROLLER.test(label))) return 'botnetcc';
  return labels.some((label) => PHISHING.test(label)) ? 'phishing' : 'malware';
}

/** What `kindOf` returns for the labels of all of these together. */
export function commonKind(kinds: readonly DomainKind[]): DomainKind {
  return KINDS_OF_LABELS.find((kind) => kinds.includes(kind)) ?? 'malware';
}

/** The times of a sighting: the last one only if it is later. */
export function seenTimes(firstTs: number, lastTs: number | null): number[] {
  return lastTs !== null && lastTs > firstTs ? [firstTs, lastTs] : [firstTs];
}
