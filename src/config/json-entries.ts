import { createTextScanner, type FileValue, FormatError, type ParsedFile, type TextScanner } from './text-scanner.ts';

// JSON.parse gives neither the lines of values nor keys that are set twice, and its messages quote the file, which may
// contain a password.

const SPACE = /[ \t\r\n]*/y;
const OPEN = /\{/y;
const CLOSE = /\}/y;
const COLON = /[ \t\r\n]*:[ \t\r\n]*/y;
const COMMA = /[ \t\r\n]*,[ \t\r\n]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z.+-])/y;
const BOOLEAN = /(?:true|false)(?![0-9A-Za-z])/y;
const OPEN_ARRAY = /\[[ \t\r\n]*/y;
const CLOSE_ARRAY = /[ \t\r\n]*\]/y;

/** One object whose values are texts, numbers, true, false, or arrays of texts. Ends at the first fault. */
export function parseJsonEntries(text: string): ParsedFile {
  const scanner = createTextScanner(text);
  const parsed: ParsedFile = { entries: [], faults: [] };
  try {
    readObject(scanner, parsed.entries);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    parsed.faults.push({ line: scanner.line(), message: error.message });
  }
  return parsed;
}

function readObject(scanner: TextScanner, entries: ParsedFile['entries']): void {
  scanner.take(SPACE);
  if (!scanner.take(OPEN)) throw new FormatError('the file must be one JSON object: {"KEY": VALUE, …}');
  scanner.take(SPACE);
  const isEmpty = scanner.take(CLOSE) !== null;
  if (!isEmpty) {
    do entries.push(readEntry(scanner));
    while (scanner.take(COMMA));
    scanner.take(SPACE);
    if (!scanner.take(CLOSE)) throw new FormatError('a comma between two settings, or the closing } is missing');
  }
  scanner.take(SPACE);
  if (!scanner.isAtEnd()) throw new FormatError('nothing may follow the closing }');
}

function readEntry(scanner: TextScanner): ParsedFile['entries'][number] {
  const line = scanner.line();
  const key = readString(scanner);
  if (key === null || !scanner.take(COLON)) throw new FormatError('a setting must be "KEY": VALUE');
  return { key, value: readValue(scanner, key), line };
}

function readValue(scanner: TextScanner, key: string): FileValue {
  if (scanner.take(OPEN_ARRAY)) return readArray(scanner, key);
  const text = readString(scanner);
  if (text !== null) return text;
  const literal = scanner.take(NUMBER)?.[0] ?? scanner.take(BOOLEAN)?.[0];
  if (literal !== undefined) return JSON.parse(literal);
  throw new FormatError(
    `the value of ${JSON.stringify(key)} must be a text in quotes, a number, true, false or an array`,
  );
}

function readArray(scanner: TextScanner, key: string): string[] {
  const texts: string[] = [];
  if (scanner.take(CLOSE_ARRAY)) return texts;
  do {
    const text = readString(scanner);
    if (text === null) throw new FormatError(`the array of ${JSON.stringify(key)} must contain texts in quotes`);
    texts.push(text);
  } while (scanner.take(COMMA));
  if (!scanner.take(CLOSE_ARRAY)) throw new FormatError(`the array of ${JSON.stringify(key)} must end with ]`);
  return texts;
}

function readString(scanner: TextScanner): string | null {
  const source = scanner.take(STRING)?.[0];
  return source === undefined ? null : JSON.parse(source);
}
