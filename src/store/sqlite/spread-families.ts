import type { Database } from './database.ts';

/** Payloads looked at in one transaction: some tens of milliseconds. */
const CHUNK = 5_000;

type Place = [ts: number, urlId: number, familyId: number | null];

const NEXT_FILE = 'select file_id, family_id from family_spreads join files on files.id = file_id limit 1';

const CHUNK_OF_FILE = `
  select p.ts, p.url_id, p.family_id from payloads p
  where p.file_id = ? and (p.ts, p.url_id) > (?, ?) order by p.ts, p.url_id limit ${CHUNK}`;

const SET_FAMILY = 'update payloads set family_id = ? where url_id = ? and ts = ? and file_id = ?';

const DONE = 'delete from family_spreads where file_id = ?';

/**
 * Gives a family that became known for a file to the payloads stored before. One hash may have a hundred thousand, so
 * it is done chunk by chunk; a process that ends half way leaves the note, and the next batch goes on.
 */
export function createSpreadFamilies(db: Database) {
  const nextFile = db.prepare<[fileId: number, familyId: number]>(NEXT_FILE);
  const chunkOf = db.prepare<Place>(CHUNK_OF_FILE);
  const setFamily = db.prepare(SET_FAMILY);
  const done = db.prepare(DONE);

  function spreadChunk(fileId: number, familyId: number, [afterTs, afterUrlId]: Place): Place | null {
    const places = chunkOf.all(fileId, afterTs, afterUrlId);
    for (const [ts, urlId, old] of places) if (old === null) setFamily.run(familyId, urlId, ts, fileId);
    const last = places.length < CHUNK ? null : (places.at(-1) ?? null);
    if (last === null) done.run(fileId);
    return last;
  }

  return (): void => {
    for (let file = nextFile.get(); file !== undefined; file = nextFile.get()) {
      const [fileId, familyId] = file;
      let after: Place | null = [-1, 0, null];
      while (after !== null) {
        const from: Place = after;
        after = db.transaction(() => spreadChunk(fileId, familyId, from));
      }
    }
  };
}
