import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { type Control, type DataPlace, openControl } from '../app/stores.ts';
import { readSettings, variableOf } from '../config/read-settings.ts';
import { SETTINGS } from '../config/settings.ts';
import { type Command, UsageError } from './command.ts';
import { print } from './output.ts';

const { dataDir, databaseUrl, databaseReadUrls, databaseConnections } = SETTINGS;
const PLACE = { dataDir, databaseUrl, databaseReadUrls, databaseConnections };

/** What stands after the command, read: each operand by its name, each option by its flag. */
export type Input = { operands: string[]; options: Record<string, string | true>; place: DataPlace };

/** The same answer twice: for people, and as one JSON value whose keys stay as they are. */
export type Answer = { text: string; json: object };

type Shape = {
  /** What stands after `urlwarden`, up to the options that all have. */
  synopsis: string;
  /** What it does; then its own options, indented; both whole lines. */
  about: string;
  flags?: string;
  /** Names of what must stand there, in order. */
  operands?: readonly string[];
  /** Names of what may stand behind them. */
  optional?: readonly string[];
  options?: ParseArgsOptionsConfig;
};

const PLACE_FLAGS = `  --data DIR   folder of the database (default ${dataDir.fallback}; variable ${variableOf(dataDir.flag)})
  --database-url URL
               PostgreSQL instead of a folder (better as variable ${variableOf(databaseUrl.flag)}: others see flags)\n`;
const JSON_FLAG = '  --json       for programs: one JSON value instead of text\n';

/** A command that works on the data, in a folder or in PostgreSQL. */
export function dataCommand(shape: Shape, run: (input: Input) => Promise<number>): Command {
  return {
    usage: `urlwarden ${shape.synopsis} [--data DIR]\n\n${shape.about}\n${shape.flags ?? ''}${PLACE_FLAGS}`,
    run: (args) => run(readInput(shape, args)),
  };
}

/** A command that asks or changes the control data, also beside a running server, and says what came of it. */
export function controlCommand(shape: Shape, answer: (control: Control, input: Input) => Promise<Answer>): Command {
  const options: ParseArgsOptionsConfig = { ...shape.options, json: { type: 'boolean' } };
  const command = dataCommand({ ...shape, synopsis: `${shape.synopsis} [--json]`, options }, async (input) => {
    const control = await openControl(input.place);
    try {
      const { text, json } = await answer(control, input);
      await print(input.options.json ? `${JSON.stringify(json)}\n` : text);
      return 0;
    } finally {
      await control.close();
    }
  });
  return { ...command, usage: command.usage + JSON_FLAG };
}

/** For commands on a folder of the embedded store, which PostgreSQL has its own tools for. */
export function requireFolder({ dataDir, databaseUrl }: DataPlace): string {
  if (!databaseUrl) return dataDir;
  throw new UsageError(
    'The data is in PostgreSQL, whose own tools do this (docs/scaling.md); for a folder give --data',
  );
}

function readInput({ operands = [], optional = [], options = {} }: Shape, args: string[]): Input {
  const { values, positionals } = parseArgs({
    args,
    options: { ...options, data: { type: 'string' }, 'database-url': { type: 'string' } },
    allowPositionals: true,
  });
  const missing = operands[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  const extra = positionals[operands.length + optional.length];
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is not expected here`);
  const { data, 'database-url': url, ...others } = values as Record<string, string | true>;
  return { operands: positionals, options: others, place: readPlace({ data, 'database-url': url }) };
}

/** A folder on the command line wins over a database in the environment. */
function readPlace(flags: Record<string, string | true | undefined>): DataPlace {
  const args = Object.entries(flags).flatMap(([flag, text]) => (text === undefined ? [] : [`--${flag}=${text}`]));
  const read = readSettings(PLACE, args, process.env, SETTINGS);
  if (!read.ok) throw new UsageError(read.faults.join('\n'));
  const isFolderNamed = flags.data !== undefined && flags['database-url'] === undefined;
  return isFolderNamed ? { dataDir: read.values.dataDir } : read.values;
}
