import { toBytes, type UrlGroup } from '../url-group.ts';
import { columns } from './columns.ts';
import type { Session } from './database.ts';

type Row = [key: Uint8Array, id: number, hostId: number, payloadTs: number | null, fileKey: Uint8Array | null];

/** A URL of a batch, as it was before; its row is locked until the end of the transaction. */
export type LockedUrl = UrlGroup & { id: number; hostId: number; last: { ts: number; key: Uint8Array } | null };

const ADD_HOSTS = `
  insert into hosts (host) select h.host from unnest($1::text[]) as h (host)
  where not exists (select 1 from hosts where hosts.host = h.host)
  order by h.host collate "C" on conflict do nothing`;

const ADD_URLS = `
  insert into urls (url_key, url, host_id)
  select g.url_key, g.url, hosts.id from unnest($1::bytea[], $2::text[], $3::text[]) as g (url_key, url, host)
  join hosts on hosts.host = g.host
  where not exists (select 1 from urls where urls.url_key = g.url_key)
  order by g.url_key on conflict do nothing`;

const LOCK = `
  select count(*) from (select 1 from urls where url_key = any($1::bytea[]) order by url_key for update) l`;

// A statement of its own: what is joined to a row that was waited for would be as old as the statement.
const READ = `
  select u.url_key, u.id, u.host_id, u.payload_ts, files.file_key
  from urls u left join files on files.id = u.payload_file_id
  where u.url_key = any($1::bytea[]) order by u.url_key`;

/**
 * Adds the URLs that are new and locks all. Every transaction first adds and then locks, each in order of key: so none
 * waits for one that waits for it.
 */
export async function lockUrls(session: Session, groups: readonly UrlGroup[]) {
  const keys = groups.map(({ key }) => toBytes(key));
  const hosts = [...new Set(groups.map(({ host }) => host))];
  const [, urlsAdded, , rows] = await Promise.all([
    session.run(ADD_HOSTS, [hosts]),
    session.run(
      ADD_URLS,
      columns(3, groups, ({ key, url, host }) => [toBytes(key), url, host]),
    ),
    session.query(LOCK, [keys]),
    session.query<Row>(READ, [keys]),
  ]);
  // Both are in order of key.
  const urls = rows.map(([, id, hostId, ts, key], i): LockedUrl => {
    return { ...(groups[i] as UrlGroup), id, hostId, last: ts === null || key === null ? null : { ts, key } };
  });
  return { urls, urlsAdded };
}
