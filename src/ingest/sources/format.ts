import type { Settings } from '../../config/settings.ts';
import type { FileReport, ObservationInput } from '../../core/observation.ts';

/** One piece of input: a file, standard input or a download, already unpacked. */
export type Source = {
  /** As the user named it, for messages. */
  name: string;
  bytes(): AsyncIterable<Buffer>;
  /** Another one beside it, such as an event of a MISP feed beside its manifest; null where there is no such place. */
  beside(path: string): Source | null;
  /** How far it has been read; the total is null where nobody knows it. */
  progress(): { readBytes: number; totalBytes: number | null };
};

/** Bounds on what a hostile source may cost. The first two are kept where a source is opened, the last where it is read. */
export type InputLimits = {
  maxUnpackedBytes: number;
  /** Unpacked bytes per packed byte. */
  maxRatio: number;
  /** Of a line, and of a record in JSON. */
  maxLineBytes: number;
};

/**
 * The largest public dump, the payloads of URLhaus, has 2.6 GB unpacked, at a ratio of 5:1; repetitive text in deflate
 * reaches 50:1, and nothing but zeros 1,032:1.
 */
export const INPUT_LIMITS: InputLimits = { maxUnpackedBytes: 16 * 2 ** 30, maxRatio: 200, maxLineBytes: 2 ** 20 };

/** The times that a reading may need. Formats that bring their own times need neither. */
export type ReadTimes = {
  nowTs: number;
  /** What the operator says the input's time is, else now: for formats without times. */
  asOfTs: number;
};

/**
 * What a row of input tells. A row may tell several observations, and it is rejected as a whole. `line` is where it
 * begins, `text` its first TEXT_MAX_LENGTH characters.
 */
export type Item =
  | { kind: 'observations'; line: number; text: string; inputs: ObservationInput[] }
  | { kind: 'file'; line: number; text: string; file: FileReport }
  | RejectItem
  /** The time that the source gives itself, such as a banner's. */
  | { kind: 'time'; ts: number };

export type RejectItem = { kind: 'reject'; line: number; text: string; reason: string };

export type Format = {
  name: string;
  /** One line for the list of formats. */
  summary: string;
  /** Some at a time, so that waiting costs little. Throws an AppError for input that cannot be read any further. */
  read(source: Source, limits: InputLimits, times: ReadTimes): AsyncIterable<Item[]>;
};

/** What is kept of a row's text, for the list of rejects. */
export const TEXT_MAX_LENGTH = 1024;

export function reject(line: number, text: string, reason: string): RejectItem {
  return { kind: 'reject', line, text: beginning(text), reason };
}

export function beginning(text: string): string {
  return text.length > TEXT_MAX_LENGTH ? text.slice(0, TEXT_MAX_LENGTH) : text;
}

/** The bounds that an operator has set. */
export function inputLimitsOf(
  settings: Pick<Settings, 'maxUnpackedBytes' | 'maxUnpackRatio' | 'maxLineBytes'>,
): InputLimits {
  const { maxUnpackedBytes, maxUnpackRatio: maxRatio, maxLineBytes } = settings;
  return { maxUnpackedBytes, maxRatio, maxLineBytes };
}
