/** The maximum length in code points of a reporter, a removal reason, a file name and other short texts. */
export const TEXT_MAX_LENGTH = 1_024;

/** No control characters, and no unpaired surrogates, which no database can store. */
export const TEXT_PATTERN = String.raw`^[^\p{Cc}\p{Cs}]*$`;

const TEXT = new RegExp(TEXT_PATTERN, 'u');

/** Why a text cannot be stored; null if it can. */
export function textFault(text: string): string | null {
  if (!TEXT.test(text)) return 'control characters and unpaired surrogates are not allowed';
  return isTooLong(text) ? `at most ${TEXT_MAX_LENGTH} characters` : null;
}

/** A code point is one or two UTF-16 units, so most texts need no counting. */
function isTooLong(text: string): boolean {
  if (text.length <= TEXT_MAX_LENGTH) return false;
  return text.length > 2 * TEXT_MAX_LENGTH || [...text].length > TEXT_MAX_LENGTH;
}

/** By UTF-16 units: the same order on every machine, whatever its locale. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Trimmed; an empty text is unknown. */
export function knownText(text: string | null | undefined): string | null {
  return text?.trim() || null;
}

/**
 * The form in which malware families are compared: `Mirai`, `mirai` and `MIRAI` are equal. Not folded by the database,
 * because collations differ between databases. Not `toLocaleLowerCase`: a Turkish locale folds `I` to a dotless i.
 */
export function foldFamily(name: string): string {
  return name.toLowerCase();
}

/**
 * For text that is kept: V8 stores a concatenation as a tree of its parts, and would walk the tree at every use; and of a part
 * of a text it keeps the whole.
 */
export const flatText = (text: string): string => Buffer.from(text).toString();

/** With its percent escapes decoded; null if one is not complete, or if their bytes are not valid UTF-8. */
export function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
