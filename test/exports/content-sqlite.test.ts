import { openIntelligence } from '../../src/app/stores.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { contentContract } from './content-contract.ts';

contentContract(async (t) => {
  const store = await openIntelligence({ dataDir: temporaryFolder(t) });
  t.after(() => store.close());
  return store;
});
