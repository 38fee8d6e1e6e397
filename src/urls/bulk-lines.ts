import { isUtf8 } from 'node:buffer';
import { URL_ERRORS } from '../core/url/errors.ts';
import { isPlainUrl, normalizeUrl } from '../core/url/normalize.ts';
import type { Json } from './wire.ts';

// The lines of a bulk request: from bytes to texts, from texts to URLs.

/** Unpacked. All of it may have to be kept, since many clients send everything before they read. */
export const MAX_BULK_BYTES = 8 * 2 ** 20;
/** Room for a URL of the greatest length, with every character escaped in JSON. */
export const MAX_LINE_BYTES = 64 * 1024;
/** Bytes that are decoded at once: a line of the greatest length and its end. */
const WINDOW_BYTES = MAX_LINE_BYTES + 1;
const NEWLINE = 0x0a;

/** The text of a line, without blanks around it, or why it cannot be read. */
export type Line = string | { fault: string };

const TOO_LONG: Line = { fault: `The line is longer than ${MAX_LINE_BYTES / 1024} KiB` };
const NOT_UTF8: Line = { fault: 'The line is not valid UTF-8' };

type LineBuffer = {
  /** Keeps the bytes. Returns false if the body has become too large; then only the first of them are kept. */
  push(chunk: Uint8Array): boolean;
  /** The last line needs no newline. */
  end(): void;
  /** The next complete lines that are not blank, at most `max`. Null: there is none yet. Empty: ask again. */
  take(max: number): Line[] | null;
};

export function createLineBuffer(): LineBuffer {
  let bytes = Buffer.alloc(0);
  let [start, end, total] = [0, 0, 0];
  let isEnded = false;
  /** Inside a line that is too long. */
  let isSkipping = false;
  let decoded: Line[] = [];
  let next = 0;

  /** Doubles, so that bytes are copied once or twice however small the chunks are. */
  function makeRoom(needed: number): void {
    if (end + needed <= bytes.length) return;
    const kept = bytes.subarray(start, end);
    if (kept.length + needed > bytes.length / 2) {
      bytes = Buffer.allocUnsafeSlow(Math.max(WINDOW_BYTES, 2 * (kept.length + needed)));
    }
    kept.copy(bytes);
    [start, end] = [0, kept.length];
  }

  /** Decodes the next window. Returns false if it has no complete line. */
  function decode(): boolean {
    if (isSkipping) skip();
    if (start === end) return false;
    const region = bytes.subarray(start, Math.min(end, start + WINDOW_BYTES));
    let length = region.lastIndexOf(NEWLINE);
    if (length === -1) {
      if (region.length === WINDOW_BYTES) return refuseLine(region.length);
      if (!isEnded) return false;
      length = region.length;
    }
    decoded = linesOf(region.subarray(0, length));
    next = 0;
    start += Math.min(length + 1, region.length);
    return true;
  }

  function refuseLine(length: number): true {
    [decoded, next] = [[TOO_LONG], 0];
    isSkipping = true;
    start += length;
    return true;
  }

  function skip(): void {
    const newline = bytes.subarray(start, end).indexOf(NEWLINE);
    isSkipping = newline === -1;
    start = isSkipping ? end : start + newline + 1;
  }

  return {
    push(chunk) {
      const kept = chunk.subarray(0, MAX_BULK_BYTES - total);
      makeRoom(kept.length);
      bytes.set(kept, end);
      end += kept.length;
      total += kept.length;
      return kept.length === chunk.length;
    },
    end() {
      isEnded = true;
    },
    take(max) {
      if (next === decoded.length && !decode()) return null;
      const taken: Line[] = [];
      while (taken.length < max && next < decoded.length) {
        const line = decoded[next++];
        if (line !== undefined && line !== '') taken.push(line);
      }
      return taken;
    },
  };
}

/** One check and one conversion for all lines: a third of the time of one for each. */
function linesOf(bytes: Buffer): Line[] {
  if (!isUtf8(bytes)) return bytesOfLines(bytes).map((line) => (isUtf8(line) ? line.toString().trim() : NOT_UTF8));
  return bytes
    .toString()
    .split('\n')
    .map((line) => line.trim());
}

function bytesOfLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start <= bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

/** A line of the request: a normalized URL, or why there is none. `ref` is JSON, null if none was sent. */
export type BulkQuery = { ref: Json | null; url: string; fault: null } | { ref: Json | null; url: null; fault: string };

export type BulkFormat = 'ndjson' | 'text';

/** The format of a body whose content type does not say it, from its first line that can be read; null: there is none yet. */
export function formatOf(lines: readonly Line[]): BulkFormat | null {
  const first = lines.find((line) => typeof line === 'string');
  if (first === undefined) return null;
  return first.startsWith('{') ? 'ndjson' : 'text';
}

/** Null: of lines that cannot be read. */
export function parserOf(format: BulkFormat | null): (line: Line) => BulkQuery {
  const parse = format === 'ndjson' ? parseJsonLine : (text: string) => queryOf(text, null);
  return (line) => (typeof line === 'string' ? parse(line) : refused(line.fault));
}

const refused = (fault: string, ref: Json | null = null): BulkQuery => ({ ref, url: null, fault });

function parseJsonLine(line: string): BulkQuery {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refused('The line is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refused('The line must be a JSON object');
  const { url, ref, ...others } = value as { url?: unknown; ref?: unknown };
  if (ref !== undefined && !isRef(ref)) return refused('"ref" must be a string, or a number that JSON keeps exactly');
  const sentRef = ref === undefined ? null : JSON.stringify(ref);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return refused(`Unknown key ${JSON.stringify(unknown)}`, sentRef);
  if (url === undefined) return refused('"url" is missing', sentRef);
  if (typeof url !== 'string') return refused('"url" must be a string', sentRef);
  return queryOf(url, sentRef);
}

/** A greater integer would come back as another one. */
const isRef = (ref: unknown): boolean =>
  typeof ref === 'string' ||
  (typeof ref === 'number' && Number.isFinite(ref) && Math.abs(ref) <= Number.MAX_SAFE_INTEGER);

function queryOf(text: string, ref: Json | null): BulkQuery {
  if (isPlainUrl(text)) return { ref, url: text, fault: null };
  const normal = normalizeUrl(text);
  return normal.ok ? { ref, url: normal.url, fault: null } : refused(`url: ${URL_ERRORS[normal.error]}`, ref);
}
