import type { TestContext } from 'node:test';
import { type Control, openControl } from '../src/app/stores.ts';
import { emptyDataFolder } from './empty-folder.ts';

/** Control data, closed after the test; empty and in a temporary folder unless `dataDir` is given. */
export async function temporaryControl(t: TestContext, dataDir: string = emptyDataFolder(t)): Promise<Control> {
  const control = await openControl({ dataDir });
  t.after(() => control.close());
  return control;
}
