import { type Setting, type SettingTable, shownText } from './read-settings.ts';
import type { FileEntry, FileValue } from './text-scanner.ts';

type ReadValue = { ok: true; value: unknown } | { ok: false; reason: string };

/** Reads one value of a settings file. Numbers, switches and lists are not written as texts. */
export function readFileValue(setting: Setting<unknown>, given: FileValue, folder: string): ReadValue {
  if (Array.isArray(setting.fallback) && !Array.isArray(given)) return refused('an array of texts: ["…", "…"]');
  if (Array.isArray(setting.fallback) && Array.isArray(given) && given.length === 0) return { ok: true, value: [] };
  const value = setting.read(Array.isArray(given) ? given.join() : `${given}`);
  if (value === null || value === undefined) return refused(setting.accepts + shownText(setting, given));
  if (!isNatural(given, value)) return refused(naturalForm(value));
  return { ok: true, value: setting.resolveIn?.(folder, value) ?? value };
}

function refused(accepted: string): ReadValue {
  return { ok: false, reason: `must be ${accepted}` };
}

/** Lists have as many elements as the array: no element is itself a list with commas. A text can be read as an object. */
function isNatural(given: FileValue, value: unknown): boolean {
  if (Array.isArray(given) || Array.isArray(value)) {
    return Array.isArray(given) && Array.isArray(value) && given.length === value.length;
  }
  return typeof given === typeof value || (typeof given === 'string' && typeof value === 'object');
}

function naturalForm(value: unknown): string {
  if (Array.isArray(value)) return 'an array with one text for each value';
  if (typeof value === 'number') return 'a number without quotes';
  return typeof value === 'boolean' ? 'true or false without quotes' : 'a text in quotes';
}

/** Entries whose value may contain a password. A URL without a user has none. */
export function hasSecrets(entries: readonly FileEntry[], all: SettingTable): boolean {
  const secrets = new Set(Object.values(all).flatMap(({ flag, isSecret }) => (isSecret ? [flag] : [])));
  return entries.some(({ key, value }) => secrets.has(key) && !/^\w[\w+]*:\/\/(?!.*(?:@|password=))/i.test(`${value}`));
}
