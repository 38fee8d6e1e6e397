import { isUtf8 } from 'node:buffer';
import { existsSync, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { hasSecrets, readFileValue } from '../config/file-settings.ts';
import { parseJsonEntries } from '../config/json-entries.ts';
import { CONFIG, type FileSettings, type SettingTable } from '../config/read-settings.ts';
import type { ParsedFile } from '../config/text-scanner.ts';
import { parseToml } from '../config/toml.ts';
import { withSuggestion } from '../core/suggestion.ts';

/** Used without `--config` if the working folder has one. */
const DEFAULT_FILES = ['urlwarden.toml', 'urlwarden.json'];

/** A long list of networks takes some 100 KB. A larger file is not a settings file. */
const FILE_MAX_BYTES = 2 ** 20;

/** A screenful. A file with more is probably something else. */
const FAULTS_MAX = 20;

/** Permissions of other users, not of the group: a group of operators may share the file. */
const OTHERS_MAY_READ_OR_WRITE = 0o006;
const OTHERS_MAY_WRITE = 0o002;

/** Reads the settings file at `path`, or that of the working folder. All faults are reported together, with their lines. */
export function openSettingsFile(
  path: string | undefined,
  all: SettingTable,
  ownUid = process.getuid?.(),
): FileSettings {
  const found = path === undefined ? DEFAULT_FILES.filter((name) => existsSync(name)) : [path];
  const [name, other] = found;
  if (name === undefined) return { values: new Map(), faults: [] };
  if (other !== undefined) return failed(`There are two settings files, ${name} and ${other}: remove one of them`);
  const parse = name.endsWith('.toml') ? parseToml : name.endsWith('.json') ? parseJsonEntries : null;
  if (parse === null)
    return failed(`--${CONFIG.flag} must be a file whose name ends in .toml or .json, not ${JSON.stringify(name)}`);
  const read = readFile(name);
  if ('fault' in read) return failed(read.fault);
  const parsed = parse(read.text);
  const access =
    path === undefined && isForeign(read.stats, ownUid)
      ? [foreignFile(name)]
      : accessFaults(name, read.stats, parsed, all);
  const { values, faults } = readEntries(name, parsed, all);
  return { values, faults: [...access, ...faults] };
}

function readFile(name: string): { text: string; stats: Stats } | { fault: string } {
  try {
    const stats = statSync(name);
    if (stats.size > FILE_MAX_BYTES) return { fault: `${name} is larger than 1 MiB: it is not a settings file` };
    const bytes = readFileSync(name);
    if (!isUtf8(bytes)) return { fault: `${name} is not valid UTF-8: save it as UTF-8` };
    return { text: new TextDecoder().decode(bytes), stats };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return { fault: `There is no settings file ${name}: check the path` };
    }
    return { fault: `The settings file cannot be read: ${(error as Error).message}` };
  }
}

function failed(fault: string): FileSettings {
  return { values: new Map(), faults: [fault] };
}

/** Somebody else could leave a file in a folder such as /tmp, to make commands use other data. */
function isForeign({ uid }: Stats, ownUid: number | undefined): boolean {
  return ownUid !== undefined && uid !== ownUid && uid !== 0;
}

function foreignFile(name: string): string {
  return `./${name} belongs to another user: if you trust it, give it with --${CONFIG.flag} ${name}`;
}

function accessFaults(name: string, { mode }: Stats, { entries }: ParsedFile, all: SettingTable): string[] {
  if (hasSecrets(entries, all) && mode & OTHERS_MAY_READ_OR_WRITE) {
    return [`${name} contains a password, and every user of this machine can read it: chmod 600 ${name}`];
  }
  return mode & OTHERS_MAY_WRITE ? [`Every user of this machine can change ${name}: chmod 600 ${name}`] : [];
}

function readEntries(name: string, { entries, faults }: ParsedFile, all: SettingTable): FileSettings {
  const folder = dirname(resolve(name));
  const settings = new Map(Object.values(all).map((setting) => [setting.flag, setting]));
  const lines = new Map<string, number>();
  const values = new Map<string, { value: unknown; where: string }>();
  const wrong = faults.map(({ line, message }) => ({ line, message }));
  for (const { key, value, line } of entries) {
    const setting = settings.get(key);
    const first = lines.get(key);
    lines.set(key, first ?? line);
    if (setting === undefined) {
      const message = withSuggestion(`there is no setting ${JSON.stringify(key)}`, key, [...settings.keys()]);
      wrong.push({ line, message });
    } else if (first !== undefined) {
      wrong.push({ line, message: `${key} is already set in line ${first}` });
    } else {
      const read = readFileValue(setting, value, folder);
      if (read.ok) values.set(key, { value: read.value, where: `${name}:${line}` });
      else wrong.push({ line, message: `${key} ${read.reason}` });
    }
  }
  wrong.sort((a, b) => a.line - b.line);
  const shown = wrong.slice(0, FAULTS_MAX).map(({ line, message }) => `${name}:${line}: ${message}`);
  const hasMore = wrong.length > FAULTS_MAX;
  return { values, faults: hasMore ? [...shown, `${name} has more mistakes: correct these first`] : shown };
}
