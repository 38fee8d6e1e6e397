import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { reputationContract } from './contract/index.ts';

reputationContract(async (t) => {
  const store = await openPostgresIntelligence({ url: await temporaryDatabase(t), readUrls: [], connections: 4 });
  t.after(() => store.close());
  return store;
});
