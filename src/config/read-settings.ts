import { parseArgs } from 'node:util';
import { withSuggestion } from '../core/suggestion.ts';

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
  /** All valid texts, if they are few: shells complete them. */
  values?: readonly string[];
  /** The value may contain a password, so error messages do not show it. */
  isSecret?: true;
  /** For paths: the value as an absolute path. In a settings file, paths are relative to the folder of the file. */
  resolveIn?(folder: string, value: NonNullable<Value>): Value;
};

// biome-ignore lint/suspicious/noExplicitAny: the settings of a table have different types
export type SettingTable = Record<string, Setting<any>>;

export type SettingValues<Table extends SettingTable> = {
  [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never;
};

type ReadSettings<Table extends SettingTable> =
  | { ok: true; values: SettingValues<Table> }
  | { ok: false; faults: string[] };

/** Where a value comes from: the flag, the variable, the file with its line. Null for the default. */
export type TracedSetting = {
  name: string;
  value: unknown;
  from: 'flag' | 'variable' | 'file' | 'default';
  where: string | null;
};

/** The values of a settings file, by the name of the flag. */
export type FileSettings = {
  values: ReadonlyMap<string, { value: unknown; where: string }>;
  faults: readonly string[];
};

/** Opens the settings file that was named by a flag or a variable; `path` is undefined if none was. */
type OpenFile = (path: string | undefined) => FileSettings;

const NO_FILE: FileSettings = { values: new Map(), faults: [] };

type Environment = Record<string, string | undefined>;

const PREFIX = 'URLWARDEN_';
/** Variables that only the tests read: the URLs of test servers. */
const TEST_PREFIX = 'URLWARDEN_TEST_';

/** Not settings: how a command logs in to another server. */
export const CREDENTIAL_VARIABLES = {
  username: `${PREFIX}USERNAME`,
  password: `${PREFIX}PASSWORD`,
  token: `${PREFIX}TOKEN`,
} as const;

/** `--query-budget-ms` is URLWARDEN_QUERY_BUDGET_MS. */
export function variableOf(flag: string): string {
  return PREFIX + flag.toUpperCase().replaceAll('-', '_');
}

/** The settings file itself is chosen by a flag or a variable. */
export const CONFIG = {
  flag: 'config',
  argument: 'FILE',
  meaning: 'settings file, TOML or JSON (default ./urlwarden.toml or ./urlwarden.json, if there is one)',
  fallback: null,
  read: (text) => text || null,
  accepts: 'the path of a file',
} satisfies Setting<string | null>;

/** See `traceSettings`. */
export function readSettings<Table extends SettingTable>(
  table: Table,
  args: string[],
  env: Environment,
  all: SettingTable = table,
  openFile: OpenFile = () => NO_FILE,
): ReadSettings<Table> {
  const { traced, faults } = traceSettings(table, args, env, all, openFile);
  if (faults.length > 0) return { ok: false, faults };
  return {
    ok: true,
    values: Object.fromEntries(traced.map(({ name, value }) => [name, value])) as SettingValues<Table>,
  };
}

/**
 * Reads all settings of a command. A flag takes precedence over its variable, a variable over the settings file, the file
 * over the default. Reports every fault together, so that an operator can correct them in one edit. An unknown variable
 * with our prefix is a fault too, because it is probably a misspelt name. `all` are the settings of the whole program.
 */
export function traceSettings(
  table: SettingTable,
  args: string[],
  env: Environment,
  all: SettingTable = table,
  openFile: OpenFile = () => NO_FILE,
): { traced: TracedSetting[]; faults: string[] } {
  const { flags, faults } = readFlags({ ...table, CONFIG }, args);
  const ofSettings = [CONFIG, ...Object.values(all)].map(({ flag }) => variableOf(flag));
  const variables = new Set([...ofSettings, ...Object.values(CREDENTIAL_VARIABLES)]);
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || name.startsWith(TEST_PREFIX) || variables.has(name)) continue;
    const fault = `${name} is set, but no such setting exists: unset it or correct its name`;
    faults.push(withSuggestion(fault, name, [...variables]));
  }
  const file = openFile(flags.get(CONFIG.flag) ?? env[variableOf(CONFIG.flag)]);
  faults.push(...file.faults);
  const traced = Object.entries(table).map(([name, setting]): TracedSetting => {
    const variable = variableOf(setting.flag);
    const text = flags.get(setting.flag) ?? env[variable];
    if (text === undefined) {
      const inFile = file.values.get(setting.flag);
      if (inFile !== undefined) return { name, from: 'file', ...inFile };
      return { name, value: setting.fallback, from: 'default', where: null };
    }
    const from = flags.has(setting.flag) ? 'flag' : 'variable';
    const where = from === 'flag' ? `--${setting.flag}` : variable;
    const value = setting.read(text);
    if (value === null) faults.push(`${where} must be ${setting.accepts}${shownText(setting, text)}`);
    return { name, value, from, where };
  });
  return { traced, faults };
}

/** `, not "text"` in a message about an invalid value. */
export function shownText({ isSecret }: Setting<unknown>, value: unknown): string {
  return isSecret ? '' : `, not ${JSON.stringify(value)}`;
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
    if (setting === undefined) faults.push(unknownFlag(token.rawName, byFlag.keys()));
    else if (setting.argument === undefined) flags.set(token.name, token.value ?? 'true');
    else if (token.value === undefined)
      faults.push(`${token.rawName} needs a value: ${token.rawName} ${setting.argument}`);
    else if (flags.has(token.name)) faults.push(`${token.rawName} is set twice`);
    else flags.set(token.name, token.value);
  }
  return { flags, faults };
}

export function unknownFlag(rawName: string, flags: Iterable<string>): string {
  const names = Array.from(flags, (flag) => `--${flag}`);
  return withSuggestion(`${rawName} is not a flag of this command`, rawName, names);
}
