import type { Settings } from '../../config/settings.ts';
import type { AddressDataset, DomainKind } from '../../core/evidence.ts';
import type { FileReport, ObservationInput } from '../../core/observation.ts';
import type { EvidenceInput, ImportedListKind } from '../evidence.ts';

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

/** What a source does not say itself. */
export type ReadOptions = EvidenceChoices & {
  nowTs: number;
  /** The value of `--as-of`, else now. */
  asOfTs: number;
  /** The user gave `--as-of`. */
  hasAsOf?: boolean;
  /** The user gave no name of a feed. */
  isUnnamed?: boolean;
};

/** The values of `--dataset`, `--kind` and `--as`. */
export type EvidenceChoices = {
  dataset?: AddressDataset | null | undefined;
  evidenceKind?: DomainKind | null | undefined;
  listKind?: ImportedListKind | null | undefined;
};

/**
 * A parsed row of input. A row may have several observations or pieces of evidence; it is rejected as a whole. `line` is
 * its first line, `text` its first REJECT_TEXT_MAX_LENGTH characters.
 */
export type Item =
  | { kind: 'observations'; line: number; text: string; inputs: ObservationInput[] }
  | { kind: 'file'; line: number; text: string; file: FileReport }
  | { kind: 'evidence'; line: number; text: string; inputs: EvidenceInput[] }
  | RejectItem
  /** The time of the source itself, such as the time in a banner. */
  | { kind: 'time'; ts: number }
  /**
   * The source was a whole list and ends here: entries of older versions of the list are deleted. `isWhole`: the format
   * has an end, such as a closing bracket, so a list that is cut off does not get here.
   */
  | { kind: 'list_end'; ts: number; source?: string | undefined; isWhole?: true };

/** The content of a row, or why the row is rejected. */
export type ParsedRow = { inputs: ObservationInput[] } | { file: FileReport } | { evidence: EvidenceInput[] } | string;

export type RejectItem = { kind: 'reject'; line: number; text: string; reason: string };

export type Format = {
  name: string;
  /** One line for the help text. */
  summary: string;
  /** It may contain evidence about addresses or domains. */
  hasEvidence?: true;
  /** It states families itself, also those that tags gave before an export: its tags give no further ones. */
  statesFamilies?: true;
  /** Its rows have no times: evidence counts at the time of the import. */
  hasNoTimes?: true;
  choices?: FormatChoices;
  /** Yields many items at a time, because each await costs time. Throws an AppError if the input cannot be parsed. */
  read(source: Source, limits: InputLimits, options: ReadOptions): AsyncIterable<Item[]>;
};

/** Which of `--dataset`, `--kind` and `--as` a format accepts. */
type FormatChoices = {
  dataset?: true;
  evidenceKind?: true;
  listKinds?: readonly ImportedListKind[];
  /** Exactly one of them must be given. */
  isRequired?: true;
};

/** Characters of a row that are stored with a reject. */
const REJECT_TEXT_MAX_LENGTH = 1024;

export function reject(line: number, text: string, reason: string): RejectItem {
  return { kind: 'reject', line, text: truncated(text), reason };
}

export function toItem(line: number, text: string, row: ParsedRow): Item {
  if (typeof row === 'string') return reject(line, text, row);
  const position = { line, text: truncated(text) };
  if ('inputs' in row) return { kind: 'observations', ...position, inputs: row.inputs };
  return 'file' in row
    ? { kind: 'file', ...position, file: row.file }
    : { kind: 'evidence', ...position, inputs: row.evidence };
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
