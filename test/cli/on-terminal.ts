import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { needs } from '../needs.ts';
import { PROGRAM } from './urlwarden.ts';

needs('script', 'bsdutils');

/** Each text is typed when the terminal shows the one before it. */
export type Typing = readonly (readonly [shown: string, typed: string])[];

export type TerminalOutcome = {
  code: number | null;
  /** The visible text. */
  screen: string;
  /** The output with its control sequences. */
  written: string;
};

/** Runs the program on a new pseudo-terminal of 80 columns. */
export async function onTerminal(args: string[], typing: Typing = []): Promise<TerminalOutcome> {
  const command = [process.execPath, PROGRAM, ...args].map((arg) => `'${arg}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', `stty columns 80 && ${command}`, '/dev/null']);
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const left = [...typing];
  let [written, seen] = ['', 0];
  child.stdout.setEncoding('utf8');
  for await (const chunk of child.stdout) {
    written += chunk;
    const next = left[0];
    if (next === undefined || !written.slice(seen).includes(next[0])) continue;
    seen = written.length;
    child.stdin.write(next[1]);
    left.shift();
  }
  return { code: await ended, screen: stripVTControlCharacters(written).replaceAll(/\r+\n/g, '\n'), written };
}
