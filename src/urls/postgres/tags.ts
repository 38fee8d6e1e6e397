import type { Query, Session } from '../../database/postgres/database.ts';
import type { Ids } from '../../database/postgres/dictionaries.ts';
import { columns } from '../../database/postgres/parameters.ts';

/** The tags of a URL whose row is locked. */
type TaggedUrl = { id: number; tags: readonly string[] };

const ADD = `
  insert into url_tags (url_id, tag_id) select * from unnest($1::bigint[], $2::bigint[]) on conflict do nothing`;

export async function putTags(session: Session, urls: readonly TaggedUrl[], ids: Ids): Promise<void> {
  const pairs = urls.flatMap(({ id, tags }) => tags.map((tag) => [id, ids.get(tag) as number]));
  if (pairs.length > 0)
    await session.run(
      ADD,
      columns(2, pairs, (pair) => pair),
    );
}

const OF_URLS = `
  select url_id, name from url_tags join tags on tags.id = tag_id where url_id = any($1::bigint[])`;

/** The tags of URLs, by id. */
export async function tagsOf(query: Query, urlIds: readonly number[], signal: AbortSignal) {
  const rows = await query<[urlId: number, name: string]>(OF_URLS, [urlIds], signal);
  return Map.groupBy(rows, ([urlId]) => urlId);
}
