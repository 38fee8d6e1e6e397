/** One command of the program. */
export type Command = {
  /** What `urlwarden NAME --help` prints, ending in a line break. */
  usage: string;
  /** Takes what stands after the command's name, gives the exit code. */
  run(args: string[]): Promise<number>;
};

/** A command or several under one name, by name. Loaded when it is typed: `cost` needs no HTTP server. */
export type Entry = {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** Takes what stands behind the name, for a command that has others beside it: `import FORMAT`, `import list`. */
  load(args: string[]): Promise<Command | CommandGroup>;
};

/** `urlwarden account add`, `urlwarden account list`, … In the order in which `--help` lists them. */
export type CommandGroup = { entries: readonly Entry[] };

/** For what went wrong and could go right another time. */
export const EXIT_FAILURE = 1;
/** For a command line that cannot be understood, as in most programs of Unix. */
export const EXIT_USAGE = 2;

/** A command line that cannot be understood; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
