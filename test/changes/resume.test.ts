import { test } from 'node:test';
import { openPostgresIntelligence } from '../../src/app/postgres-stores.ts';
import { type Intelligence, openIntelligence } from '../../src/app/stores.ts';
import { openDatabase } from '../../src/database/postgres/database.ts';
import { temporaryDatabase } from '../servers/temporary-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { assertComplete, createReader, randomFrom, writeAtRandom } from './resume.ts';

/** How often a reader is killed and resumed, at least. */
const RESUMES = 100;

/** Reads while `work` runs, until all is read. */
async function readDuring(store: Intelligence, work: Promise<unknown>): Promise<void> {
  const reader = createReader(store, randomFrom(1));
  let isWorking = true;
  const working = work.finally(() => {
    isWorking = false;
  });
  while (isWorking || reader.resumes() < RESUMES) await reader.run();
  await working;
  while (await reader.run());
  await assertComplete(store, reader.lines());
}

test('SQLite: a reader that is killed at random moments has exactly what the store has', async (t) => {
  const dataDir = temporaryFolder(t);
  // Two connections, as two processes have them.
  const [store, writer] = [await openIntelligence({ dataDir }), await openIntelligence({ dataDir })];
  t.after(() => Promise.all([store.close(), writer.close()]));
  await readDuring(store, writeAtRandom(writer, randomFrom(2), 100));
});

// Runs at the commit, long after the row got its id: transactions end in another order than they write.
const LATE_COMMITS = `
  create function commit_late() returns trigger language plpgsql as $$
    begin perform pg_sleep(random() * 0.03); return null; end $$;
  create constraint trigger commit_late after insert on changes deferrable initially deferred
    for each row when (new.seq is null) execute function commit_late()`;

test('PostgreSQL: the same with three nodes and transactions that end late', async (t) => {
  const url = await temporaryDatabase(t);
  const open = () => openPostgresIntelligence({ url, readUrls: [], connections: 3 });
  const nodes = [await open(), await open(), await open()];
  t.after(() => Promise.all(nodes.map((node) => node.close())));
  const db = openDatabase(url, { connections: 1, role: 'read-write' });
  await db.script(({ exec }) => exec(LATE_COMMITS)).finally(db.close);
  const [store] = nodes as [Intelligence];
  await readDuring(store, Promise.all(nodes.map((node, i) => writeAtRandom(node, randomFrom(2 + i), 25))));
});
