import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { contentContract } from './content-contract.ts';

contentContract(async (t) => {
  const store = await openPostgresIntelligence({ url: await temporaryDatabase(t), readUrls: [], connections: 4 });
  t.after(() => store.close());
  return store;
});
