import type { Database, Session } from './database.ts';

/** Payloads looked at in one transaction. */
const CHUNK = 5_000;

type Place = [ts: number, urlId: number];

const NEXT_FILE = 'select file_id from family_spreads limit 1';

// One at a time, so that two that spread the same family do not wait for each other's rows.
const LOCK_NOTE = 'select 1 from family_spreads where file_id = $1 for update';

const CHUNK_OF_FILE = `
  select p.ts, p.url_id from payloads p
  where p.file_id = $1 and (p.ts, p.url_id) > ($2, $3) order by p.ts, p.url_id limit ${CHUNK}`;

const SET_FAMILY = `
  update payloads set family_id = (select family_id from files where id = $1)
  where file_id = $1 and (ts, url_id) > ($2, $3) and (ts, url_id) <= ($4, $5) and family_id is null`;

const DONE = 'delete from family_spreads where file_id = $1';

/**
 * Gives a family that became known for a file to the payloads stored before. One hash may have a hundred thousand, so
 * it is done chunk by chunk; a process that ends half way leaves the note, and the next batch goes on.
 */
export function createSpreadFamilies(db: Database) {
  return async (): Promise<void> => {
    for (;;) {
      const [file] = await db.query<[fileId: number]>(NEXT_FILE);
      if (file === undefined) return;
      for (let after: Place | null = [-1, 0]; after !== null; ) {
        const from: Place = after;
        after = await db.transaction((session) => spreadChunk(session, file[0], from));
      }
    }
  };
}

/** From where the next chunk goes on; null when all is done, by whomever. */
async function spreadChunk(session: Session, fileId: number, [afterTs, afterUrlId]: Place): Promise<Place | null> {
  const note = await session.query(LOCK_NOTE, [fileId]);
  if (note.length === 0) return null;
  const places = await session.query<Place>(CHUNK_OF_FILE, [fileId, afterTs, afterUrlId]);
  const last = places.at(-1);
  if (last !== undefined) await session.run(SET_FAMILY, [fileId, afterTs, afterUrlId, ...last]);
  if (last !== undefined && places.length === CHUNK) return last;
  await session.run(DONE, [fileId]);
  return null;
}
