import { openIntelligence } from '../../src/app/stores.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { changesContract } from './contract/index.ts';

changesContract(async (t) => {
  const store = await openIntelligence({ dataDir: temporaryFolder(t) });
  t.after(() => store.close());
  return store;
});
