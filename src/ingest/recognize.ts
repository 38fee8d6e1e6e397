import { isUtf8 } from 'node:buffer';
import { parseKeyNetwork } from '../core/ip/key-network.ts';
import { firstColumn } from './formats/ip-list.ts';
import type { SourceStart } from './sources/source-start.ts';

/** What a source is, by its first bytes. It is a guess, made only if the source could not be used or has no format. */
type Recognized =
  | { kind: 'format'; format: string }
  /** `what` is shown to the user, with the advice what to do about it. */
  | { kind: 'other'; what: string }
  | { kind: 'json' | 'text' };

export function recognize({ bytes, isWhole }: SourceStart): Recognized {
  const other = recognizeBytes(bytes);
  if (other !== null) return { kind: 'other', what: other };
  const text = bytes.toString();
  if (text.trim() === '') return { kind: 'other', what: isWhole ? 'The source is empty.' : 'The source begins blank.' };
  const markup = recognizeMarkup(text);
  if (markup !== null) return { kind: 'other', what: markup };
  const isJson = /^\s*[[{]/.test(text);
  const format = isJson ? recognizeJson(text) : (recognizeTable(text) ?? recognizeList(linesOf(text, isWhole)));
  if (format !== null) return { kind: 'format', format };
  const separated = isJson ? null : recognizeSeparator(linesOf(text, isWhole));
  if (separated !== null) return { kind: 'other', what: separated };
  return { kind: isJson ? 'json' : 'text' };
}

/** Signatures of files that are not unpacked; in part of a second packing, such as that of a `.tar.gz`. */
const SIGNATURES: readonly (readonly [name: string, at: number, bytes: string])[] = [
  ['an xz file', 0, '\xfd7zXZ\0'],
  ['a bzip2 file', 0, 'BZh'],
  ['a zstd file', 0, '\x28\xb5\x2f\xfd'],
  ['a 7z file', 0, '7z\xbc\xaf\x27\x1c'],
  ['a rar file', 0, 'Rar!\x1a'],
  ['a gzip file inside another one', 0, '\x1f\x8b\x08'],
  ['a zip file inside another one', 0, 'PK\x03\x04'],
  ['a tar archive', 257, 'ustar'],
];

/** What cannot be read as text; null for text. */
export function recognizeBytes(bytes: Buffer): string | null {
  if (isUtf16(bytes)) return 'This is UTF-16 text. Convert it to UTF-8 with: iconv -f UTF-16 -t UTF-8 FILE > NEW';
  const text = bytes.toString('latin1');
  const packed = SIGNATURES.find(([, at, signature]) => text.startsWith(signature, at));
  if (packed !== undefined)
    return `This is ${packed[0]}: unpack it first (only .gz and .zip are unpacked automatically).`;
  if (text.startsWith('%PDF-')) return 'This is a PDF document, not text.';
  if (text.startsWith('SQLite format 3\0')) return 'This is an SQLite database, not text.';
  return isBinary(bytes) ? 'This is binary data, not text: check that it is the right file.' : null;
}

const UTF16_MARKS = ['\xff\xfe', '\xfe\xff'];
/** Below this share of zeros in every second byte, the text is not Western and its mark was lost, or it is no text. */
const UTF16_ZEROS_MIN = 0.7;

/** By its mark; without one, every second byte of Western text is 0. */
function isUtf16(bytes: Buffer): boolean {
  if (UTF16_MARKS.includes(bytes.toString('latin1', 0, 2))) return true;
  const pairs = bytes.length >> 1;
  if (pairs < 2) return false;
  const zeros = [0, 0];
  for (let i = 0; i < pairs * 2; i++) if (bytes[i] === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  return Math.max(even, odd) > pairs * UTF16_ZEROS_MIN && Math.min(even, odd) < pairs * (1 - UTF16_ZEROS_MIN);
}

/** Text has no NUL. Latin-1 text is not UTF-8, but has no control characters either. */
function isBinary(bytes: Buffer): boolean {
  if (bytes.includes(0)) return true;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return !isUtf8(withoutCutCharacter(bytes)) && /[\x01-\x08\x0e-\x1a]/.test(bytes.toString('latin1'));
}

/** A character of UTF-8 has at most four bytes; the start may end inside one. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  const last = bytes.subarray(-3).findIndex((byte) => byte >= 0xc0);
  return last === -1 ? bytes : bytes.subarray(0, Math.max(0, bytes.length - Math.min(3, bytes.length) + last));
}

/** Longer titles are cut. */
const TITLE_MAX_LENGTH = 60;

function recognizeMarkup(text: string): string | null {
  if (/^\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype html|html|head|body)\b/i.test(text)) {
    // Blanks are removed afterwards: as part of the expression, 3,000 of them took 18 s.
    const title = /<title[^>]*>([^<]*)</i.exec(text)?.[1]?.trim().slice(0, TITLE_MAX_LENGTH);
    const quoted = title ? ` (${JSON.stringify(title)})` : '';
    return `This is an HTML page${quoted}, perhaps an error or a login page: check where it comes from.`;
  }
  return /^\s*<(?:\?xml|[a-z!])/i.test(text) ? 'This is XML, which no format reads.' : null;
}

type Sign = readonly [format: string, ...signs: RegExp[]];

/** All signs of a format are in its first bytes. The first match counts. */
const JSON_SIGNS: readonly Sign[] = [
  ['drop-json', /^\s*\{[^{}]*"(?:cidr|asn)"\s*:[^{}]*\}\s*\n/, /"sblid"|"rir"/],
  ['stix', /"type"\s*:\s*"bundle"|"spec_version"\s*:/],
  ['misp', /^\s*(?:\{\s*"(?:Event|response)"\s*:|\[\s*\{\s*"Event"\s*:)/],
  ['misp', /^\s*\{\s*"[0-9a-f]{8}-[0-9a-f-]{27}"\s*:/i],
  ['misp-warninglist', /"(?:matching_attributes|list)"\s*:\s*\[/],
  ['urlhaus-json', /"dateadded"\s*:/, /"url_status"\s*:/],
  ['threatfox-json', /"ioc(?:_value)?"\s*:/, /"threat_type"\s*:/],
  ['feodo-json', /"ip_address"\s*:/, /"first_seen"\s*:/],
  ['ndjson', /^\s*\{[^\n]*"ts"\s*:\s*\d[^\n]*\}/, /"(?:url|domain|dataset)"\s*:/],
];

function recognizeJson(text: string): string | null {
  return bySigns(JSON_SIGNS, text);
}

/** Names of columns in a header, or the first columns of a row of a file without one. */
const TABLE_SIGNS: readonly Sign[] = [
  ['urlhaus-csv', /\bdateadded\b/, /\burl_status\b/],
  ['urlhaus-payloads', /\bfirstseen\b/, /\bfiletype\b/],
  ['malwarebazaar-csv', /\bsha256_hash\b/, /\bfile_type_guess\b/],
  ['threatfox-csv', /\bioc_value\b/, /\bthreat_type\b/],
  ['feodo-csv', /\bfirst_seen_utc\b/, /\bdst_ip\b/],
  ['urlhaus-csv', /^"?\d+"?,\s*"?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"?,\s*"?(?:https?|ftp):/],
  ['urlhaus-payloads', /^"?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"?,\s*"?(?:https?|ftp):/],
];

/** The signs are on one line, with commas: a table with other separators cannot be read. */
function recognizeTable(text: string): string | null {
  for (const line of text.split('\n')) {
    const format = line.includes(',') ? bySigns(TABLE_SIGNS, line) : null;
    if (format !== null) return format;
  }
  return null;
}

function bySigns(table: readonly Sign[], text: string): string | null {
  return table.find(([, ...signs]) => signs.every((sign) => sign.test(text)))?.[0] ?? null;
}

const URL_LINE = /^(?:h..ps?|f.ps?)(?::|\[:\])\/\/|^(?:h..ps?|f.ps?)\[:\/\/\]/i;
const NAME_LINE = /^(?:\*?\.)?(?:[a-z0-9_-]+(?:\.|\[\.\]|\(\.\)))+[a-z0-9-]{2,}\.?$/i;
const HOSTS_LINE = /^(?:0\.0\.0\.0|127\.0\.0\.1|::1?)\s+\S/;
const RANK_LINE = /^[1-9]\d*,[^,\s]+\.[^,\s]+$/;

/** Formats with one entry per line: more than half of the lines must have the same shape. */
function recognizeList(lines: readonly string[]): string | null {
  const most = (isSo: (line: string) => boolean) => lines.filter(isSo).length * 2 > lines.length;
  if (most((line) => URL_LINE.test(line))) return 'url-list';
  if (most((line) => HOSTS_LINE.test(line))) return 'domain-list';
  if (most((line) => parseKeyNetwork(firstColumn(line) ?? '') !== null)) return 'ip-list';
  if (most((line) => NAME_LINE.test(line))) return 'domain-list';
  return most((line) => RANK_LINE.test(line)) ? 'top-list' : null;
}

const SEPARATORS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['semicolons', /;/g],
  ['tabs', /\t/g],
  ['vertical bars', /\|/g],
];
/** A table has at least this many separators in its first line; a text may have one. */
const SEPARATORS_MIN = 2;

function recognizeSeparator([first = '']: readonly string[]): string | null {
  const countOf = (pattern: RegExp) => first.match(pattern)?.length ?? 0;
  const found = SEPARATORS.find(([, pattern]) => countOf(pattern) >= Math.max(SEPARATORS_MIN, countOf(/,/g)));
  if (found === undefined) return null;
  return `The columns are separated by ${found[0]}; every CSV format needs commas. Save it again with commas.`;
}

/** Lines that are neither blank nor comments; without the last one, if it may be cut off. */
function linesOf(text: string, isWhole: boolean): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  if (!isWhole && lines.length > 1) lines.pop();
  return lines.filter((line) => line !== '' && !/^[#;]/.test(line));
}
