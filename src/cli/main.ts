import { AppError } from '../core/errors.ts';
import { type Command, type Entry, EXIT_FAILURE, EXIT_USAGE, UsageError } from './command.ts';
import { leaveQuietlyOnClosedPipe, print } from './output.ts';

/** In the order in which `urlwarden --help` lists them. */
const COMMANDS: readonly Entry[] = [
  {
    name: 'serve',
    summary: 'Answer queries over HTTP.',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    name: 'import',
    summary: 'Add what a file, a URL or standard input tells about URLs.',
    load: async (args) => (await import('./commands/import.ts')).importFor(args),
  },
  {
    name: 'export',
    summary: 'Write all that is known to standard output.',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  {
    name: 'feed',
    summary: 'Say which feeds the server fetches, and see how they are.',
    load: async () => (await import('./commands/feed.ts')).feed,
  },
  {
    name: 'networks',
    summary: 'Fill in the networks of addresses, and look them up.',
    load: async () => (await import('./commands/networks.ts')).networks,
  },
  {
    name: 'account',
    summary: 'Add, change and remove the accounts that may ask.',
    load: async () => (await import('./commands/account.ts')).account,
  },
  {
    name: 'tier',
    summary: 'Show and define the limits that accounts have.',
    load: async () => (await import('./commands/tier.ts')).tier,
  },
  {
    name: 'key',
    summary: 'Replace the key that signs tokens.',
    load: async () => (await import('./commands/key.ts')).key,
  },
  {
    name: 'backup',
    summary: 'Write all data to one file while the server runs.',
    load: async () => (await import('./commands/backup.ts')).backup,
  },
  {
    name: 'restore',
    summary: 'Make a data folder from a backup.',
    load: async () => (await import('./commands/restore.ts')).restore,
  },
  {
    name: 'move',
    summary: 'Copy all data of a folder into PostgreSQL.',
    load: async () => (await import('./commands/move.ts')).move,
  },
  {
    name: 'normalize',
    summary: 'Show the form under which a URL is stored and found.',
    load: async () => (await import('./commands/normalize.ts')).normalize,
  },
  {
    name: 'cost',
    summary: 'Show how many queries a search for an address or network counts as.',
    load: async () => (await import('./commands/cost.ts')).cost,
  },
];

leaveQuietlyOnClosedPipe();
process.exitCode = await dispatch('urlwarden', COMMANDS, process.argv.slice(2));

/** `path` is what was typed so far. */
async function dispatch(path: string, entries: readonly Entry[], [name, ...args]: string[]): Promise<number> {
  if (name === undefined) return complain(help(path, entries));
  if (isHelp(name)) return printed(help(path, entries));
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) return complain(`${path} has no command ${JSON.stringify(name)}.\n\n${help(path, entries)}`);
  const loaded = await entry.load(args);
  if ('entries' in loaded) return dispatch(`${path} ${name}`, loaded.entries, args);
  return asksForHelp(args) ? printed(loaded.usage) : run(`${path} ${name}`, loaded, args);
}

async function run(path: string, command: Command, args: string[]): Promise<number> {
  try {
    return await command.run(args);
  } catch (error) {
    if (isBadUsage(error)) return complain(`${error.message}\nSee: ${path} --help\n`);
    if (!(error instanceof AppError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT_FAILURE;
  }
}

function help(path: string, entries: readonly Entry[]): string {
  const width = Math.max(...entries.map((entry) => entry.name.length));
  const lines = entries.map((entry) => `  ${entry.name.padEnd(width)}   ${entry.summary}\n`);
  return `${path} COMMAND [OPTIONS]\n\n${lines.join('')}\nMore about one: ${path} COMMAND --help\n`;
}

function isHelp(arg: string): boolean {
  return arg === '--help' || arg === '-h';
}

/** What stands after `--` is never an option. */
function asksForHelp(args: string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? args.length : end).some(isHelp);
}

/** Ours, or thrown by parseArgs of node:util, whose messages say what is wrong with which option. */
function isBadUsage(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
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
