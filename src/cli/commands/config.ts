import { type TracedSetting, traceSettings } from '../../config/read-settings.ts';
import { conflictsOf, SETTINGS, type Settings } from '../../config/settings.ts';
import { type CommandGroup, UsageError } from '../command.ts';
import { printResult } from '../data-command.ts';
import { defineCommand, JSON_FLAG } from '../define-command.ts';
import { table } from '../output.ts';
import { openFile, settingArgs, settingFlags } from '../settings.ts';

export const config: CommandGroup = {
  entries: [{ name: 'show', summary: 'Show every setting and where it comes from.', load: async () => configShow }],
};

const configShow = defineCommand(
  {
    synopsis: 'config show',
    about: `Shows the value of every setting, and where it comes from: a flag, a variable, the settings file with its line, or the
default. These are the settings that urlwarden serve would use with the same flags. Settings that may contain a
password are hidden. Mistakes are reported as serve would report them.`,
    flags: { json: JSON_FLAG, ...settingFlags() },
    examples: ['urlwarden config show', 'urlwarden config show --config /etc/urlwarden/urlwarden.toml'],
  },
  async ({ flags }) => {
    const { traced, faults } = traceSettings(SETTINGS, settingArgs(SETTINGS, flags), process.env, SETTINGS, openFile);
    const values = Object.fromEntries(traced.map(({ name, value }) => [name, value])) as Settings;
    const all = faults.length > 0 ? faults : conflictsOf(values);
    if (all.length > 0) throw new UsageError(all.join('\n'));
    const shown = traced.map(shownSetting);
    const rows = shown.map(({ setting, value, hidden, from, where }) => [
      setting,
      hidden ? '(hidden)' : valueText(value),
      where ?? from,
    ]);
    await printResult({ text: table(['SETTING', 'VALUE', 'FROM'], rows), json: shown }, flags.json);
    return 0;
  },
);

/** A setting for programs; the keys are stable. `value` is null if it is hidden or not set. */
function shownSetting({ name, value, from, where }: TracedSetting) {
  const { flag, ...setting } = SETTINGS[name as keyof typeof SETTINGS];
  const hidden = 'isSecret' in setting && from !== 'default';
  return { setting: flag, value: hidden ? null : value, hidden, from, where };
}

function valueText(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none';
  return Array.isArray(value) ? value.join(', ') : `${value}`;
}
