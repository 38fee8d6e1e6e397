import { openIntelligence } from '../../src/app/stores.ts';
import { emptyDataFolder } from '../empty-folder.ts';
import { reputationContract } from './contract/index.ts';

reputationContract(async (t) => {
  const store = await openIntelligence({ dataDir: emptyDataFolder(t) });
  t.after(() => store.close());
  return store;
});
