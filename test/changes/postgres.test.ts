import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { changesContract } from './contract/index.ts';

changesContract(async (t) => {
  const store = await openPostgresIntelligence({ url: await temporaryDatabase(t), readUrls: [], connections: 4 });
  t.after(() => store.close());
  return store;
});
