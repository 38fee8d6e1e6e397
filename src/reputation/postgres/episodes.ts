import { toBytes } from '../../core/byte-text.ts';
import { foldFamily } from '../../core/text.ts';
import { createChangeRecorder } from '../../database/changes.ts';
import type { Scalar } from '../../database/postgres/array-literal.ts';
import { putChanges } from '../../database/postgres/changes.ts';
import type { Database, Session } from '../../database/postgres/database.ts';
import { familyIds, type Ids } from '../../database/postgres/dictionaries.ts';
import { createLock, inOrder } from '../../database/postgres/lock-order.ts';
import { columns, runRows } from '../../database/postgres/parameters.ts';
import { forEachListing, type ListingEvidenceRow, NO_FAMILY, spanOf } from '../episode-rows.ts';
import {
  type Episode,
  episodeChanges,
  lifeOf,
  mergeEpisodes,
  recordedOperation,
  type SourceLife,
} from '../episode-rules.ts';
import { blockOf } from '../listing-blocks.ts';
import { datasetOf, recordedListing } from '../listing-rows.ts';
import { lockSources } from './sources.ts';

/**
 * Applies evidence of listings in one transaction; returns how many episodes changed. The rows of its sources are locked:
 * a listing belongs to one source, so no other transaction reads or writes its episodes meanwhile, also when there are none.
 */
export function createApplyListings(db: Database) {
  return (rows: readonly ListingEvidenceRow[]): Promise<number> =>
    db.transaction((session) => applyRows(session, rows));
}

// Not joined to the statement that locks: after a wait, that statement would return the values of its start.
const LIVES = 'select id, life_seconds, interval_seconds from sources where name = any($1::text[])';

type LifeRow = [id: number, lifeSeconds: number | null, intervalSeconds: number | null];

/** Evidence of one listing, the key in the order of the columns. */
type Listing = { key: Scalar[]; lifeSeconds: number; evidence: readonly Episode[]; row: ListingEvidenceRow };

async function applyRows(session: Session, rows: readonly ListingEvidenceRow[]): Promise<number> {
  const lock = createLock();
  const sourceNames = new Set(rows.map(([, , , source]) => source));
  const familyNames = new Set(rows.map(([, , , , family]) => family).filter((family) => family !== ''));
  const { sources, families } = await lock({
    sources: () => lockLives(session, sourceNames),
    families: () => familyIds(session, familyNames, foldFamily),
  });
  const listings = listingsOf(rows, sources, families);
  const known = await readNear(session, listings);
  const { episodes } = await lock({ episodes: () => writeChanges(session, listings, known) });
  return episodes;
}

async function lockLives(session: Session, names: ReadonlySet<string>) {
  const [ids, rows] = await inOrder([
    () => lockSources(session, names),
    () => session.query<LifeRow>(LIVES, [[...names]]),
  ]);
  const lives = new Map(
    rows.map(([id, lifeSeconds, intervalSeconds]) => [id, { lifeSeconds, intervalSeconds } satisfies SourceLife]),
  );
  return { ids, lives };
}

type LockedSources = Awaited<ReturnType<typeof lockLives>>;

function listingsOf(rows: readonly ListingEvidenceRow[], { ids, lives }: LockedSources, families: Ids): Listing[] {
  const listings: Listing[] = [];
  forEachListing(rows, (row, evidence) => {
    const [ip, prefix, dataset, source, family, port] = row;
    const sourceId = ids.get(source) as number;
    const familyId = family === '' ? NO_FAMILY : (families.get(family) as number);
    const lifeSeconds = lifeOf(lives.get(sourceId) as SourceLife, datasetOf(dataset));
    listings.push({ key: [toBytes(ip), prefix, dataset, sourceId, familyId, port], lifeSeconds, evidence, row });
  });
  return listings;
}

const KEY_ARRAYS = '$1::bytea[], $2::smallint[], $3::smallint[], $4::bigint[], $5::bigint[], $6::integer[]';
const SAME_KEY = `
  e.ip = k.ip and e.prefix = k.prefix and e.dataset = k.dataset and e.source_id = k.source_id
  and e.family_id = k.family_id and e.port = k.port`;

// The episodes that evidence may be joined with: usually none or one. `offset 0` makes PostgreSQL run one lookup per listing.
const NEAR = `
  select k.n, e.listed_ts, e.seen_ts, e.details
  from unnest(${KEY_ARRAYS}, $7::bigint[], $8::bigint[])
    with ordinality as k (ip, prefix, dataset, source_id, family_id, port, from_ts, to_ts, n)
  cross join lateral (
    select * from episodes e where ${SAME_KEY} and e.listed_ts <= k.to_ts and e.seen_ts >= k.from_ts offset 0) e`;

type NearRow = [n: number, listedTs: number, seenTs: number, details: string];

/** The known episodes by index of the listing. */
async function readNear(session: Session, listings: readonly Listing[]): Promise<Map<number, Episode[]>> {
  const rows = await session.query<NearRow>(
    NEAR,
    columns(8, listings, ({ key, lifeSeconds, evidence }) => {
      const { fromTs, toTs } = spanOf(evidence);
      return [...key, fromTs - lifeSeconds, toTs + lifeSeconds];
    }),
  );
  const known = new Map<number, Episode[]>();
  for (const [n, listedTs, seenTs, details] of rows) {
    const episodes = known.get(n - 1) ?? [];
    episodes.push({ listedTs, seenTs, details });
    known.set(n - 1, episodes);
  }
  return known;
}

const DELETE = `
  delete from episodes e using unnest(${KEY_ARRAYS}, $7::bigint[])
    as k (ip, prefix, dataset, source_id, family_id, port, listed_ts)
  where ${SAME_KEY} and e.listed_ts = k.listed_ts`;

const PUT = `
  insert into episodes (ip, prefix, dataset, source_id, family_id, port, listed_ts, seen_ts, details)
  select * from unnest(${KEY_ARRAYS}, $7::bigint[], $8::bigint[], $9::text[])
  on conflict (ip, prefix, dataset, source_id, family_id, port, listed_ts)
    do update set seen_ts = excluded.seen_ts, details = excluded.details`;

// In one order, because batches of several sources may add the same blocks.
const ADD_BLOCKS = `
  insert into listing_blocks (ip, block_prefix, prefix)
  select distinct on (b.ip, b.block_prefix, b.prefix) b.ip, b.block_prefix, b.prefix
  from unnest($1::bytea[], $2::smallint[], $3::smallint[]) as b (ip, block_prefix, prefix)
  where not exists (
    select 1 from listing_blocks l where l.ip = b.ip and l.block_prefix = b.block_prefix and l.prefix = b.prefix)
  order by b.ip, b.block_prefix, b.prefix on conflict do nothing`;

async function writeChanges(
  session: Session,
  listings: readonly Listing[],
  known: ReadonlyMap<number, Episode[]>,
): Promise<number> {
  const puts: Scalar[][] = [];
  const deletes: Scalar[][] = [];
  const blocks: Scalar[][] = [];
  const recorder = createChangeRecorder();
  for (const [i, { key, lifeSeconds, evidence, row }] of listings.entries()) {
    const near = known.get(i) ?? [];
    const merged = mergeEpisodes(near, evidence, lifeSeconds);
    const changes = episodeChanges(near, merged);
    const op = recordedOperation(near, merged);
    if (op !== null) recorder.listing(recordedListing(row), op);
    for (const { listedTs, seenTs, details } of changes.puts) puts.push([...key, listedTs, seenTs, details]);
    for (const { listedTs } of changes.deletes) deletes.push([...key, listedTs]);
    const [ip, prefix] = key as [Uint8Array, number];
    const block = near.length === 0 ? blockOf({ ip, prefix }) : null;
    if (block !== null) blocks.push([block.ip, block.prefix, prefix]);
  }
  const run = (sql: string, rows: Scalar[][]) => runRows(session, sql, rows, (row) => row);
  await inOrder([
    () => run(ADD_BLOCKS, blocks),
    () => run(DELETE, deletes),
    () => run(PUT, puts),
    async () => puts.length + deletes.length > 0 && putChanges(session, recorder),
  ]);
  return puts.length + deletes.length;
}
