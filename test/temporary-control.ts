import type { TestContext } from 'node:test';
import { type Control, openControl } from '../src/app/stores.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Empty control data, closed and gone after the test; in a folder of its own unless one is given. */
export async function temporaryControl(t: TestContext, dataDir: string = temporaryFolder(t)): Promise<Control> {
  const control = await openControl({ dataDir });
  t.after(() => control.close());
  return control;
}
