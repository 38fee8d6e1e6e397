import { Tokenizer, TokenParser, TokenType } from '@streamparser/json';
import { AppError } from '../../core/errors.ts';
import { beginning, type InputLimits, type Source } from './format.ts';

/** A value at one of the paths that were asked for. */
export type JsonFind = {
  /** The keys and indexes that lead to it. */
  path: (string | number)[];
  value: unknown;
  /** Where it begins. */
  line: number;
};

/** The deepest that the formats need is 9: a cluster of a galaxy of an attribute of an object of an event in a list. */
const MAX_DEPTH = 64;
/** Where nothing can be told before the end of a document, what was found must be held. Real ones have a few MB. */
const MAX_DOCUMENT_BYTES = 64 * 2 ** 20;
const LINE_FEED = 0x0a;
const IN_THE_MIDDLE = 'the JSON ends in the middle; fetch or copy the file again';

/**
 * The values at some paths of a JSON document (`$.objects.*`), as many at a time as have arrived; nothing else is kept.
 * Each takes at most `maxLineBytes`. Throws for a document that is no JSON: there is no place from which to go on.
 */
export async function* readJson(
  chunks: AsyncIterable<Buffer>,
  name: Source['name'],
  { maxLineBytes }: Pick<InputLimits, 'maxLineBytes'>,
  paths: string[],
): AsyncGenerator<JsonFind[]> {
  /** A value that was asked for lies inside so many brackets; what is deeper is part of one. */
  const valueDepth = Math.max(...paths.map((path) => path.split('.').length - 1));
  const lines = createLineCounter();
  let finds: JsonFind[] = [];
  let depth = 0;
  let startLine = 1;
  let startByte = 0;
  const tokenizer = new Tokenizer();
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
    if (depth > MAX_DEPTH) throw refused(`nested more than ${MAX_DEPTH} deep`);
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
  attempt(() => tokenizer.end(), IN_THE_MIDDLE);
  if (!parser.isEnded) throw refused(IN_THE_MIDDLE);
  if (finds.length > 0) yield finds;

  function attempt(step: () => void, what?: string): void {
    try {
      step();
    } catch (error) {
      if (error instanceof AppError || !(error instanceof Error)) throw error;
      throw refused(what ?? `no JSON near line ${lines.line()} (${beginning(error.message)})`, error);
    }
  }

  function tooLong(): AppError {
    return refused(`a value near line ${startLine} is longer than ${maxLineBytes} bytes`);
  }

  function refused(what: string, cause?: unknown): AppError {
    return new AppError('bad_request', `${name}: ${what}`, { cause });
  }
}

/** The bytes of a document whose parts refer to each other. */
export async function* wholeDocument(source: Source): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of source.bytes()) {
    bytes += chunk.length;
    if (bytes > MAX_DOCUMENT_BYTES) {
      throw new AppError(
        'bad_request',
        `${source.name}: longer than ${MAX_DOCUMENT_BYTES} bytes; split it into smaller ones`,
      );
    }
    yield chunk;
  }
}

/** Line numbers of a stream, counted up to where somebody asks. */
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
    /** `offset` counts from the beginning of the stream; tokens come in order. */
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

/** For rejects: the record as compact JSON, its beginning. */
export function jsonText(value: unknown): string {
  return beginning(JSON.stringify(value));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; nothing where it is no list. */
export function objectsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
