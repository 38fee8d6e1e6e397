import { programVersion } from '../config/version.ts';
import { AppError } from '../core/errors.ts';
import { suggestion } from '../core/suggestion.ts';
import { type Command, type Entry, EXIT_FAILURE, EXIT_USAGE, UsageError } from './command.ts';
import { fitTerminal, handleOutputErrors, print, visible } from './output.ts';
import { definitions } from './usage.ts';

/** `urlwarden --help` lists them in this order. */
const COMMANDS: readonly Entry[] = [
  {
    name: 'serve',
    summary: 'Start the HTTP server.',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  {
    name: 'import',
    summary: 'Import data from a file, a URL or standard input.',
    load: async (args) => (await import('./commands/import.ts')).importFor(args),
  },
  {
    name: 'export',
    summary: 'Write the stored data to standard output.',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  {
    name: 'lookup',
    summary: 'Show what is known about URLs.',
    load: async () => (await import('./commands/lookup.ts')).lookup,
  },
  {
    name: 'check',
    summary: 'Look up every URL of a list, a CSV file, a log or a mail.',
    load: async () => (await import('./commands/check.ts')).check,
  },
  {
    name: 'search',
    summary: 'Find URLs by address, host, network, malware family or file.',
    load: async () => (await import('./commands/search.ts')).search,
  },
  {
    name: 'feed',
    summary: 'Manage the feeds that the server fetches.',
    load: async () => (await import('./commands/feed.ts')).feed,
  },
  {
    name: 'networks',
    summary: 'Look up the networks (ASN) of addresses, and fill in missing ones.',
    load: async () => (await import('./commands/networks.ts')).networks,
  },
  {
    name: 'listing',
    summary: 'Show, add and remove listings of addresses.',
    load: async () => (await import('./commands/listing.ts')).listing,
  },
  {
    name: 'domain',
    summary: 'Show the score of a domain, and set what you know about it.',
    load: async () => (await import('./commands/domain.ts')).domain,
  },
  {
    name: 'allow',
    summary: 'Manage the networks that are never listed.',
    load: async () => (await import('./commands/allow.ts')).allow,
  },
  {
    name: 'list',
    summary: 'Manage the lists that devices fetch, and what is excluded from them.',
    load: async () => (await import('./commands/list.ts')).list,
  },
  {
    name: 'account',
    summary: 'Manage the accounts that may query the server.',
    load: async () => (await import('./commands/account.ts')).account,
  },
  {
    name: 'tier',
    summary: 'Manage tiers, the named sets of limits for accounts.',
    load: async () => (await import('./commands/tier.ts')).tier,
  },
  {
    name: 'usage',
    summary: 'Report the counted queries of a month, for billing.',
    load: async () => (await import('./commands/usage.ts')).usage,
  },
  {
    name: 'key',
    summary: 'List the keys that sign tokens, and replace them.',
    load: async () => (await import('./commands/key.ts')).key,
  },
  {
    name: 'audit',
    summary: 'Show who changed accounts, tiers, keys, feeds, listings and lists.',
    load: async () => (await import('./commands/audit.ts')).audit,
  },
  {
    name: 'backup',
    summary: 'Write all data to one file, also while the server is running.',
    load: async () => (await import('./commands/backup.ts')).backup,
  },
  {
    name: 'restore',
    summary: 'Create a data folder from a backup.',
    load: async () => (await import('./commands/restore.ts')).restore,
  },
  {
    name: 'integrity',
    summary: 'Check the data for damage, also while the server is running.',
    load: async () => (await import('./commands/integrity.ts')).integrity,
  },
  {
    name: 'move',
    summary: 'Copy all data from a folder to PostgreSQL.',
    load: async () => (await import('./commands/move.ts')).move,
  },
  {
    name: 'completion',
    summary: 'Print a script that completes commands and flags in a shell.',
    load: async () => (await import('./commands/completion.ts')).completionOf(COMMANDS),
  },
  {
    name: 'normalize',
    summary: 'Show the normalized form in which a URL is stored and looked up.',
    load: async () => (await import('./commands/normalize.ts')).normalize,
  },
  {
    name: 'config',
    summary: 'Show the settings and where they come from.',
    load: async () => (await import('./commands/config.ts')).config,
  },
  {
    name: 'cost',
    summary: 'Show how many queries a search for an address or network counts as.',
    load: async () => (await import('./commands/cost.ts')).cost,
  },
];

/** Flags of the program itself. */
const FLAGS = [
  ['--help', 'Show this help. urlwarden COMMAND --help shows the help of a command.'],
  ['--version', 'Show the version.'],
] as const;

handleOutputErrors();
process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const [first = '', ...rest] = args;
  if (['--version', 'version'].includes(first)) return printed(`urlwarden ${programVersion()}\n`);
  return dispatch('urlwarden', COMMANDS, first === 'help' ? [...rest, '--help'] : args);
}

/** `path` is the part of the command line before `name`. */
async function dispatch(path: string, entries: readonly Entry[], [name, ...args]: string[]): Promise<number> {
  if (name === undefined) return complain(help(path, entries));
  if (isHelp(name)) return printed(help(path, entries));
  const entry = entries.find((candidate) => candidate.name === name);
  if (entry === undefined) return complain(unknownName(path, entries, name));
  const loaded = await entry.load(args);
  if ('entries' in loaded) return dispatch(`${path} ${name}`, loaded.entries, args);
  return wantsHelp(args) ? printed(loaded.usage) : run(`${path} ${name}`, loaded, args);
}

async function run(path: string, command: Command, args: string[]): Promise<number> {
  try {
    return await command.run(args);
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message}\nSee: ${path} --help\n`);
    if (!(error instanceof AppError)) throw error;
    // A message may quote a hostile source, such as a file name in a zip file.
    process.stderr.write(fitTerminal(`${error.message.split('\n').map(visible).join('\n')}\n`, process.stderr));
    return EXIT_FAILURE;
  }
}

function help(path: string, entries: readonly Entry[]): string {
  const commands = definitions(entries.map(({ name, summary }) => [name, summary]));
  const rest =
    entries === COMMANDS ? `Flags:\n${definitions(FLAGS)}` : `Help for one command: ${path} COMMAND --help\n`;
  return `Usage: ${path} COMMAND [FLAGS]\n\nCommands:\n${commands}\n${rest}`;
}

/** With a suggestion, the list of commands is left out: it would move the suggestion out of a small window. */
function unknownName(path: string, entries: readonly Entry[], name: string): string {
  const isFlag = name.startsWith('-');
  const flags = entries === COMMANDS ? FLAGS.map(([flag]) => flag) : ['--help'];
  const names = isFlag ? flags : entries.map((entry) => entry.name);
  const similar = suggestion(name, names);
  const advice = similar === '' ? `\n\n${help(path, entries)}` : `${similar}\nSee: ${path} --help\n`;
  return `${path} has no ${isFlag ? 'flag' : 'command'} ${JSON.stringify(name)}.${advice}`;
}

function isHelp(arg: string): boolean {
  return arg === '--help' || arg === '-h';
}

/** Arguments after `--` are operands, never flags. */
function wantsHelp(args: string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? args.length : end).some(isHelp);
}

async function printed(text: string): Promise<number> {
  await print(text);
  return 0;
}

function complain(text: string): number {
  process.stderr.write(fitTerminal(text, process.stderr));
  return EXIT_USAGE;
}
