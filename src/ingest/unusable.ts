import { AppError } from '../core/errors.ts';
import { recognize } from './recognize.ts';
import type { SourceStart } from './sources/source-start.ts';
import type { ImportCounts } from './store.ts';

/** What the user can do if the source has another format. */
export type AdviseFormat = (format: string) => string;

type Attempt = {
  format: string;
  start: SourceStart;
  adviseFormat: AdviseFormat;
};

/** Formats that are one JSON document. */
const JSON_DOCUMENTS = ['urlhaus-json', 'threatfox-json', 'feodo-json', 'misp', 'misp-warninglist', 'stix'];
/** Formats with one JSON object per line. */
const JSON_LINES = ['ndjson', 'drop-json'];

/** Why an import that read its source to the end did nothing; null if at least one row could be used. */
export function unusableReason({ read, rejected }: ImportCounts, attempt: Attempt): string | null {
  if (rejected < read) return null;
  const guess = guessCause(attempt);
  if (read > 0) {
    const rows = read === 1 ? 'The only row could not be used' : `None of the ${read} rows could be used`;
    return `${rows}. ${guess ?? 'Check the format, and the reasons of the rejected rows.'}`;
  }
  return guess ?? noRows(attempt);
}

function noRows({ format }: Attempt): string {
  return JSON_DOCUMENTS.includes(format)
    ? `There is nothing in the source that the format ${format} uses: check the format.`
    : 'There are no rows in the source, only comments, blank lines or a header.';
}

/** A document that cannot be parsed: the guess is more helpful than the first character that was not expected. */
export function withGuess(error: unknown, name: string, attempt: Attempt): unknown {
  if (!(error instanceof AppError) || error.code !== 'bad_request') return error;
  const { bytes, isWhole } = attempt.start;
  // Nothing was unpacked: the error says why. An empty file is whole.
  if (bytes.length === 0 && !isWhole) return error;
  const guess = guessCause(attempt);
  return guess === null ? error : new AppError('bad_request', `${name}: ${guess}`, { cause: error });
}

function guessCause({ format, start, adviseFormat }: Attempt): string | null {
  const found = recognize(start);
  if (found.kind === 'other') return found.what;
  if (found.kind === 'format') {
    return found.format === format
      ? null
      : `This looks like ${found.format}, not ${format}. ${adviseFormat(found.format)}`;
  }
  const [isDocument, isLines] = [JSON_DOCUMENTS.includes(format), JSON_LINES.includes(format)];
  if (found.kind === 'text')
    return isDocument || isLines ? `This is not JSON, which the format ${format} needs.` : null;
  if (isLines && isList(start)) return `This is one JSON document. The format ${format} needs one object per line.`;
  return isDocument || isLines
    ? null
    : `This is JSON, which the format ${format} cannot read. See: urlwarden import --help`;
}

function isList({ bytes }: SourceStart): boolean {
  return /^\s*(?:\[|\{\s*\n)/.test(bytes.toString('latin1'));
}

const EMPTY_DOCUMENT = /^\s*(?:\[\s*\]|\{\s*\})\s*$|"(?:objects|response|data|list)"\s*:\s*\[\s*\]/;

/**
 * Whether a source without rows is a list that says itself that it is empty: a feed of few records may be empty for
 * weeks. An empty response is none.
 */
export function isEmptyList(format: string, { bytes, isWhole }: SourceStart): boolean {
  const text = bytes.toString();
  if (JSON_DOCUMENTS.includes(format)) return isWhole && EMPTY_DOCUMENT.test(text);
  return text.trim() !== '';
}
