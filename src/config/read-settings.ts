import { parseArgs } from 'node:util';

/** One setting: a flag and its environment variable. `read` returns null for an invalid text. */
export type Setting<Value> = {
  flag: string;
  /** The placeholder after the flag in the usage text; a switch has none. */
  argument?: string;
  meaning: string;
  /** The default; null if the setting is optional. */
  fallback: Value;
  read(text: string): Value | null;
  /** Describes a valid text; completes the sentence "--port must be …". */
  accepts: string;
  /** The value may contain a password, so error messages do not show it. */
  isSecret?: true;
};

// biome-ignore lint/suspicious/noExplicitAny: the settings of a table have different types
export type SettingTable = Record<string, Setting<any>>;

export type SettingValues<Table extends SettingTable> = {
  [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never;
};

type ReadSettings<Table extends SettingTable> =
  | { ok: true; values: SettingValues<Table> }
  | { ok: false; faults: string[] };

type Environment = Record<string, string | undefined>;

const PREFIX = 'URLWARDEN_';
/** Variables that only the tests read: the URLs of test servers. */
const TEST_PREFIX = 'URLWARDEN_TEST_';

/** `--query-budget-ms` is URLWARDEN_QUERY_BUDGET_MS. */
export function variableOf(flag: string): string {
  return PREFIX + flag.toUpperCase().replaceAll('-', '_');
}

/**
 * Reads all settings of a command. A flag takes precedence over its variable, a variable over the default. Reports every
 * fault together, so that an operator can correct them in one edit. An unknown variable with our prefix is a fault too,
 * because it is probably a misspelt name. `all` are the settings of the whole program.
 */
export function readSettings<Table extends SettingTable>(
  table: Table,
  args: string[],
  env: Environment,
  all: SettingTable = table,
): ReadSettings<Table> {
  const { flags, faults } = readFlags(table, args);
  const variables = new Set(Object.values(all).map(({ flag }) => variableOf(flag)));
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || name.startsWith(TEST_PREFIX) || variables.has(name)) continue;
    faults.push(`${name} is set, but no such setting exists: unset it or correct its name`);
  }
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(table)) {
    const variable = variableOf(setting.flag);
    const text = flags.get(setting.flag) ?? env[variable];
    const value = text === undefined ? setting.fallback : setting.read(text);
    if (text !== undefined && value === null) {
      const source = flags.has(setting.flag) ? `--${setting.flag}` : variable;
      faults.push(`${source} must be ${setting.accepts}${setting.isSecret ? '' : `, not ${JSON.stringify(text)}`}`);
    }
    values[name] = value;
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, values: values as SettingValues<Table> };
}

function readFlags(table: SettingTable, args: string[]): { flags: Map<string, string>; faults: string[] } {
  const byFlag = new Map(Object.values(table).map((setting) => [setting.flag, setting]));
  const options = Object.fromEntries(
    [...byFlag].map(([flag, { argument }]) => [flag, { type: argument ? ('string' as const) : ('boolean' as const) }]),
  );
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const flags = new Map<string, string>();
  const faults: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') faults.push(`"${token.value}" is not expected here`);
    if (token.kind !== 'option') continue;
    const setting = byFlag.get(token.name);
    if (setting === undefined) faults.push(`${token.rawName} is not a flag of this command`);
    else if (setting.argument === undefined) flags.set(token.name, token.value ?? 'true');
    else if (token.value === undefined)
      faults.push(`${token.rawName} needs a value: ${token.rawName} ${setting.argument}`);
    else if (flags.has(token.name)) faults.push(`${token.rawName} is set twice`);
    else flags.set(token.name, token.value);
  }
  return { flags, faults };
}
