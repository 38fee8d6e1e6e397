import { type SettingTable, variableOf } from '../config/read-settings.ts';

/** The part of a usage text that lists settings: flag, meaning, default, variable. */
export function describeSettings(table: SettingTable): string {
  const settings = Object.values(table).map((setting) => ({
    usage: `--${setting.flag}${setting.argument ? ` ${setting.argument}` : ''}`,
    about: `${setting.meaning}${setting.argument ? ` (default ${fallbackText(setting.fallback)})` : ''}`,
    variable: variableOf(setting.flag),
  }));
  const width = Math.max(...settings.map(({ usage }) => usage.length));
  const lines = settings.map(
    ({ usage, about, variable }) => `  ${usage.padEnd(width)}   ${about}\n${' '.repeat(width + 5)}${variable}\n`,
  );
  return `${lines.join('')}\nEach can be given as the variable below it instead; the flag wins.\n`;
}

function fallbackText(fallback: unknown): string {
  return fallback === null || (Array.isArray(fallback) && fallback.length === 0) ? 'none' : `${fallback}`;
}
