/** A place in a text, for the parsers of settings files. */
export type TextScanner = {
  /** Moves past the pattern, which must be sticky, and returns its match; null if the text does not continue with it. */
  take(pattern: RegExp): RegExpExecArray | null;
  isAtEnd(): boolean;
  /** From 1. */
  line(): number;
};

export function createTextScanner(text: string): TextScanner {
  let at = 0;
  let line = 1;
  return {
    take(pattern) {
      pattern.lastIndex = at;
      const match = pattern.exec(text);
      if (match === null) return null;
      at += match[0].length;
      line += match[0].split('\n').length - 1;
      return match;
    },
    isAtEnd: () => at === text.length,
    line: () => line,
  };
}

/** A value as it stands in a file, and its line. */
export type FileEntry = { key: string; value: FileValue; line: number };
export type FileValue = string | number | boolean | readonly string[];

type FileFault = { line: number; message: string };

export type ParsedFile = { entries: FileEntry[]; faults: FileFault[] };

/** The text does not follow the format. Thrown and caught inside a parser. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}
