/** Characters (code points) of a reporter, a reason, a file's name and the like. */
export const TEXT_MAX_LENGTH = 1_024;

/** No control characters, and no halves of surrogate pairs, which no database keeps. */
export const TEXT_PATTERN = String.raw`^[^\p{Cc}\p{Cs}]*$`;

const TEXT = new RegExp(TEXT_PATTERN, 'u');

/** Why a text cannot be kept; null when it can. */
export function textFault(text: string): string | null {
  if (!TEXT.test(text)) return 'control characters and halves of surrogate pairs are not allowed';
  return isTooLong(text) ? `at most ${TEXT_MAX_LENGTH} characters` : null;
}

/** A code point is one or two units, so that most texts need not be counted. */
function isTooLong(text: string): boolean {
  if (text.length <= TEXT_MAX_LENGTH) return false;
  return text.length > 2 * TEXT_MAX_LENGTH || [...text].length > TEXT_MAX_LENGTH;
}

/**
 * The form under which a malware family is compared: `Mirai`, `mirai` and `MIRAI` are one. Folded here and not by a
 * database, whose collations differ from each other. Not `toLocaleLowerCase`: Turkish would fold `I` to a dotless one.
 */
export function foldFamily(name: string): string {
  return name.toLowerCase();
}
