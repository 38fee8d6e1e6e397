import type { Settings } from '../../config/settings.ts';
import type { FileReport, ObservationInput } from '../../core/observation.ts';

/** An input: a file, standard input or a download, unpacked. */
export type Source = {
  /** As given by the user, for messages. */
  name: string;
  bytes(): AsyncIterable<Buffer>;
  /** Another source in the same folder, such as an event next to the manifest of a MISP feed; null if not possible. */
  sibling(path: string): Source | null;
  /** The total is null if unknown. */
  progress(): { readBytes: number; totalBytes: number | null };
};

/** Limits against hostile sources. Unpacking enforces the first two, the parsers enforce the last. */
export type InputLimits = {
  maxUnpackedBytes: number;
  /** Unpacked bytes per packed byte. */
  maxRatio: number;
  /** Of a line or a JSON record. */
  maxLineBytes: number;
};

/**
 * The largest public dump, the payloads of URLhaus, has 2.6 GB unpacked at a ratio of 5:1. With deflate, repetitive text
 * reaches 50:1 and zeros 1,032:1.
 */
export const INPUT_LIMITS: InputLimits = { maxUnpackedBytes: 16 * 2 ** 30, maxRatio: 200, maxLineBytes: 2 ** 20 };

/** Times for formats whose rows may have none. */
type ReadTimes = {
  nowTs: number;
  /** The value of `--as-of`, else now. */
  asOfTs: number;
};

/**
 * A parsed row of input. A row may have several observations; it is rejected as a whole. `line` is its first line,
 * `text` its first REJECT_TEXT_MAX_LENGTH characters.
 */
export type Item =
  | { kind: 'observations'; line: number; text: string; inputs: ObservationInput[] }
  | { kind: 'file'; line: number; text: string; file: FileReport }
  | RejectItem
  /** The time of the source itself, such as the time in a banner. */
  | { kind: 'time'; ts: number };

export type RejectItem = { kind: 'reject'; line: number; text: string; reason: string };

export type Format = {
  name: string;
  /** One line for the help text. */
  summary: string;
  /** Yields many items at a time, because each await costs time. Throws an AppError if the input cannot be parsed. */
  read(source: Source, limits: InputLimits, times: ReadTimes): AsyncIterable<Item[]>;
};

/** Characters of a row that are stored with a reject. */
const REJECT_TEXT_MAX_LENGTH = 1024;

export function reject(line: number, text: string, reason: string): RejectItem {
  return { kind: 'reject', line, text: truncated(text), reason };
}

export function truncated(text: string): string {
  return text.length > REJECT_TEXT_MAX_LENGTH ? text.slice(0, REJECT_TEXT_MAX_LENGTH) : text;
}

/** The limits in the settings. */
export function inputLimitsOf(
  settings: Pick<Settings, 'maxUnpackedBytes' | 'maxUnpackRatio' | 'maxLineBytes'>,
): InputLimits {
  const { maxUnpackedBytes, maxUnpackRatio: maxRatio, maxLineBytes } = settings;
  return { maxUnpackedBytes, maxRatio, maxLineBytes };
}
