import { toASCII } from 'tr46';

/**
 * Names outside ASCII as DNS carries them (UTS-46 ToASCII, rule N7). The table is that of the `tr46` package, pinned at
 * an exact version in package.json: normalized URLs are keys in databases, so they must not follow the runtime's Unicode.
 */
const RULES = {
  checkBidi: true,
  checkJoiners: true,
  checkHyphens: false,
  useSTD3ASCIIRules: false,
  transitionalProcessing: false,
  // Lengths are measured by rule N8, after the trailing dot is gone.
  verifyDNSLength: false,
  // The whole name is judged: `xn--a.ß` has a label that no encoder wrote.
  ignoreInvalidPunycode: false,
};

/** What UTS-46 maps to nothing: soft hyphen, joiners of words, variation selectors, fillers. A test compares with tr46. */
const IGNORED =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each member is meant by itself
  /[\u{34F}\u{AD}\u{115F}\u{1160}\u{17B4}\u{17B5}\u{180B}-\u{180F}\u{200B}\u{2060}-\u{2064}\u{206A}-\u{206F}\u{3164}\u{FE00}-\u{FE0F}\u{FEFF}\u{FFA0}\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0100}-\u{E01EF}]/gu;
/** The only characters that UTS-46 maps to a full stop, and the full stop. */
const DOTS = /[.\u{3002}\u{FF0E}\u{FF61}]/u;

/**
 * Punycode takes time with the square of a label's length (measured: 8,000 different ideographs 340 ms), so what can
 * only become a label of more than 63 octets is refused before. NFC joins at most four code points into one
 * (U+1F82 is four), and every code point left after it costs at least one octet.
 */
const LABEL_MAX_CODE_POINTS = 4 * 63;
/** The same for the name: 253 octets and a trailing dot. */
const NAME_MAX_CODE_POINTS = 4 * 254;

/** `faß.example` becomes `xn--fa-hia.example`, `ex。example` becomes `ex.example`; null when a rule of UTS-46 fails. */
export function nameToAscii(name: string): string | null {
  const visible = name.replace(IGNORED, '');
  if (isOverlong(visible, NAME_MAX_CODE_POINTS)) return null;
  if (visible.split(DOTS).some((label) => isOverlong(label, LABEL_MAX_CODE_POINTS))) return null;
  return toASCII(visible, RULES);
}

/** A code point is at most two UTF-16 units, so most names need no counting. */
function isOverlong(text: string, maxCodePoints: number): boolean {
  return text.length > 2 * maxCodePoints || (text.length > maxCodePoints && [...text].length > maxCodePoints);
}
