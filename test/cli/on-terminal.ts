import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { needs } from '../needs.ts';
import { PROGRAM } from './urlwarden.ts';

needs('script', 'bsdutils');

/** What is typed when the terminal shows a text. */
export type Typing = readonly (readonly [shown: string, typed: string])[];

export type TerminalOutcome = {
  code: number | null;
  /** What a person sees. */
  screen: string;
  /** What the program wrote, with the orders to the terminal. */
  written: string;
};

/** Runs the program on a terminal of its own. */
export async function onTerminal(args: string[], typing: Typing = []): Promise<TerminalOutcome> {
  const command = [process.execPath, PROGRAM, ...args].map((arg) => `'${arg}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null']);
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
