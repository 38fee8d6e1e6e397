import { AppError } from '../core/errors.ts';
import { type Command, EXIT_FAILURE, EXIT_USAGE } from './command.ts';
import { cost } from './commands/cost.ts';
import { normalize } from './commands/normalize.ts';
import { serve } from './commands/serve.ts';
import { leaveQuietlyOnClosedPipe, print } from './output.ts';

/** In the order in which `urlwarden --help` lists them. */
const COMMANDS: readonly Command[] = [serve, normalize, cost];

leaveQuietlyOnClosedPipe();
process.exitCode = await main(process.argv.slice(2));

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined) return complain(help());
  if (isHelp(name)) return printed(help());
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) return complain(`urlwarden has no command ${JSON.stringify(name)}.\n\n${help()}`);
  if (asksForHelp(args)) return printed(command.usage);
  try {
    return await command.run(args);
  } catch (error) {
    if (isBadOption(error)) return complain(`${error.message}\nSee: urlwarden ${command.name} --help\n`);
    if (!(error instanceof AppError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT_FAILURE;
  }
}

function help(): string {
  const width = Math.max(...COMMANDS.map((command) => command.name.length));
  const lines = COMMANDS.map((command) => `  ${command.name.padEnd(width)}   ${command.summary}\n`);
  return `urlwarden COMMAND [OPTIONS]\n\n${lines.join('')}\nMore about one: urlwarden COMMAND --help\n`;
}

function isHelp(arg: string): boolean {
  return arg === '--help' || arg === '-h';
}

/** What stands after `--` is never an option. */
function asksForHelp(args: string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? args.length : end).some(isHelp);
}

/** Thrown by parseArgs of node:util, whose messages say what is wrong with which option. */
function isBadOption(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

async function printed(text: string): Promise<number> {
  await print(text);
  return 0;
}

function complain(text: string): number {
  process.stderr.write(text);
  return EXIT_USAGE;
}
