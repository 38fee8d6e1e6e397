import { Tokenizer, TokenParser, TokenType } from '@streamparser/json';
import { AppError } from '../../core/errors.ts';
import { isObject } from '../../core/json-object.ts';
import { bounded } from './chunks.ts';
import { type InputLimits, type Item, type ParsedRow, type Source, toItem, truncated } from './format.ts';

/** A value at one of the requested paths. */
export type JsonFind = {
  /** Keys and indexes from the root. */
  path: (string | number)[];
  value: unknown;
  /** Its first line. */
  line: number;
};

/** The formats need up to 9: a cluster of a galaxy of an attribute of an object of an event in a list. */
const MAX_DEPTH = 64;
/** For formats that hold the whole document in memory. Real documents have a few MB. */
const MAX_DOCUMENT_BYTES = 64 * 2 ** 20;
const LINE_FEED = 0x0a;
const CUT_OFF = 'the JSON is cut off; download or copy the file again';

/**
 * Streams the values at the given paths of a JSON document (`$.objects.*`); keeps nothing else in memory. A value has at
 * most `maxLineBytes`. Throws if the document is not valid JSON: a parser cannot continue after an error.
 */
export async function* readJson(
  chunks: AsyncIterable<Buffer>,
  name: Source['name'],
  { maxLineBytes }: Pick<InputLimits, 'maxLineBytes'>,
  paths: string[],
): AsyncGenerator<JsonFind[]> {
  /** Nesting depth of the requested values; deeper tokens are part of a value. */
  const valueDepth = Math.max(...paths.map((path) => path.split('.').length - 1));
  const lines = createLineCounter();
  let finds: JsonFind[] = [];
  let depth = 0;
  let startLine = 1;
  let startByte = 0;
  const tokenizer = createTokenizer();
  const parser = new TokenParser({ paths, keepStack: false });
  parser.onValue = ({ value, key, stack }) => {
    const path = [...stack.slice(1).map((element) => element.key), key].map((step) => step ?? '');
    finds.push({ path, value, line: startLine });
  };
  tokenizer.onToken = (token) => {
    if (depth <= valueDepth) {
      startByte = token.offset;
      if (!isEnd(token.token)) startLine = lines.lineAt(token.offset);
    }
    if (isBegin(token.token)) depth += 1;
    if (isEnd(token.token)) depth -= 1;
    if (depth > MAX_DEPTH) throw refused(`nested more than ${MAX_DEPTH} levels deep`);
    if (token.offset - startByte > maxLineBytes) throw tooLong();
    parser.write(token);
  };

  for await (const chunk of chunks) {
    lines.begin(chunk);
    attempt(() => tokenizer.write(chunk));
    lines.end();
    if (lines.bytes() - startByte > maxLineBytes && !parser.isEnded) throw tooLong();
    if (finds.length > 0) yield finds;
    finds = [];
  }
  attempt(() => tokenizer.end(), CUT_OFF);
  if (!parser.isEnded) throw refused(CUT_OFF);
  if (finds.length > 0) yield finds;

  function attempt(step: () => void, what?: string): void {
    try {
      step();
    } catch (error) {
      if (error instanceof AppError || !(error instanceof Error)) throw error;
      throw refused(what ?? `invalid JSON near line ${lines.line()}${unexpected(error)}`, error);
    }
  }

  function tooLong(): AppError {
    return refused(
      `a value near line ${startLine} is longer than ${maxLineBytes} bytes; if you trust the source, raise --max-line-bytes`,
    );
  }

  function refused(what: string, cause?: unknown): AppError {
    return new AppError('bad_request', `${name}: ${what}`, { cause });
  }
}

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Its own decoder removes U+FEFF wherever one of its calls begins with it: another URL would be stored. */
function createTokenizer(): Tokenizer {
  const tokenizer = new Tokenizer();
  Object.assign((tokenizer as unknown as { bufferedString: object }).bufferedString, { decoder: DECODER });
  return tokenizer;
}

/** Of the parser's message only the character: the rest describes the parser. It is a byte, so only ASCII is shown. */
function unexpected({ message }: Error): string {
  const [, character] = /^Unexpected "([!-~])" at /.exec(message) ?? [];
  return character === undefined ? '' : `: ${JSON.stringify(character)} is not expected there`;
}

/** The bytes of a document that is held in memory; throws if it is too large. */
export function wholeDocument(source: Source): AsyncGenerator<Buffer> {
  const tooLarge = `${source.name}: larger than ${MAX_DOCUMENT_BYTES} bytes; split it into smaller files`;
  return bounded(source.bytes(), MAX_DOCUMENT_BYTES, tooLarge);
}

/** Counts lines lazily, up to the requested offset. */
function createLineCounter() {
  let chunk: Buffer = Buffer.alloc(0);
  let chunkStart = 0;
  let counted = 0;
  let line = 1;
  function countTo(end: number): void {
    for (let at = chunk.indexOf(LINE_FEED, counted); at !== -1 && at < end; at = chunk.indexOf(LINE_FEED, at + 1)) {
      line += 1;
      counted = at + 1;
    }
  }
  return {
    begin(next: Buffer): void {
      chunk = next;
      counted = 0;
    },
    end(): void {
      countTo(chunk.length);
      chunkStart += chunk.length;
    },
    /** `offset` counts from the start of the stream and must not decrease. */
    lineAt(offset: number): number {
      countTo(offset - chunkStart);
      return line;
    },
    line: () => line,
    bytes: () => chunkStart,
  };
}

function isBegin(token: TokenType): boolean {
  return token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET;
}

function isEnd(token: TokenType): boolean {
  return token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET;
}

/** The item of a record of a document. */
export function recordItem(record: unknown, line: number, read: (record: Record<string, unknown>) => ParsedRow): Item {
  return toItem(line, jsonText(record), isObject(record) ? read(record) : 'a record must be a JSON object');
}

/** The same for a list of records, or a single one. */
export function recordItems({ value, line }: JsonFind, read: (record: Record<string, unknown>) => ParsedRow): Item[] {
  return [value].flat().map((record) => recordItem(record, line, read));
}

/** The text of a reject: compact JSON, truncated. */
export function jsonText(value: unknown): string {
  return truncated(JSON.stringify(value));
}

/** The objects of a list; empty if the value is not a list. */
export function objectsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
