import type { Control } from './control.ts';
import { dataFiles, makeFolder } from './data-folder.ts';
import { openSqliteControl, openSqliteStore } from './sqlite/open.ts';
import type { Store } from './store.ts';

export async function openStore(options: { dataDir: string }): Promise<Store> {
  makeFolder(options.dataDir);
  return openSqliteStore(dataFiles(options.dataDir).intelligence);
}

export async function openControl(options: { dataDir: string }): Promise<Control> {
  makeFolder(options.dataDir);
  return openSqliteControl(dataFiles(options.dataDir).control);
}
