import { createTextScanner, type FileValue, FormatError, type ParsedFile, type TextScanner } from './text-scanner.ts';

// The part of TOML 1.0 that settings need: one KEY = VALUE per line, and arrays of texts, which may span lines.
// Every file that is accepted here means the same to other TOML parsers.

const KEY = /[A-Za-z0-9_-]+/y;
const EQUALS = /[ \t]*=[ \t]*/y;
const SPACE = /[ \t]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: TOML forbids them in comments
const COMMENT = /#[^\n\r\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*/.source;
const LINE_END = new RegExp(`[ \\t]*(?:${COMMENT})?(?:\\r?\\n|$)`, 'y');
/** Between the elements of an array. */
const GAP = new RegExp(`(?:[ \\t]|\\r?\\n|${COMMENT})*`, 'y');
// biome-ignore lint/suspicious/noControlCharactersInRegex: TOML forbids them in texts
const BASIC = /"((?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\(?:[btnfr"\\]|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}))*)"/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: TOML forbids them in texts
const LITERAL = /'([^'\x00-\x08\x0a-\x1f\x7f]*)'/y;
const NUMBER = /[+-]?(?:0|[1-9](?:_?[0-9])*)(?:\.[0-9](?:_?[0-9])*)?(?![0-9A-Za-z_.:+-])/y;
const BOOLEAN = /(?:true|false)(?![0-9A-Za-z_-])/y;
const OPEN = /\[/y;
const COMMA = /,/y;
const CLOSE = /\]/y;
/** The rest of a wrong line, and the lines after it that do not begin with `KEY =`. Nothing if such a line begins here. */
const WRONG_LINES = /(?<=^[ \t]*)(?=[A-Za-z0-9_-]+[ \t]*=)|[^\n]*(?:\n(?![ \t]*[A-Za-z0-9_-]+[ \t]*=)[^\n]*)*\n?/my;

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r' };

/** More than anybody corrects in one edit: such a file is probably something else. */
const FAULTS_MAX = 100;

/** After a fault it continues with the next line that looks like a setting, to report all faults together. */
export function parseToml(text: string): ParsedFile {
  const scanner = createTextScanner(text);
  const parsed: ParsedFile = { entries: [], faults: [] };
  while (!scanner.isAtEnd() && parsed.faults.length < FAULTS_MAX) {
    if (scanner.take(LINE_END)) continue;
    const line = scanner.line();
    try {
      parsed.entries.push({ ...readStatement(scanner), line });
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      parsed.faults.push({ line: scanner.line(), message: error.message });
      scanner.take(WRONG_LINES);
    }
  }
  return parsed;
}

function readStatement(scanner: TextScanner): { key: string; value: FileValue } {
  scanner.take(SPACE);
  if (scanner.take(OPEN)) throw new FormatError('tables such as [name] are not used here: remove this line');
  const key = scanner.take(KEY)?.[0];
  if (key === undefined || !scanner.take(EQUALS))
    throw new FormatError('a line must be KEY = VALUE, with KEY not in quotes');
  const value = readValue(scanner, key);
  if (!scanner.take(LINE_END)) throw new FormatError(`the value of ${key} must end with the line`);
  return { key, value };
}

function readValue(scanner: TextScanner, key: string): FileValue {
  if (scanner.take(OPEN)) return readArray(scanner, key);
  const number = scanner.take(NUMBER)?.[0];
  if (number !== undefined) return Number(number.replaceAll('_', ''));
  const boolean = scanner.take(BOOLEAN)?.[0];
  if (boolean !== undefined) return boolean === 'true';
  const text = readText(scanner);
  if (text !== null) return text;
  throw new FormatError(`the value of ${key} must be a text in quotes on one line, a number, true, false or an array`);
}

function readArray(scanner: TextScanner, key: string): string[] {
  const texts: string[] = [];
  for (;;) {
    scanner.take(GAP);
    if (scanner.take(CLOSE)) return texts;
    const text = readText(scanner);
    if (text === null) throw new FormatError(`the array of ${key} must contain texts in quotes and end with ]`);
    texts.push(text);
    scanner.take(GAP);
    if (scanner.take(COMMA)) continue;
    if (scanner.take(CLOSE)) return texts;
    throw new FormatError(`the texts in the array of ${key} must be separated by commas and end with ]`);
  }
}

function readText(scanner: TextScanner): string | null {
  const literal = scanner.take(LITERAL)?.[1];
  if (literal !== undefined) return literal;
  const basic = scanner.take(BASIC)?.[1];
  return basic === undefined ? null : basic.replaceAll(/\\(?:u(.{4})|U(.{8})|(.))/g, unescaped);
}

function unescaped(_: string, four: string | undefined, eight: string | undefined, letter = ''): string {
  const digits = four ?? eight;
  if (digits === undefined) return ESCAPES[letter] ?? letter;
  const code = Number.parseInt(digits, 16);
  const isCharacter = code < 0xd800 || (code > 0xdfff && code <= 0x10ffff);
  if (!isCharacter) throw new FormatError(`${digits} is not the number of a character`);
  return String.fromCodePoint(code);
}
