import { openIntelligence } from '../../src/app/stores.ts';
import { createKnownUrlsBuffer } from '../../src/urls/sqlite/known-urls.ts';
import { emptyDataFolder } from '../empty-folder.ts';
import { storeContract } from './contract/index.ts';

storeContract(async (t) => {
  const dataDir = emptyDataFolder(t);
  const store = await openIntelligence({ dataDir }, { knownUrls: createKnownUrlsBuffer() });
  t.after(() => store.close());
  return store;
});
