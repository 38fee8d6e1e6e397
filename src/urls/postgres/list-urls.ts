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
import type { ListedUrl, UrlStore } from '../store.ts';
import { FIRST_HIDDEN_KIND } from '../stored-timeline.ts';

/** Ids of one statement. The rows of one answer are at most as many: some 10 MB. */
const IDS_PER_READ = 50_000;

const LAST_ID = 'select max(id) from urls';

/** No tag and no family has a control character (`core/text.ts`). */
const SEPARATOR = '\u001f';

const TAGS = `
  (select string_agg(tags.name, chr(31)) from url_tags t join tags on tags.id = t.tag_id where t.url_id = u.id)`;

const OTHER_FAMILIES = `
  (select string_agg(distinct families.name, chr(31)) from families where families.id in (
    select o.family_id from ${OTHER_PAYLOADS}))`;

// The time is computed once for each URL, before anything else is read: most URLs are too old for a list.
const rowsOf = (candidates: string) => `
  with c (id, seen_ts) as materialized (select u.id, ${SEEN_COLUMN} from ${candidates})
  select u.id, u.event_kind, u.event_ts, c.seen_ts, reporters.name, families.name, u.url, files.file_key, ${TAGS},
    ${OTHER_FAMILIES}
  from c join urls u on u.id = c.id join reporters on reporters.id = u.event_reporter_id ${PAYLOAD_JOIN}
  left join files on files.id = p.file_id left join families on families.id = p.family_id
  where c.seen_ts >= $1`;

type Row = [
  id: number,
  kind: number,
  eventTs: number,
  seenTs: number,
  reporter: string,
  family: string | null,
  url: string,
  fileKey: Uint8Array | null,
  tags: string | null,
  otherFamilies: string | null,
];

const OF_IDS = {
  online: rowsOf(`urls u where ${IS_ONLINE} and u.id > $2 and u.id <= $3`),
  offline: rowsOf(`urls u where u.id > $2 and u.id <= $3 and u.event_ts is not null and not ${IS_ONLINE}`),
  any: rowsOf('urls u where u.id > $2 and u.id <= $3 and u.event_ts is not null'),
};

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
      ofIds: async ({ status, seenSinceTs }, afterId, last) =>
        (await query<Row>(OF_IDS[status], [seenSinceTs, afterId, last])).map(toListed),
      ofHost: async (host) => (await query<Row>(OF_HOST, [0, host])).map(toListed),
    },
    IDS_PER_READ,
  );
}

function toListed([id, kind, sinceTs, seenTs, reporter, family, url, fileKey, tags, others]: Row): ListedUrl {
  return {
    ...{ id, url, host: hostOf(url), status: statusOf(kind), sinceTs, seenTs, reporter, family },
    sha256: fileKey === null ? null : sha256OfKey(fileKey),
    // Sorted here: the order of texts differs between databases.
    tags: tags === null ? NO_TAGS : tags.split(SEPARATOR).sort(),
    ...(others !== null && { otherFamilies: others.split(SEPARATOR).sort() }),
  };
}
