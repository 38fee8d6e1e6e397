/** One command of the program. `main.ts` holds the list of them. */
export type Command = {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** What `urlwarden NAME --help` prints, ending in a line break. */
  usage: string;
  /** Takes what stands after the command's name, gives the exit code. */
  run(args: string[]): Promise<number>;
};

/** For what went wrong and could go right another time. */
export const EXIT_FAILURE = 1;
/** For a command line that cannot be understood, as in most programs of Unix. */
export const EXIT_USAGE = 2;
