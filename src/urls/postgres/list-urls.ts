import type { Query } from '../../database/postgres/database.ts';
import { sha256OfKey } from '../file-rules.ts';
import {
  createUrlsForList,
  hostOf,
  IS_ONLINE,
  MAX_HOST_URLS,
  NO_TAGS,
  OTHER_PAYLOADS,
  PAYLOAD_JOIN,
  SEEN_COLUMN,
  statusOf,
} from '../list-rows.ts';
import { FIRST_HIDDEN_KIND, type ListedUrl, type UrlStore } from '../store.ts';

/** Ids of one statement, and the most rows that it returns: some 2 MB. On a busy machine, 50,000 without one took up to 0.95 s. */
const IDS_PER_READ = 10_000;

const LAST_ID = 'select max(id) from urls';

/** No tag and no family has a control character (`core/text.ts`). */
const SEPARATOR = '\u001f';

// Names are looked up by id in subqueries. For a join the planner, while it has no statistics, reads all tags for each URL: with
// 500 tags, 5 ms.
const TAGS = `
  (select string_agg((select name from tags where id = t.tag_id), chr(31)) from url_tags t where t.url_id = u.id)`;

const DETAILS = `(select file_key from files where id = p.file_id), ${TAGS}`;

const OTHER_FAMILIES = `
  (select string_agg(distinct (select name from families where id = o.family_id), chr(31)) from ${OTHER_PAYLOADS})`;

// The time is computed once for each URL, before anything else is read: most URLs are too old for a list.
const rowsOf = (candidates: string, details = DETAILS) => `
  with c (id, seen_ts) as materialized (select u.id, ${SEEN_COLUMN} from ${candidates})
  select u.id, u.event_kind, u.event_ts, c.seen_ts, (select name from reporters where id = u.event_reporter_id),
    (select name from families where id = p.family_id), u.url, ${OTHER_FAMILIES}, ${details}
  from c join urls u on u.id = c.id ${PAYLOAD_JOIN}
  where c.seen_ts >= $1`;

type Row = [
  id: number,
  kind: number,
  eventTs: number,
  seenTs: number,
  reporter: string,
  family: string | null,
  url: string,
  otherFamilies: string | null,
  fileKey: Uint8Array | null,
  tags: string | null,
];

const ofIds = (details: string) => ({
  online: rowsOf(`urls u where ${IS_ONLINE} and u.id > $2 and u.id <= $3`, details),
  offline: rowsOf(`urls u where u.id > $2 and u.id <= $3 and u.event_ts is not null and not ${IS_ONLINE}`, details),
  any: rowsOf('urls u where u.id > $2 and u.id <= $3 and u.event_ts is not null', details),
});
export const OF_IDS = ofIds(DETAILS);
export const OF_IDS_BRIEF = ofIds('null::bytea, null::text');

const OF_HOST = rowsOf(`
  urls u where u.event_ts is not null and u.id in (
    select e.url_id from events e
    where e.host_id = (select id from hosts where host = $2) and e.kind < ${FIRST_HIDDEN_KIND} limit ${MAX_HOST_URLS})`);

export function createListUrls(query: Query): UrlStore['urlsForList'] {
  return createUrlsForList(
    {
      async lastId() {
        const [row] = await query<[number | null]>(LAST_ID);
        return row?.[0] ?? 0;
      },
      ofIds: async ({ status, seenSinceTs, isBrief }, afterId, last) =>
        (await query<Row>((isBrief ? OF_IDS_BRIEF : OF_IDS)[status], [seenSinceTs, afterId, last])).map(toListed),
      ofHost: async (host) => (await query<Row>(OF_HOST, [0, host])).map(toListed),
    },
    IDS_PER_READ,
  );
}

function toListed([id, kind, sinceTs, seenTs, reporter, family, url, others, fileKey, tags]: Row): ListedUrl {
  return {
    id,
    url,
    host: hostOf(url),
    status: statusOf(kind),
    sinceTs,
    seenTs,
    reporter,
    family,
    sha256: sha256OfKey(fileKey),
    // Sorted here: the order of texts differs between databases.
    tags: tags === null ? NO_TAGS : tags.split(SEPARATOR).sort(),
    ...(others !== null && { otherFamilies: others.split(SEPARATOR).sort() }),
  };
}
