import { isAscii, isUtf8 } from 'node:buffer';
import { type InputLimits, type Item, type ParsedRow, reject, type Source, toItem } from './format.ts';

type LineFault = 'too_long' | 'invalid_unicode';

const FAULTS: Record<LineFault | 'nul', string> = {
  too_long: 'the line is longer than --max-line-bytes',
  invalid_unicode: 'the line is not valid UTF-8; convert the file',
  nul: 'the line contains a NUL byte; convert the file to UTF-8 text',
};

/** A line without its line feed, or the error and the start of the line. */
export type Line = { ok: true; text: string } | { ok: false; error: LineFault; text: string };

const LINE_FEED = 0x0a;
const EMPTY = Buffer.alloc(0);
/** Shown of an invalid line, so that it can be found in the file. */
const SHOWN_BYTES = 1024;

/** Splits a stream into lines; yields the lines of each chunk together. Only the start of an overlong line is buffered. */
export async function* readLines(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Line[]> {
  let rest: Buffer = EMPTY;
  for await (const chunk of source) {
    const lines: Line[] = [];
    const decode = decoderOf(chunk, maxBytes);
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      if (rest.length === 0) {
        lines.push(decode(start, end));
      } else {
        lines.push(toLine(joined(rest, chunk.subarray(start, end), maxBytes), maxBytes));
        rest = EMPTY;
      }
      start = end + 1;
    }
    rest = joined(rest, chunk.subarray(start), maxBytes);
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [toLine(rest, maxBytes)];
}

/**
 * Most input is ASCII: checking a whole chunk and then copying bytes takes a third of the time of decoding each line as
 * UTF-8. Not one string per chunk: each substring would keep the whole chunk in memory.
 */
function decoderOf(chunk: Buffer, maxBytes: number): (start: number, end: number) => Line {
  if (!isAscii(chunk)) return (start, end) => toLine(chunk.subarray(start, end), maxBytes);
  return (start, end) =>
    end - start > maxBytes
      ? toLine(chunk.subarray(start, end), maxBytes)
      : { ok: true, text: chunk.toString('latin1', start, end) };
}

/** Keeps one byte more than the limit, so that an overlong line is detected. */
function joined(rest: Buffer, piece: Buffer, maxBytes: number): Buffer {
  const room = maxBytes + 1 - rest.length;
  if (room <= 0 || piece.length === 0) return rest;
  return rest.length === 0 ? Buffer.from(piece.subarray(0, room)) : Buffer.concat([rest, piece.subarray(0, room)]);
}

/** Strict decoding: replacement characters would make different inputs equal. */
function toLine(bytes: Buffer, maxBytes: number): Line {
  if (bytes.length > maxBytes) return { ok: false, error: 'too_long', text: shown(bytes) };
  if (!isUtf8(bytes)) return { ok: false, error: 'invalid_unicode', text: shown(bytes) };
  return { ok: true, text: bytes.toString() };
}

function shown(bytes: Buffer): string {
  return bytes.toString('utf8', 0, SHOWN_BYTES);
}

/** The reason of a reject if the line is invalid, or null. */
export function faultOf(line: Line): string | null {
  if (!line.ok) return FAULTS[line.error];
  return line.text.includes('\0') ? FAULTS.nul : null;
}

export function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}

/** For formats with one record per line. `read` returns null for a line to ignore. */
export async function* readLineItems(
  source: Source,
  limits: InputLimits,
  read: (text: string) => ParsedRow | null,
): AsyncGenerator<Item[]> {
  let number = 0;
  for await (const lines of readLines(source.bytes(), limits.maxLineBytes)) {
    const items: Item[] = [];
    for (const line of lines) {
      number += 1;
      const item = readLine(line, number);
      if (item !== null) items.push(item);
    }
    if (items.length > 0) yield items;
  }

  function readLine(line: Line, number: number): Item | null {
    const fault = faultOf(line);
    if (fault !== null) return reject(number, line.text, fault);
    const text = withoutReturn(line.text);
    if (text.trim() === '') return null;
    const row = read(text);
    return row === null ? null : toItem(number, text, row);
  }
}
