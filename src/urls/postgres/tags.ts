import type { Query, Session } from '../../database/postgres/database.ts';
import type { Ids } from '../../database/postgres/dictionaries.ts';
import { unnested } from '../../database/postgres/parameters.ts';

/** The tags of a URL whose row is locked, or is added by this transaction. `tags` may have duplicates. */
type TaggedUrl = { id: number; isNew: boolean; group: { tags: readonly string[] } };

const ADD = `insert into url_tags (url_id, tag_id) select ${unnested('bigint', 'bigint')}`;
const PUT = `${ADD} on conflict do nothing`;

export function putTags(session: Session, urls: readonly TaggedUrl[], ids: Ids): Promise<unknown> {
  const adds: [number[], number[]] = [[], []];
  const puts: [number[], number[]] = [[], []];
  for (const { id, isNew, group } of urls) {
    const { tags } = group;
    const [urlIds, tagIds] = isNew ? adds : puts;
    for (const [i, tag] of tags.entries()) {
      if (tags.indexOf(tag) !== i) continue;
      urlIds.push(id);
      tagIds.push(ids.get(tag) as number);
    }
  }
  return Promise.all([adds[0].length > 0 && session.run(ADD, adds), puts[0].length > 0 && session.run(PUT, puts)]);
}

export const OF_URLS = `
  select url_id, (select name from tags where id = tag_id) from url_tags where url_id = any($1::bigint[])`;

/** The tags of URLs, by id. */
export async function tagsOf(query: Query, urlIds: readonly number[]) {
  const rows = await query<[urlId: number, name: string]>(OF_URLS, [urlIds]);
  return Map.groupBy(rows, ([urlId]) => urlId);
}
