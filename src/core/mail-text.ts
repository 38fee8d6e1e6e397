import { cutAt } from './url/extract.ts';

// Also part of the pages, so nothing of Node is used.

const ENCODING = /^content-transfer-encoding:\s*(base64|quoted-printable)\b/i;
/** In the header itself or in one of its further lines, which begin with a blank (RFC 5322 section 2.2.3). */
const CHARSET = /^(?:content-type:|[ \t]).*?\bcharset\s*=\s*"?([^\s";]+)/i;
const BOUNDARY = /^(?:content-type:|[ \t]).*?\bboundary\s*=\s*(?:"([^"]+)"|([^\s;]+))/i;
/** The line before each mail of an mbox file (RFC 4155): `From ada@example.com Sat Jan  3 01:05:34 2026` */
const MBOX_START = /^From \S+ [A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d/;
const BASE64_LINE = /^[A-Za-z0-9+/]*={0,2}[ \t\r]*$/;
const SOFT_BREAK = /=[ \t\r]*$/;
const ENCODED_BYTES = /(?:=[\dA-F]{2})+/gi;

/** Deeply nested mail has ten; more would let a hostile mail fill the memory. */
const MAX_BOUNDARIES = 1_000;
/** A decoded line that is longer is passed on in pieces. */
const MAX_LINE_LENGTH = 2 ** 20;

type Part = {
  /** A line that cannot be in the part ends it. */
  accepts(line: string): boolean;
  add(line: string): string[];
  end(): string[];
};

/**
 * Decodes lines of mail, one after another: those of a part in base64 or quoted-printable (RFC 2045 section 6) come out as
 * the lines of its text, all others as they are. Text that is no mail is not changed.
 */
export function createMailDecoder() {
  const boundaries = new Set<string>();
  let part: Part | null = null;
  /** Of the headers that are being read. */
  let [encoding, charset] = ['', ''];

  function add(line: string): string[] {
    if (part?.accepts(line)) return part.add(line);
    const ended = end();
    readHeader(line);
    return ended.length === 0 ? [line] : [...ended, line];
  }

  function readHeader(line: string): void {
    if (line.trim() === '') {
      if (encoding === 'base64') part = base64Part(charset);
      else if (encoding !== '') part = quotedPrintablePart(charset, isEndOfPart);
      [encoding, charset] = ['', ''];
      return;
    }
    encoding = ENCODING.exec(line)?.[1]?.toLowerCase() ?? encoding;
    charset = CHARSET.exec(line)?.[1] ?? charset;
    const boundary = BOUNDARY.exec(line);
    if (boundary !== null && boundaries.size < MAX_BOUNDARIES) boundaries.add(boundary[1] ?? boundary[2] ?? '');
  }

  /** The header of another part is found even if the boundary is not known: the file may be part of a mail. */
  function isEndOfPart(line: string): boolean {
    if (ENCODING.test(line) || MBOX_START.test(line)) return true;
    if (!line.startsWith('--')) return false;
    const name = line.slice(2).trimEnd();
    return boundaries.has(name) || (name.endsWith('--') && boundaries.has(name.slice(0, -2)));
  }

  function end(): string[] {
    const rest = part?.end() ?? [];
    part = null;
    return rest;
  }

  return {
    /** The text that is complete with this line. */
    add,
    /** Call this after the last line. */
    end,
  };
}

/** No header and no boundary is a line of base64, so the part needs no other end. */
function base64Part(charset: string): Part {
  const decoder = textDecoder(charset);
  /** Characters that are no whole group of four yet, and text that is no whole line yet. */
  let [group, open] = ['', ''];
  return {
    accepts: (line) => BASE64_LINE.test(line),
    add(line) {
      const characters = group + line.trimEnd();
      const whole = characters.length - (characters.length % 4);
      group = characters.slice(whole);
      const [first = '', ...others] = decoder
        .decode(base64Bytes(characters.slice(0, whole)), { stream: true })
        .split('\n');
      const lines = [open + first, ...others];
      const [ready, rest] = cutLong(lines.pop() ?? '');
      open = rest;
      return ready === '' ? lines : [...lines, ready];
    },
    end() {
      const text = open + decoder.decode(base64Bytes(group));
      return text === '' ? [] : [text];
    },
  };
}

function quotedPrintablePart(charset: string, isEnd: (line: string) => boolean): Part {
  const decoder = textDecoder(charset);
  const decode = (text: string) => text.replace(ENCODED_BYTES, (bytes) => decoder.decode(quotedBytes(bytes)));
  let open = '';
  return {
    accepts: (line) => !isEnd(line),
    add(line) {
      const text = open + line.replace(SOFT_BREAK, '');
      const [ready, rest] = SOFT_BREAK.test(line) ? cutLong(text) : [text, ''];
      open = rest;
      return ready === '' ? [] : [decode(ready)];
    },
    end: () => (open === '' ? [] : [decode(open)]),
  };
}

/** Of any characters of the alphabet: padding in the middle is ignored, and so is a last character without a whole byte. */
function base64Bytes(text: string): Uint8Array {
  const plain = text.replaceAll('=', '');
  const binary = atob(plain.length % 4 === 1 ? plain.slice(0, -1) : plain);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** `=C3=A9` */
const quotedBytes = (text: string): Uint8Array =>
  Uint8Array.from(text.slice(1).split('='), (hex) => Number.parseInt(hex, 16));

function textDecoder(charset: string) {
  try {
    return new TextDecoder(charset || 'utf-8');
  } catch {
    return new TextDecoder(); // the name of an unknown charset; URLs are ASCII in nearly all of them
  }
}

/** What can be passed on of a line that is too long, and the rest. */
function cutLong(line: string): [ready: string, rest: string] {
  if (line.length <= MAX_LINE_LENGTH) return ['', line];
  const at = cutAt(line);
  return [line.slice(0, at), line.slice(at)];
}
