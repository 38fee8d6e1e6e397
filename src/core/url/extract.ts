import { SCHEME_SOURCE } from './refang.ts';

/** A letter before it would make it another scheme. `ftps` is not supported by rule N4. */
const START = new RegExp(`(?<![a-z])(?!f[tx]ps)${SCHEME_SOURCE}`, 'gi');
/** A list without blanks: `http://a.example/,http://b.example/` */
const NEXT_OF_LIST = new RegExp(`[,;|]${SCHEME_SOURCE}`, 'iy');

/**
 * Characters of a URL in running text, without those that end one sometimes. Blanks, control characters and `<>"` are never
 * part of one (RFC 3986 appendix C). A backslash begins an escape such as `\n` in logs of JSON. Typographic quotes and the
 * punctuation of Chinese and Japanese stand beside URLs without a blank. U+FFFD replaces bytes that are not UTF-8.
 */
const ORDINARY = /[^\s\p{Cc}<>"`\\\u200b\ufffd“”„‘’«»‹›…。，、；：！？（）「」『』【】《》〈〉',;|()[\]{}]*/uy;
const SOMETIMES = /[',;|()[\]{}]/;

/** What follows one of these directly, as in `,URL,`, ends at the same character. */
const DELIMITERS = "',;|";
/** Markdown writes `**URL**`, `_URL_` and `~~URL~~`. */
const EMPHASIS = '*_~';
/** Punctuation of the sentence, and brackets of what follows the URL. */
const TRAILING = ".,;:!?'|([{";
const OPENING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/**
 * The URLs of a text, in their order, as they are written: also defanged ones (refang.ts). References of HTML and escapes of
 * JSON are decoded first.
 *
 *     See (hxxp://bad[.]example/a), "https://b.example/?x=1&amp;y=2".   has   hxxp://bad[.]example/a   https://b.example/?x=1&y=2
 */
export function extractUrls(text: string): string[] {
  const decoded = decodeEscapes(text);
  const urls: string[] = [];
  START.lastIndex = 0;
  for (let match = START.exec(decoded); match !== null; match = START.exec(decoded)) {
    const restAt = START.lastIndex;
    const end = endOf(decoded, match.index, restAt);
    if (end > restAt) urls.push(decoded.slice(match.index, end));
    START.lastIndex = end;
  }
  return urls;
}

/** Where to cut a long line: where no URL can be, if there is such a place in the second half; otherwise its end. */
export function cutAt(line: string): number {
  const at = Math.max(...[' ', '"', '<'].map((end) => line.lastIndexOf(end)));
  return at < line.length / 2 ? line.length : at;
}

/** `restAt` is the end of the scheme. */
function endOf(text: string, start: number, restAt: number): number {
  const before = text[start - 1] ?? '';
  const { end, unclosed } = scan(text, restAt, before);
  return trimmedEnd(text, restAt, end, before, unclosed);
}

/**
 * A closing bracket that was not opened inside the URL ends it. `)` does so only after `(` directly before the URL, because
 * it is a valid character of a path; `unclosed` counts the others.
 */
function scan(text: string, from: number, before: string): { end: number; unclosed: number } {
  const open: Record<string, number> = { '(': 0, '[': 0, '{': 0 };
  let unclosed = 0;
  for (let at = from; ; at++) {
    ORDINARY.lastIndex = at;
    at += ORDINARY.exec(text)?.[0].length ?? 0;
    const character = text[at] ?? '';
    if (
      !SOMETIMES.test(character) ||
      (character === before && DELIMITERS.includes(character)) ||
      isNextOfList(text, at)
    ) {
      return { end: at, unclosed };
    }
    const opening = OPENING[character];
    if (opening === undefined) {
      if (character in open) open[character] = (open[character] ?? 0) + 1;
    } else if ((open[opening] ?? 0) > 0) {
      open[opening] = (open[opening] ?? 0) - 1;
    } else if (character !== ')' || before === '(') {
      return { end: at, unclosed };
    } else {
      unclosed += 1;
    }
  }
}

function isNextOfList(text: string, at: number): boolean {
  NEXT_OF_LIST.lastIndex = at;
  return NEXT_OF_LIST.test(text);
}

function trimmedEnd(text: string, from: number, to: number, before: string, unclosed: number): number {
  let [end, left] = [to, unclosed];
  for (; end > from; end--) {
    const character = text[end - 1] ?? '';
    if (character === ')' && left > 0) left -= 1;
    else if (!TRAILING.includes(character) && !(character === before && EMPHASIS.includes(character))) break;
  }
  return end;
}

const ESCAPES = /&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#x([\da-f]{1,6}));|\\u00([0-7][\da-f])|\\\//gi;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };
const LAST_CODE_POINT = 0x10ffff;

/** `&amp;`, `&#38;` and `&#x26;` of HTML; `\u0026` and `\/` of JSON. Once: `&amp;lt;` is `&lt;`. */
function decodeEscapes(text: string): string {
  if (!text.includes('&') && !text.includes('\\')) return text;
  return text.replace(ESCAPES, (_, name?: string, decimal?: string, hexadecimal?: string, unicode?: string) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? '';
    const hex = hexadecimal ?? unicode;
    if (decimal === undefined && hex === undefined) return '/';
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > LAST_CODE_POINT ? '\ufffd' : String.fromCodePoint(code);
  });
}
