import { isAscii } from 'node:buffer';

export type Scalar = string | number | boolean | null | Uint8Array;

export const START_BYTES = 256 * 1024;
/** A literal of a batch has up to 300 kB; one of long texts may have many megabytes. */
const KEPT_BYTES = 1024 * 1024;

/** Where a literal is written. It is used again, and grows if necessary. */
let scratch = Buffer.allocUnsafe(START_BYTES);

/**
 * An array literal of PostgreSQL. The driver would infer the type of an array from its first element; for a text the
 * server infers it from the statement.
 *
 * It is written as bytes. A string that grows by one element after the other is a tree of an object for each, which live until
 * the driver reads it: that takes two to three times as long (docs/decisions/import.md).
 */
export function arrayLiteral(values: readonly Scalar[]): string {
  let at = 0;
  scratch[at++] = OPEN;
  for (let i = 0; i < values.length; i++) {
    if (i > 0) scratch[at++] = COMMA;
    at = writeElement(values[i] as Scalar, at);
  }
  scratch[at++] = CLOSE;
  const bytes = scratch.subarray(0, at);
  if (scratch.length > KEPT_BYTES) scratch = Buffer.allocUnsafe(START_BYTES);
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}

const [OPEN, CLOSE, COMMA, QUOTE] = [0x7b, 0x7d, 0x2c, 0x22];
const NULL = Buffer.from('null');
const BYTES_START = Buffer.from('"\\\\x');
const ZERO = 0x30;
const HEX_DIGITS = Buffer.from('0123456789abcdef');
const MAX_INT = 2 ** 31 - 1;
/** For a comma or the end behind an element, and for all that is not counted in its length: quotes, and the start of bytes. */
const MARGIN = 16;
const MAX_NUMBER_LENGTH = 24;
const UTF8_BYTES_PER_UNIT = 3;

/** Writes an element at a position; returns the position behind it, where there is room for one more byte. */
function writeElement(value: Scalar, at: number): number {
  if (typeof value === 'number') {
    reserve(at, MAX_NUMBER_LENGTH);
    return Number.isInteger(value) && value >= 0 && value <= MAX_INT
      ? writeInteger(value, at)
      : at + scratch.write(`${value}`, at);
  }
  if (value === null) {
    reserve(at, NULL.length);
    scratch.set(NULL, at);
    return at + NULL.length;
  }
  if (typeof value === 'string') return writeText(value, at);
  if (value instanceof Uint8Array) return writeBytes(value, at);
  return writeText(String(value), at);
}

/** From the last digit to the first one. */
function writeInteger(value: number, at: number): number {
  let end = at + 1;
  for (let rest = value; rest >= 10; rest = (rest / 10) | 0) end++;
  for (let [rest, to] = [value, end - 1]; to >= at; to--) {
    const next = (rest / 10) | 0;
    scratch[to] = ZERO + rest - next * 10;
    rest = next;
  }
  return end;
}

const SPECIAL = /["\\]/;
const EACH_SPECIAL = /["\\]/g;

function writeText(text: string, at: number): number {
  const escaped = SPECIAL.test(text) ? text.replace(EACH_SPECIAL, '\\$&') : text;
  reserve(at, escaped.length * UTF8_BYTES_PER_UNIT);
  scratch[at] = QUOTE;
  const end = at + 1 + scratch.write(escaped, at + 1);
  scratch[end] = QUOTE;
  return end + 1;
}

function writeBytes(bytes: Uint8Array, at: number): number {
  reserve(at, 2 * bytes.length);
  scratch.set(BYTES_START, at);
  let end = at + BYTES_START.length;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    scratch[end++] = HEX_DIGITS[byte >> 4] as number;
    scratch[end++] = HEX_DIGITS[byte & 15] as number;
  }
  scratch[end] = QUOTE;
  return end + 1;
}

function reserve(at: number, length: number): void {
  if (at + length + MARGIN <= scratch.length) return;
  const larger = Buffer.allocUnsafe(2 * (at + length + MARGIN));
  scratch.copy(larger, 0, 0, at);
  scratch = larger;
}
