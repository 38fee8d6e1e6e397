import { parseArgs } from 'node:util';

/** One setting: a flag and a variable of the same meaning. `read` gives null for a text that it cannot use. */
export type Setting<Value> = {
  flag: string;
  /** What stands behind the flag in the usage text; none for a switch. */
  argument?: string;
  meaning: string;
  /** Null where having none is the rule. */
  fallback: Value;
  read(text: string): Value | null;
  /** What a usable text looks like; completes the sentence "--port must be …". */
  accepts: string;
  /** It may hold a password, so a fault does not show it. */
  isSecret?: true;
};

// biome-ignore lint/suspicious/noExplicitAny: each setting has a type of its own
export type SettingTable = Record<string, Setting<any>>;

export type SettingValues<Table extends SettingTable> = {
  [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never;
};

export type ReadSettings<Table extends SettingTable> =
  | { ok: true; values: SettingValues<Table> }
  | { ok: false; faults: string[] };

export type Environment = Record<string, string | undefined>;

const PREFIX = 'URLWARDEN_';
/** Where the tests find servers that run already; nothing that the program itself reads. */
const TEST_PREFIX = 'URLWARDEN_TEST_';

/** `--query-budget-ms` is URLWARDEN_QUERY_BUDGET_MS. */
export function variableOf(flag: string): string {
  return PREFIX + flag.toUpperCase().replaceAll('-', '_');
}

/**
 * Reads all settings of a command at once, flags before variables before defaults, and reports every fault together:
 * whoever mends a set-up should not have to start it once per mistake. A variable with our prefix that no setting has
 * is a fault too, since it is a typing error whose effect is missing; `all` are the settings of the whole program.
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
    faults.push(`${name} is set, but there is no such setting: unset it or correct its name`);
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
    else if (flags.has(token.name)) faults.push(`${token.rawName} is given twice`);
    else flags.set(token.name, token.value);
  }
  return { flags, faults };
}
