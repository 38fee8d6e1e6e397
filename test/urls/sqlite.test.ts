import { openIntelligence } from '../../src/app/stores.ts';
import { createKnownUrlsBuffer } from '../../src/urls/sqlite/known-urls.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { storeContract } from './contract/index.ts';

storeContract(async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir }, { knownUrls: createKnownUrlsBuffer() });
  t.after(() => store.close());
  return store;
});
