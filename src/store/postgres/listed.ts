import { type ImpliedChange, impliedChange, type ListedRow } from '../implied.ts';
import type { Listing } from '../store.ts';
import { columns } from './columns.ts';
import type { Session } from './database.ts';

type Row = [urlId: number, nextTs: number | null, ...ListedRow];
type NewRow = { urlId: number; feedId: number; ts: number; missedTs: number | null };

/** What becomes of the rows of some URLs, and of their implied offlines. */
export type Listed = { rows: NewRow[]; changes: Map<number, ImpliedChange> };

// With the first complete listing behind the one that named the URL.
const OF_URLS = `
  select l.url_id, (select min(s.ts) from listings s where s.feed_id = l.feed_id and s.ts > l.ts),
    l.feed_id, reporters.name, l.ts, l.missed_ts
  from listed l join reporters on reporters.id = l.feed_id
  where l.url_id = any($1::bigint[])`;

const FIRST_AFTER = 'select min(ts) from listings where feed_id = $1 and ts > $2';

const PUT = `
  insert into listed (url_id, feed_id, ts, missed_ts)
  select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
  on conflict (url_id, feed_id) do update set ts = excluded.ts, missed_ts = excluded.missed_ts`;

/** A listing of the feed named the URLs, whose rows are locked; an older one than known says nothing new. */
export async function nameUrls(
  session: Session,
  urlIds: readonly number[],
  feedId: number,
  { feed, ts }: Listing,
): Promise<Listed> {
  const [rows, first] = await Promise.all([
    session.query<Row>(OF_URLS, [urlIds]),
    session.query<[number | null]>(FIRST_AFTER, [feedId, ts]),
  ]);
  const missedTs = first[0]?.[0] ?? null;
  const ofUrl = Map.groupBy(rows, ([urlId]) => urlId);
  const listed: Listed = { rows: [], changes: new Map() };
  for (const urlId of urlIds) {
    const known = (ofUrl.get(urlId) ?? []).map(toListed);
    const old = known.find(([id]) => id === feedId);
    if (old === undefined || old[2] < ts) replace(listed, urlId, known, [feedId, feed, ts, missedTs]);
  }
  return listed;
}

/** A listing of the feed, the one of `ts`, was finished that may miss the URLs, whose rows are locked. */
export async function missUrls(
  session: Session,
  urlIds: readonly number[],
  feedId: number,
  ts: number,
): Promise<Listed> {
  const rows = await session.query<Row>(OF_URLS, [urlIds]);
  const listed: Listed = { rows: [], changes: new Map() };
  for (const [urlId, ofUrl] of Map.groupBy(rows, ([urlId]) => urlId)) {
    const own = ofUrl.find(([, , id]) => id === feedId);
    if (own === undefined || own[4] >= ts) continue;
    const [, nextTs, , feed, namedTs] = own;
    replace(listed, urlId, ofUrl.map(toListed), [feedId, feed, namedTs, nextTs]);
  }
  return listed;
}

export async function putListed(session: Session, rows: readonly NewRow[]): Promise<void> {
  if (rows.length === 0) return;
  await session.run(
    PUT,
    columns(4, rows, ({ urlId, feedId, ts, missedTs }) => [urlId, feedId, ts, missedTs]),
  );
}

function replace(listed: Listed, urlId: number, known: readonly ListedRow[], row: ListedRow): void {
  const [feedId, , ts, missedTs] = row;
  const change = impliedChange(known, row);
  listed.rows.push({ urlId, feedId, ts, missedTs });
  if (change !== null) listed.changes.set(urlId, change);
}

function toListed([, , ...row]: Row): ListedRow {
  return row;
}
