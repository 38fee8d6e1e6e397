import {
  CONFIG,
  readSettings,
  type Setting,
  type SettingTable,
  type SettingValues,
  variableOf,
} from '../config/read-settings.ts';
import { SETTINGS } from '../config/settings.ts';
import { UsageError } from './command.ts';
import { openSettingsFile } from './settings-file.ts';
import type { Flag, Flags } from './usage.ts';

export const CONFIG_FLAG = {
  config: { argument: CONFIG.argument, meaning: `${CONFIG.meaning}; variable ${variableOf(CONFIG.flag)}` },
} as const satisfies Flags;

export const openFile = (path: string | undefined) => openSettingsFile(path, SETTINGS);

/** Reads the settings of a command from its flags, the environment and the settings file. */
export function readCommandSettings<Table extends SettingTable>(table: Table, args: string[]): SettingValues<Table> {
  const read = readSettings(table, args, process.env, SETTINGS, openFile);
  if (!read.ok) throw new UsageError(read.faults.join('\n'));
  return read.values;
}

/** The flags of a command that are settings, and `--config`, as they were given. Flags of the command alone are left out. */
export function settingArgs(table: SettingTable, flags: Readonly<Record<string, unknown>>): string[] {
  return [CONFIG, ...Object.values(table)]
    .filter(({ flag }) => flags[flag] !== undefined)
    .map(({ flag }) => `--${flag}=${flags[flag]}`);
}

/** Every setting as a flag, with its default and its variable. */
export function settingFlags(): Record<string, Flag> {
  return Object.fromEntries([CONFIG, ...Object.values(SETTINGS)].map((setting) => [setting.flag, flagOf(setting)]));
}

function flagOf(setting: Setting<unknown>): Flag {
  const { flag, argument, meaning, fallback, values } = setting;
  const isNone = fallback === null || (Array.isArray(fallback) && fallback.length === 0);
  const hasDefault = argument !== undefined && setting !== CONFIG && !isNone;
  const text = hasDefault ? `${meaning} (default ${fallback})` : meaning;
  return { ...(argument && { argument }), meaning: `${text}\n${variableOf(flag)}`, ...(values && { values }) };
}
