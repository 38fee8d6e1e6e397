import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { variableOf } from '../config/read-settings.ts';
import { SETTINGS } from '../config/settings.ts';
import type { Control } from '../store/control.ts';
import { openControl } from '../store/open.ts';
import { type Command, UsageError } from './command.ts';
import { print } from './output.ts';

const DATA_VARIABLE = variableOf(SETTINGS.dataDir.flag);

/** What stands after the command, read: each operand by its name, each option by its flag. */
export type Input = { operands: string[]; options: Record<string, string | true>; dataDir: string };

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

const DATA_FLAG = `  --data DIR   folder of the database (default ${SETTINGS.dataDir.fallback}; variable ${DATA_VARIABLE})\n`;
const JSON_FLAG = '  --json       for programs: one JSON value instead of text\n';

/** A command that works on a data folder. */
export function dataCommand(shape: Shape, run: (input: Input) => Promise<number>): Command {
  return {
    usage: `urlwarden ${shape.synopsis} [--data DIR]\n\n${shape.about}\n${shape.flags ?? ''}${DATA_FLAG}`,
    run: (args) => run(readInput(shape, args)),
  };
}

/** A command that asks or changes the control data, also beside a running server, and says what came of it. */
export function controlCommand(shape: Shape, answer: (control: Control, input: Input) => Promise<Answer>): Command {
  const options: ParseArgsOptionsConfig = { ...shape.options, json: { type: 'boolean' } };
  const command = dataCommand({ ...shape, synopsis: `${shape.synopsis} [--json]`, options }, async (input) => {
    const control = await openControl({ dataDir: input.dataDir });
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

function readInput({ operands = [], optional = [], options = {} }: Shape, args: string[]): Input {
  const { values, positionals } = parseArgs({
    args,
    options: { ...options, data: { type: 'string' } },
    allowPositionals: true,
  });
  const missing = operands[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  const extra = positionals[operands.length + optional.length];
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is not expected here`);
  const { data, ...others } = values as Record<string, string | true>;
  return { operands: positionals, options: others, dataDir: readDataDir(data) };
}

function readDataDir(flag: string | true | undefined): string {
  const text = flag ?? process.env[DATA_VARIABLE];
  const value = text === undefined ? SETTINGS.dataDir.fallback : SETTINGS.dataDir.read(`${text}`);
  if (value !== null) return value;
  throw new UsageError(`${flag === undefined ? DATA_VARIABLE : '--data'} must be ${SETTINGS.dataDir.accepts}`);
}
