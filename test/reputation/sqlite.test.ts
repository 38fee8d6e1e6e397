import { openIntelligence } from '../../src/app/stores.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { reputationContract } from './contract/index.ts';

reputationContract(async (t) => {
  const store = await openIntelligence({ dataDir: temporaryFolder(t) });
  t.after(() => store.close());
  return store;
});
