import { parseArgs } from 'node:util';
import { type Line, readLines } from '../ingest/sources/lines.ts';
import { print } from './output.ts';

/** A command that answers one question per argument, or per line of standard input. */
export type Questions = {
  /** For programs (`--json`): any JSON value in, one object out. */
  answerJson(value: unknown): object;
  /** For people: whole lines of text, and whether the question was refused. */
  answerText(question: string): { text: string; refused: boolean };
};

/** What a request body may have. The longest URL, each of its 8,192 characters written \uXXXX, takes 49,154 bytes. */
const LINE_MAX_BYTES = 64 * 1024;

const UNREADABLE = {
  too_long: 'The line is longer than 64 KiB.',
  invalid_unicode: 'The line is not valid UTF-8.',
} as const;

/** Streams: memory does not grow with the input. Exit code 1 when a question of a person was refused. */
export async function answerAll(questions: Questions, args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, options: { json: { type: 'boolean' } }, allowPositionals: true });
  const lines = positionals.length > 0 ? [positionals.map(argumentLine)] : readLines(standardInput(), LINE_MAX_BYTES);
  let code = 0;
  for await (const batch of lines) {
    const answers = batch.map((line) => (values.json ? jsonAnswer(questions, line) : textAnswer(questions, line)));
    if (answers.some((answer) => answer.refused)) code = 1;
    await print(answers.map((answer) => answer.text).join(''));
  }
  return code;

  /** An argument is the question itself; a line of standard input is a JSON string with `--json`. */
  function argumentLine(text: string): Line {
    return { ok: true, text: values.json ? JSON.stringify(text) : text };
  }
}

function standardInput(): AsyncIterable<Buffer> {
  if (process.stdin.isTTY) process.stderr.write('Reading from the terminal, one per line; end with Ctrl-D.\n');
  return process.stdin;
}

/** Exactly one line out for each line in, whatever it is; a refusal is an answer like any other. */
function jsonAnswer(questions: Questions, line: Line): { text: string; refused: boolean } {
  const answer = line.ok ? questions.answerJson(parseJson(line.text)) : { error: line.error };
  return { text: `${JSON.stringify(answer)}\n`, refused: false };
}

/** What is no JSON is no string either. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textAnswer(questions: Questions, line: Line): { text: string; refused: boolean } {
  if (!line.ok) return { text: `refused: ${UNREADABLE[line.error]}\n`, refused: true };
  const question = line.text.replace(/\r$/, '');
  return question === '' ? { text: '', refused: false } : questions.answerText(question);
}
