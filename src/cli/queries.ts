import { parseJson } from '../core/json-object.ts';
import { type Line, readLines, withoutReturn } from '../ingest/sources/lines.ts';
import type { Command } from './command.ts';
import { defineCommand } from './define-command.ts';
import { print } from './output.ts';
import type { Usage } from './usage.ts';

/** How a command finds the result of one query. */
type QueryCommand = {
  /** For programs (`--json`): any JSON value in, one object out. */
  resultJson(value: unknown): object;
  /** For people: whole lines of text. */
  resultText(query: string): TextResult;
  /** The real form of a defanged operand; JSON from a program is never defanged. */
  refang(operand: string): string;
};

export type TextResult = { text: string; isRefused: boolean };

/** The limit of a request body. The longest URL, each of its 8,192 characters written \uXXXX, takes 49,154 bytes. */
const LINE_MAX_BYTES = 64 * 1024;

export const UNREADABLE = {
  too_long: 'The line is longer than 64 KiB.',
  invalid_unicode: 'The line is not valid UTF-8.',
} as const;

/** A command that answers one query per operand, or per line of standard input if there are no operands. */
export function queriesCommand(
  { jsonOutput, ...usage }: Omit<Usage, 'flags'> & { jsonOutput: string },
  command: QueryCommand,
): Command {
  const meaning = `read one JSON string per line of standard input, print one JSON object per line: ${jsonOutput}`;
  return defineCommand({ ...usage, isRepeated: true, flags: { json: { meaning } } }, ({ operands, flags }) =>
    printResults(command, operands, flags.json === true),
  );
}

/** Memory does not grow with the input. The exit code is 1 if a query was refused, but not with `--json`. */
async function printResults(command: QueryCommand, operands: string[], isJson: boolean): Promise<number> {
  const lines = operands.length > 0 ? [operands.map(operandLine)] : isJson ? inputLines() : nonEmptyLines();
  let code = 0;
  for await (const batch of lines) {
    const results = batch.map((line) => (isJson ? jsonResult(command, line) : textResult(command, line)));
    if (results.some(({ isRefused }) => isRefused)) code = 1;
    await print(results.map(({ text }) => text).join(''));
  }
  return code;

  /** An operand is plain text also with `--json`. */
  function operandLine(text: string): Line {
    return { ok: true, text: isJson ? JSON.stringify(command.refang(text)) : text };
  }
}

/**
 * The lines of standard input, in chunks as they arrive, without a byte-order mark. Not `source.ts`, which waits for three
 * bytes: a program may send a shorter line and wait for its result.
 */
async function* inputLines(): AsyncGenerator<Line[]> {
  let isStart = true;
  for await (const lines of readLines(standardInput(), LINE_MAX_BYTES)) {
    const [first] = lines;
    if (isStart && first !== undefined) first.text = first.text.replace(/^\ufeff/, '');
    isStart = false;
    yield lines;
  }
}

/** An empty line is no query, but an empty operand is one. */
export async function* nonEmptyLines(): AsyncGenerator<Line[]> {
  for await (const lines of inputLines()) yield lines.filter(({ ok, text }) => !ok || text.trim() !== '');
}

function standardInput(): AsyncIterable<Buffer> {
  if (process.stdin.isTTY) process.stderr.write('Reading standard input, one entry per line. Ctrl-D ends it.\n');
  return process.stdin;
}

/** Exactly one line per input line. A refusal is a normal result, also to invalid JSON: no value is no string. */
function jsonResult(command: QueryCommand, line: Line): TextResult {
  const result = line.ok ? command.resultJson(parseJson(line.text)) : { error: line.error };
  return { text: `${JSON.stringify(result)}\n`, isRefused: false };
}

function textResult(command: QueryCommand, line: Line): TextResult {
  if (!line.ok) return { text: `refused: ${UNREADABLE[line.error]}\n`, isRefused: true };
  return command.resultText(withoutReturn(line.text));
}
