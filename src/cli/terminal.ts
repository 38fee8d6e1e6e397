import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { AppError } from '../core/errors.ts';
import { readLines } from '../ingest/sources/lines.ts';

/** Of a line on standard input; a password has at most 1,024 bytes, and a header hardly more. */
const LINE_MAX_BYTES = 64 * 1024;

// Questions go to standard error: standard output is for the answer, which may be JSON for a program.

/** From the terminal, typed twice and not shown; where there is none, the first line of standard input. */
export async function readNewPassword(): Promise<string> {
  if (!process.stdin.isTTY) return firstLine('password');
  const [password, again] = await askHidden(['New password: ', 'The same again: ']);
  if (password === again) return password ?? '';
  throw new AppError('bad_request', 'The two passwords differ, so nothing was changed: try again.');
}

/** From the terminal, not shown; where there is none, the first line of standard input. */
export async function readSecret(what: string): Promise<string> {
  if (!process.stdin.isTTY) return firstLine(what);
  const [secret] = await askHidden([`${what}: `]);
  return secret ?? '';
}

/** Refuses to go on without a person's yes. */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new AppError('bad_request', 'Nobody can be asked here: add --yes if you are sure.');
  const lines = openLines(process.stderr, `${question} Type yes: `);
  try {
    if ((await lines.next()) === 'yes') return;
  } finally {
    lines.close();
  }
  throw new AppError('bad_request', 'Nothing was changed.');
}

async function askHidden(questions: string[]): Promise<string[]> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = openLines(nowhere, '');
  const answers: string[] = [];
  try {
    for (const question of questions) {
      process.stderr.write(question);
      answers.push(await lines.next());
      process.stderr.write('\n');
    }
  } finally {
    lines.close();
  }
  return answers;
}

/** What is typed is echoed to `output`. The terminal is ours from here on until it is closed. */
function openLines(output: Writable, prompt: string) {
  const reader = createInterface({ input: process.stdin, output, terminal: true, historySize: 0, prompt });
  // An iterator, not `question()`: that one loses a line that was typed ahead.
  const lines = reader[Symbol.asyncIterator]();
  reader.prompt();
  return {
    async next(): Promise<string> {
      const { value, done } = await lines.next();
      if (!done) return value;
      process.stderr.write('\n');
      throw new AppError('bad_request', 'Called off: nothing was changed.');
    },
    close: () => reader.close(),
  };
}

async function firstLine(what: string): Promise<string> {
  for await (const [line] of readLines(process.stdin, LINE_MAX_BYTES)) {
    if (line?.ok) return line.text.replace(/\r$/, '');
    throw new AppError('bad_request', `The ${what} on standard input is too long, or not valid UTF-8.`);
  }
  throw new AppError('bad_request', `There is no ${what} on standard input: write it there on one line.`);
}
