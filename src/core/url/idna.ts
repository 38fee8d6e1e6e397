import { toASCII } from 'tr46';

/**
 * Converts non-ASCII names to their DNS form (UTS-46 ToASCII, rule N7). The Unicode table is that of the `tr46` package,
 * pinned to an exact version in package.json: normalized URLs are database keys and must not change with the runtime.
 */
const RULES = {
  checkBidi: true,
  checkJoiners: true,
  checkHyphens: false,
  useSTD3ASCIIRules: false,
  transitionalProcessing: false,
  // Rule N8 checks lengths after it has removed the trailing dot.
  verifyDNSLength: false,
  // Every label is validated: in `xn--a.ß` the first label is not valid punycode.
  ignoreInvalidPunycode: false,
};

/** Characters that UTS-46 ignores: soft hyphen, word joiners, variation selectors, fillers. A test compares this with tr46. */
const IGNORED =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: every character is matched separately
  /[\u{34F}\u{AD}\u{115F}\u{1160}\u{17B4}\u{17B5}\u{180B}-\u{180F}\u{200B}\u{2060}-\u{2064}\u{206A}-\u{206F}\u{3164}\u{FE00}-\u{FE0F}\u{FEFF}\u{FFA0}\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0100}-\u{E01EF}]/gu;
/** The full stop and the only characters that UTS-46 maps to it. */
const DOTS = /[.\u{3002}\u{FF0E}\u{FF61}]/u;

/**
 * The time of Punycode grows with the square of the label's length (measured: 8,000 different ideographs 340 ms), so a
 * label that must exceed 63 octets is refused first. Every code point after NFC needs at least one octet.
 */
const LABEL_MAX_OCTETS = 63;
/** The same for the whole name, with a trailing dot. */
const NAME_MAX_OCTETS = 254;
/** Code points that NFC composes into one: U+1F82 is four. */
const COMPOSED_MAX = 4;
/** After NFKC nothing else can be composed with the character before it. */
const MARKS = /\p{M}/gu;

/** `faß.example` becomes `xn--fa-hia.example`, `ex。example` becomes `ex.example`; null if a rule of UTS-46 fails. */
export function nameToAscii(name: string): string | null {
  const visible = name.replace(IGNORED, '');
  // First, because the time of NFKC grows with the square of the marks on one character (measured: 8,000 marks 57 ms).
  if (isOverlong(visible, COMPOSED_MAX)) return null;
  // UTS-46 maps a character to its NFKC form in lower case, which may be longer: U+FDFA becomes 18 code points.
  if (isOverlong(visible.normalize('NFKC').replace(MARKS, ''), 1)) return null;
  return toASCII(visible, RULES);
}

function isOverlong(name: string, codePointsPerOctet: number): boolean {
  const exceeds = (text: string, maxOctets: number) => isLonger(text, maxOctets * codePointsPerOctet);
  return exceeds(name, NAME_MAX_OCTETS) || name.split(DOTS).some((label) => exceeds(label, LABEL_MAX_OCTETS));
}

/** A code point is at most two UTF-16 units, so most names need no counting. */
function isLonger(text: string, maxCodePoints: number): boolean {
  return text.length > 2 * maxCodePoints || (text.length > maxCodePoints && [...text].length > maxCodePoints);
}
