import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionary } from '../../database/sqlite/dictionaries.ts';

const ADD = 'insert or ignore into url_tags (url_id, tag_id) values (?, ?)';

export function createAddTags(db: Database, tags: Dictionary) {
  const add = db.prepare(ADD);
  return (urlId: number, names: readonly string[]): void => {
    for (const name of names) add.run(urlId, tags.idOf(name));
  };
}

const OF_URL = 'select name from url_tags join tags on tags.id = tag_id where url_id = ?';

/** The tags of a URL. */
export function createTagsOf(db: Database) {
  const ofUrl = db.prepare<[string]>(OF_URL);
  return (urlId: number): string[] => ofUrl.all(urlId).map(([name]) => name);
}
