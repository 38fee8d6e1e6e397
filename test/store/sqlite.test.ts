import { openStore } from '../../src/store/open.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { storeContract } from './contract/index.ts';

storeContract(async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await openStore({ dataDir });
  t.after(() => store.close());
  return store;
});
