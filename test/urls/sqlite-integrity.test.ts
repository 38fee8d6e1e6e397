import { setImmediate } from 'node:timers/promises';
import { openIntelligence } from '../../src/app/stores.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { withWriter } from '../../src/database/sqlite/database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { integrityContract } from './contract/integrity.ts';

integrityContract(async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  t.after(() => store.close());
  return {
    store,
    async run(sql) {
      withWriter(dataFiles(dataDir).intelligence, (db) => db.exec(sql));
      await setImmediate(); // the read transaction of this iteration of the event loop is older
    },
  };
});
