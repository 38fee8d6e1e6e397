import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { badRequest } from '../core/errors.ts';
import { readLines } from '../ingest/sources/lines.ts';

/** Limit of a line on standard input. A password has at most 1,024 bytes, a header rarely more. */
const LINE_MAX_BYTES = 64 * 1024;

// Prompts go to standard error: standard output is for the result, which may be JSON for a program.

/** Reads a password twice from the terminal, without echo. If standard input is not a terminal: its first line. */
export async function readNewPassword(): Promise<string> {
  if (!process.stdin.isTTY) return firstLine('password');
  const [password, again] = await askHidden(['New password: ', 'Repeat password: ']);
  if (password === again) return password ?? '';
  throw badRequest('The two passwords differ. Nothing was changed.');
}

/** Reads a secret from the terminal, without echo. If standard input is not a terminal: its first line. */
export async function readSecret(what: string): Promise<string> {
  if (!process.stdin.isTTY) return firstLine(what);
  const [secret] = await askHidden([`${what}: `]);
  return secret ?? '';
}

/** Throws unless a person types yes. */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw badRequest('This needs a confirmation, and standard input is not a terminal. Add --yes to confirm.');
  }
  const lines = openLines(process.stderr, `${question} Type yes to confirm: `);
  try {
    if ((await lines.next()) === 'yes') return;
  } finally {
    lines.close();
  }
  throw badRequest('Nothing was changed.');
}

async function askHidden(prompts: string[]): Promise<string[]> {
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = openLines(discard, '');
  const answers: string[] = [];
  try {
    for (const prompt of prompts) {
      process.stderr.write(prompt);
      answers.push(await lines.next());
      process.stderr.write('\n');
    }
  } finally {
    lines.close();
  }
  return answers;
}

/** Reads lines from the terminal and echoes them to `output`. Holds the terminal until it is closed. */
function openLines(output: Writable, prompt: string) {
  const reader = createInterface({ input: process.stdin, output, terminal: true, historySize: 0, prompt });
  // An iterator, not `question()`, which loses a line that was typed before the prompt.
  const lines = reader[Symbol.asyncIterator]();
  reader.prompt();
  return {
    async next(): Promise<string> {
      const { value, done } = await lines.next();
      if (!done) return value;
      process.stderr.write('\n');
      throw badRequest('Canceled. Nothing was changed.');
    },
    close: () => reader.close(),
  };
}

async function firstLine(what: string): Promise<string> {
  for await (const [line] of readLines(process.stdin, LINE_MAX_BYTES)) {
    if (line?.ok) return line.text.replace(/\r$/, '');
    throw badRequest(`The ${what} on standard input is too long or not valid UTF-8.`);
  }
  throw badRequest(`Standard input is empty. Write the ${what} to it as one line.`);
}
