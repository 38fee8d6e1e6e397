import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { dataFiles } from './data-folder.ts';

/** A process that has a database of the folder open. */
export type FolderUser = { pid: number; command: string };

/** `node urlwarden.js serve`: the flags after it may have a password. */
const SHOWN_WORDS = 3;

/**
 * The processes that have the folder open, without this one. Only those that this user may see: all of them as root, otherwise
 * the user's own. Empty where there is no /proc.
 */
export function folderUsers(dataDir: string): FolderUser[] {
  const files = new Set(Object.values(dataFiles(dataDir)).flatMap(realPath));
  return entriesOf('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== `${process.pid}` && hasOpen(name, files))
    .map((name) => ({ pid: Number(name), command: commandOf(name) }));
}

function realPath(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

function hasOpen(pid: string, files: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  return entriesOf(folder).some((fd) => {
    try {
      return files.has(readlinkSync(`${folder}/${fd}`));
    } catch {
      return false; // closed meanwhile
    }
  });
}

/** Empty for a folder that does not exist or belongs to somebody else. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function commandOf(pid: string): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const shown = words.filter((word) => word !== '' && !word.startsWith('-')).slice(0, SHOWN_WORDS);
    return shown.map((word) => basename(word)).join(' ');
  } catch {
    return 'unknown command';
  }
}
