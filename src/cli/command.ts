import type { Flags } from './usage.ts';

/** One command of the program. */
export type Command = {
  /** The text that `urlwarden NAME --help` prints. It ends in a line break. */
  usage: string;
  /** What shells complete. */
  completes: Completes;
  /** Runs the command with the arguments after its name and returns the exit code. */
  run(args: string[]): Promise<number>;
};

type Completes = {
  flags: Flags;
  /** Values of the first operand; none if any text is one. */
  operandValues?: readonly string[];
  /** Commands that begin with the name of this one: `import list` in addition to `import FORMAT`. */
  entries?: readonly Entry[];
};

/** A command or a group of commands. It is loaded when it is called: `cost` needs no HTTP server. */
export type Entry = {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** The arguments after the name decide in one case: `import FORMAT` is a command, `import list` is in a group. */
  load(args: string[]): Promise<Command | CommandGroup>;
};

/** Commands under one name, such as `urlwarden account add`. `--help` lists them in this order. */
export type CommandGroup = { entries: readonly Entry[] };

/** The command is valid but failed, or was stopped. */
export const EXIT_FAILURE = 1;
/** The command line is invalid; 2 is the convention of Unix programs. */
export const EXIT_USAGE = 2;

/** An invalid command line. The message gives the reason. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
