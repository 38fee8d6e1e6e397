import { urlKey } from '../url-key.ts';
import type { Database } from './database.ts';
import { createReadLast } from './read-last.ts';

const ID = 'select id from urls where url_key = ?';

const HAS = 'select 1 from urls where id = ?';

/** What is known of one URL now. */
export function createReadUrl(db: Database) {
  const id = db.prepare<[number]>(ID);
  const has = db.prepare<[1]>(HAS);

  return {
    urlId(url: string): number | null {
      return id.get(urlKey(url))?.[0] ?? null;
    },

    urlLast: createReadLast(db),

    async hasUrl(urlId: number): Promise<boolean> {
      return has.get(urlId) !== undefined;
    },
  };
}
