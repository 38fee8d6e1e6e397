import { parseArgs } from 'node:util';
import { unknownFlag } from '../config/read-settings.ts';
import { type Command, UsageError } from './command.ts';
import { type Flag, type Flags, type Usage, usageText } from './usage.ts';

export type NoFlags = Readonly<Record<never, Flag>>;

type FlagValue<F extends Flag> = F extends { argument: string }
  ? F extends { isRequired: true }
    ? string
    : string | undefined
  : true | undefined;

/** The value of each flag; undefined if the command line does not have it. */
export type FlagValues<F extends Flags> = { [Name in keyof F]: FlagValue<F[Name]> };

export type Input<F extends Flags = NoFlags> = { operands: string[]; flags: FlagValues<F> };

export type Shape<F extends Flags> = Omit<Usage, 'flags'> & {
  flags?: F;
  /** Names of the required operands, in order. */
  operands?: readonly string[];
  /** Names of the operands that may follow them. */
  optional?: readonly string[];
  /** Values of the first operand, for the completion of shells. */
  operandValues?: readonly string[];
  /** Any number of operands may follow. */
  isRepeated?: true;
};

export const JSON_FLAG = { meaning: 'print one JSON value instead of text' } as const satisfies Flag;

/** A command whose help text and argument parser follow from its shape. */
export function defineCommand<const F extends Flags = NoFlags>(
  shape: Shape<F>,
  run: (input: Input<F>) => Promise<number>,
): Command {
  return {
    usage: usageText({ ...shape, flags: shape.flags ?? {} }),
    completes: { flags: shape.flags ?? {}, operandValues: shape.operandValues ?? [] },
    run: async (args) => run(parseInput(shape, args)),
  };
}

function parseInput<F extends Flags>(shape: Shape<F>, args: string[]): Input<F> {
  const { operands, flags } = parseTokens(shape.flags ?? {}, args);
  checkOperands(shape, operands);
  for (const [name, { argument, isRequired }] of Object.entries(shape.flags ?? {})) {
    if (isRequired && !flags.has(name)) throw new UsageError(`--${name} ${argument} is missing`);
  }
  return { operands, flags: Object.fromEntries(flags) as FlagValues<F> };
}

function checkOperands({ operands = [], optional = [], isRepeated }: Shape<Flags>, given: string[]): void {
  const missing = operands[given.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  const extra = isRepeated ? undefined : given[operands.length + optional.length];
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is not expected here`);
}

/** Not in the strict mode of parseArgs: its messages are longer and differ from those of `serve`. */
function parseTokens(table: Flags, args: string[]): { operands: string[]; flags: Map<string, string | true> } {
  const options = Object.fromEntries(
    Object.entries(table).map(([name, { argument }]) => [name, { type: argument ? 'string' : 'boolean' } as const]),
  );
  const { tokens, positionals } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const flags = new Map<string, string | true>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const value = readValue(table, token, args[token.index] ?? '');
    if (value !== true && flags.has(token.name)) throw new UsageError(`${token.rawName} is set twice`);
    flags.set(token.name, value);
  }
  return { operands: positionals, flags };
}

type OptionToken = { name: string; rawName: string; value?: string | undefined; inlineValue?: boolean | undefined };

/** `arg`: as it was typed. `-dry-run` is several flags of one letter for the parser, and no command has such. */
function readValue(table: Flags, { name, rawName, value, inlineValue }: OptionToken, arg: string): string | true {
  const flag = Object.hasOwn(table, name) ? table[name] : undefined;
  if (flag === undefined)
    throw new UsageError(
      unknownFlag(rawName.startsWith('--') ? rawName : (arg.split('=', 1)[0] ?? arg), Object.keys(table)),
    );
  if (flag.argument === undefined) {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value`);
    return true;
  }
  // The tier is missing in `--tier --json`. `-` (standard input) and `-1` are values.
  const isNextFlag = !inlineValue && /^--?[a-z]/i.test(value ?? '');
  if (value !== undefined && !isNextFlag) return value;
  throw new UsageError(`${rawName} needs a value: ${rawName} ${flag.argument}`);
}
