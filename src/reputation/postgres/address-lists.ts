import { NETWORK_LIST_KINDS } from '../../core/evidence.ts';
import { createChangeRecorder } from '../../database/changes.ts';
import { putChanges, putChangesOf } from '../../database/postgres/changes.ts';
import type { Database, Session } from '../../database/postgres/database.ts';
import { sourceIds } from '../../database/postgres/dictionaries.ts';
import { createLock, inOrder } from '../../database/postgres/lock-order.ts';
import { columns, runRows } from '../../database/postgres/parameters.ts';
import { NO_PORT } from '../episode-rows.ts';
import {
  type LifeRow,
  type NameListRow,
  type NetworkListRow,
  type RemovalRow,
  toAddressLists,
  toListRows,
  toNetworkListEntry,
  toRemovalRow,
} from '../list-rows.ts';
import { type ReputationStore, URL_SOURCE } from '../store.ts';

const VERSION = 'select version from list_version';

const ENTRIES = `
  select l.kind, l.ip, l.prefix, sources.name, l.ts, l.reason
  from network_lists l join sources on sources.id = l.source_id
  order by l.kind, l.ip, l.prefix, sources.name collate "C"`;

const REMOVALS = `
  select ip, prefix, dataset, source_id, removed_ts, until_ts, reason from listing_removals
  order by ip, prefix, dataset, source_id, removed_ts`;

const LIVES = 'select life_seconds, interval_seconds from sources';

/** Lists of networks and names, and removals. All is read from the primary: on a replica the version may be ahead of the rows. */
export function createAddressLists(
  primary: Database,
): Pick<
  ReputationStore,
  'listVersion' | 'addressLists' | 'removeListings' | 'removeAllowEntries' | 'applyLists' | 'listEffect' | 'finishList'
> {
  return {
    listVersion: async () => (await primary.query<[number]>(VERSION))[0]?.[0] ?? 0,

    async addressLists() {
      const [entries, removals, lives] = await Promise.all([
        primary.query<NetworkListRow>(ENTRIES),
        primary.query<RemovalRow>(REMOVALS),
        primary.query<LifeRow>(LIVES),
      ]);
      return toAddressLists(entries.map(toNetworkListEntry), removals, lives);
    },

    async removeListings(removals) {
      if (removals.length > 0) await primary.transaction((session) => putRemovals(session, removals.map(toRemovalRow)));
    },

    removeAllowEntries: ({ ip, prefix }) =>
      primary.transaction((session) => changeLists(session, () => session.run(REMOVE_ALLOWED, [ip, prefix]))),

    async applyLists(entries) {
      const { networks, names } = toListRows(entries);
      if (entries.length === 0) return 0;
      return primary.transaction((session) => applyLists(session, networks, names));
    },

    async listEffect(source, ts) {
      const [[entries, missing] = [0, 0]] = await primary.query<[number, number]>(LIST_EFFECT, [source, ts]);
      return { entries, missing };
    },

    finishList: (source, ts) => finishList(primary, source, ts),
  };
}

// The clock in microseconds, because a plain counter could repeat a version with other lists after a failover.
const RAISE_VERSION = `
  update list_version
  set version = greatest(version + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)`;

/** To be called in the transaction of a change that `addressLists` shows. */
export async function raiseVersion(session: Session): Promise<void> {
  await session.run(RAISE_VERSION);
}

async function changeLists(session: Session, work: () => Promise<number>): Promise<number> {
  const changed = await work();
  if (changed > 0) await Promise.all([raiseVersion(session), putChanges(session, createChangeRecorder())]);
  return changed;
}

const REMOVE_ALLOWED = `
  delete from network_lists where kind = ${NETWORK_LIST_KINDS.indexOf('allow')} and ip = $1 and prefix = $2`;

// A key that is given twice would be an error: the last one counts.
const PUT_REMOVALS = `
  insert into listing_removals (ip, prefix, dataset, source_id, removed_ts, until_ts, reason)
  select distinct on (ip, prefix, dataset, source_id, removed_ts) ip, prefix, dataset, source_id, removed_ts, until_ts, reason
  from unnest($1::bytea[], $2::smallint[], $3::smallint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[])
    with ordinality as r (ip, prefix, dataset, source_id, removed_ts, until_ts, reason, n)
  order by ip, prefix, dataset, source_id, removed_ts, n desc
  on conflict (ip, prefix, dataset, source_id, removed_ts)
    do update set until_ts = excluded.until_ts, reason = excluded.reason`;

// The listings that the removals are about.
const PUT_REMOVED = putChangesOf(
  'remove',
  'listing',
  `jsonb_build_array(encode(e.ip, 'hex'), e.prefix, e.dataset, sources.name, families.name, nullif(e.port, ${NO_PORT}))`,
  `from unnest($1::bytea[], $2::smallint[], $3::smallint[], $4::bigint[]) as r (ip, prefix, dataset, source_id)
  join episodes e on e.ip = r.ip and e.prefix = r.prefix and e.dataset = r.dataset and e.source_id = r.source_id
  join sources on sources.id = e.source_id left join families on families.id = e.family_id`,
);

async function putRemovals(session: Session, rows: readonly RemovalRow[]): Promise<void> {
  const lock = createLock();
  const recorder = createChangeRecorder();
  for (const [ip, , , sourceId] of rows) if (sourceId === URL_SOURCE.id) recorder.address(ip, 'remove');
  const keys = columns(4, rows, ([ip, prefix, dataset, sourceId]) => [ip, prefix, dataset, sourceId]);
  await lock({
    episodes: () =>
      changeLists(session, async () => {
        const [changed] = await Promise.all([
          runRows(session, PUT_REMOVALS, rows, (row) => [...row]),
          session.run(PUT_REMOVED, keys),
          putChanges(session, recorder),
        ]);
        return changed;
      }),
  });
}

/** The condition of an entry: the list of its source was not finished with a newer version. */
export const isOfNewestVersion = (entry: string): string =>
  `not exists (select 1 from sources s where s.id = ${entry}.source_id and s.list_ts > ${entry}.ts)`;

const PUT_NETWORKS = `
  insert into network_lists (kind, ip, prefix, source_id, ts, reason)
  select * from unnest($1::smallint[], $2::bytea[], $3::smallint[], $4::bigint[], $5::bigint[], $6::text[])
    as n (kind, ip, prefix, source_id, ts, reason)
  where ${isOfNewestVersion('n')}
  order by n.kind, n.ip, n.prefix, n.source_id
  on conflict (kind, ip, prefix, source_id) do update set ts = excluded.ts, reason = excluded.reason
  where (excluded.ts, excluded.reason collate "C") > (network_lists.ts, network_lists.reason collate "C")`;

const PUT_NAMES = `
  insert into name_lists (name, kind, source_id, ts)
  select * from unnest($1::text[], $2::smallint[], $3::bigint[], $4::bigint[]) as n (name, kind, source_id, ts)
  where ${isOfNewestVersion('n')}
  order by n.name collate "C", n.kind, n.source_id
  on conflict (name, kind, source_id) do update set ts = excluded.ts, rank = null where excluded.ts > name_lists.ts`;

async function applyLists(
  session: Session,
  networks: readonly NetworkListRow[],
  names: readonly NameListRow[],
): Promise<number> {
  const lock = createLock();
  const given = new Set([...networks.map(([, , , source]) => source), ...names.map(([, , source]) => source)]);
  const { sources } = await lock({ sources: () => sourceIds(session, given) });
  const idOf = (source: string) => sources.get(source) as number;
  const putNetworks = () =>
    runRows(session, PUT_NETWORKS, networks, ([kind, ip, prefix, source, ts, reason]) => {
      return [kind, ip, prefix, idOf(source), ts, reason];
    });
  const putNames = () =>
    runRows(session, PUT_NAMES, names, ([name, kind, source, ts]) => [name, kind, idOf(source), ts]);
  const { episodes: changed } = await lock({ episodes: () => changeLists(session, putNetworks) });
  const { names: named } = await lock({ names: putNames });
  if (named > 0) await putChanges(session, createChangeRecorder());
  return changed + named;
}

const LIST_EFFECT = `
  select
    (select count(*) from network_lists where source_id = s.id) + (select count(*) from name_lists where source_id = s.id),
    (select count(*) from network_lists where source_id = s.id and ts < $2)
      + (select count(*) from name_lists where source_id = s.id and ts < $2)
  from sources s where s.name = $1`;

/** Entries deleted in one transaction: a popularity list has a million names. */
const CHUNK_ROWS = 5_000;

const LIST_TIME = 'select id, coalesce(list_ts, 0) from sources where name = $1';

// In a transaction of its own, before old entries are deleted.
const PUT_LIST_TIME = 'update sources set list_ts = $2 where id = $1 and (list_ts is null or list_ts < $2)';

// Locked in order of key, as `PUT_NETWORKS` does.
const LOCK_OLD_NETWORKS = `
  select count(*) from (
    select 1 from network_lists where source_id = $1 and ts < $2 order by kind, ip, prefix for update) l`;

const DELETE_NETWORKS = 'delete from network_lists where source_id = $1 and ts < $2';

// Locked in order of key, and looked at again: meanwhile a newer list may have the name.
const LOCK_OLD_NAMES = `
  select name, kind from name_lists where source_id = $1 and ts < $2 order by name, kind limit ${CHUNK_ROWS} for update`;

const DELETE_NAMES = `
  delete from name_lists n using unnest($2::text[], $3::smallint[]) as old (name, kind)
  where n.name = old.name and n.kind = old.kind and n.source_id = $1`;

async function finishList(db: Database, source: string, ts: number): Promise<number> {
  const [found] = await db.query<[id: number, ts: number]>(LIST_TIME, [source]);
  if (found === undefined) return 0;
  const [id, finishedTs] = found;
  // Also for an older version: it may have added entries while the newer one was finished.
  const newestTs = Math.max(ts, finishedTs);
  if (ts > finishedTs) await db.transaction((session) => session.run(PUT_LIST_TIME, [id, ts]));
  let deleted = await db.transaction((session) => changeLists(session, () => deleteNetworks(session, id, newestTs)));
  for (let inChunk = CHUNK_ROWS; inChunk === CHUNK_ROWS; deleted += inChunk) {
    inChunk = await db.transaction(async (session) => {
      const old = await session.query<[name: string, kind: number]>(LOCK_OLD_NAMES, [id, newestTs]);
      if (old.length === 0) return 0;
      const [gone] = await Promise.all([
        session.run(DELETE_NAMES, [id, ...columns(2, old, (row) => [...row])]),
        putChanges(session, createChangeRecorder()),
      ]);
      return gone;
    });
  }
  return deleted;
}

async function deleteNetworks(session: Session, sourceId: number, ts: number): Promise<number> {
  const [, deleted] = await inOrder([
    () => session.query(LOCK_OLD_NETWORKS, [sourceId, ts]),
    () => session.run(DELETE_NETWORKS, [sourceId, ts]),
  ]);
  return deleted;
}
