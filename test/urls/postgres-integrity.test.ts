import postgres from 'postgres';
import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { integrityContract } from './contract/integrity.ts';

integrityContract(async (t) => {
  const url = await temporaryDatabase(t);
  const store = await openPostgresIntelligence({ url, readUrls: [], connections: 4 });
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  t.after(async () => {
    await sql.end();
    await store.close();
  });
  return {
    store,
    async run(statements) {
      await sql.unsafe(statements).simple();
    },
  };
});
