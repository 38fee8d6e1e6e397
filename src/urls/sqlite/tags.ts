import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionary } from '../../database/sqlite/dictionaries.ts';

/** Most URLs have two to four tags. */
const MAX_AT_ONCE = 4;

const add = (count: number): string => {
  const rows = Array.from({ length: count }, (_, i) => `(?1, ?${i + 2})`);
  return `insert or ignore into url_tags (url_id, tag_id) values ${rows.join()}`;
};

export function createAddTags(db: Database, tags: Dictionary) {
  const adds = Array.from({ length: MAX_AT_ONCE }, (_, i) => db.prepare(add(i + 1)));
  return (urlId: number, names: readonly string[]): void => {
    for (let at = 0; at < names.length; at += MAX_AT_ONCE) {
      const ids: number[] = [];
      for (let i = at; i < names.length && i < at + MAX_AT_ONCE; i++) ids.push(tags.idOf(names[i] as string));
      adds[ids.length - 1]?.run(urlId, ...ids);
    }
  };
}

const OF_URL = 'select name from url_tags join tags on tags.id = tag_id where url_id = ?';

/** The tags of a URL. */
export function createTagsOf(db: Database) {
  const ofUrl = db.prepare<[string]>(OF_URL);
  return (urlId: number): string[] => ofUrl.all(urlId).map(([name]) => name);
}
