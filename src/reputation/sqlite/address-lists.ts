import { NETWORK_LIST_KINDS } from '../../core/evidence.ts';
import { PAGE_ROWS, rowPages } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
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
import { portOf } from '../listing-rows.ts';
import { type ListEffect, type NetworkListEntry, type ReputationStore, URL_SOURCE } from '../store.ts';

const VERSION = 'select version from list_version';

// In pages: lists of cloud networks have tens of thousands of entries. A copy in memory reads the version before them, so a change
// between two pages is read again with the next version.
const ENTRIES = `
  select l.kind, l.ip, l.prefix, sources.name, l.ts, l.reason
  from network_lists l cross join sources on sources.id = l.source_id
  where (l.kind, l.ip, l.prefix, sources.name) > (?, ?, ?, ?)
  order by l.kind, l.ip, l.prefix, sources.name limit ${PAGE_ROWS}`;

type EntryKey = [kind: number, ip: Uint8Array, prefix: number, source: string];
const FIRST_ENTRY: EntryKey = [-1, new Uint8Array(0), 0, ''];

const REMOVALS = `
  select ip, prefix, dataset, source_id, removed_ts, until_ts, reason from listing_removals
  order by ip, prefix, dataset, source_id, removed_ts`;

const LIVES = 'select life_seconds, interval_seconds from sources';

/** Lists of networks and names, and removals. */
export function createAddressLists({
  db,
  write,
}: DatabaseFile<ReturnType<typeof createAddressListWrites>>): Pick<
  ReputationStore,
  'listVersion' | 'addressLists' | 'removeListings' | 'removeAllowEntries' | 'applyLists' | 'listEffect' | 'finishList'
> {
  const version = db.prepare<[number]>(VERSION);
  const entries = db.prepare<NetworkListRow>(ENTRIES);
  const removals = db.prepare<RemovalRow>(REMOVALS);
  const lives = db.prepare<LifeRow>(LIVES);
  return {
    listVersion: () => version.one()[0],
    async addressLists() {
      const pages = rowPages<NetworkListRow, EntryKey>(
        (after) => entries.all(...after),
        FIRST_ENTRY,
        ([kind, ip, prefix, source]) => [kind, ip, prefix, source],
      );
      const found: NetworkListEntry[] = [];
      for await (const rows of pages) for (const row of rows) found.push(toNetworkListEntry(row));
      return toAddressLists(found, removals.all(), lives.all());
    },
    removeListings: (rows) => write('removeListings', rows.map(toRemovalRow)),
    removeAllowEntries: ({ ip, prefix }) => write('removeAllowEntries', ip, prefix),
    applyLists(list) {
      const { networks, names } = toListRows(list);
      return write('applyLists', networks, names);
    },
    // On the writer thread: to count a million names takes 0.2 s.
    listEffect: (source, ts) => write('listEffect', source, ts),
    finishList: (source, ts) => write('finishList', source, ts),
  };
}

/** To be called in the transaction of a change that `addressLists` shows. */
export function createRaiseVersion(db: Database): () => void {
  const raise = db.prepare('update list_version set version = version + 1');
  return () => void raise.run();
}

const PUT_REMOVAL = `
  insert into listing_removals (ip, prefix, dataset, source_id, removed_ts, until_ts, reason)
  values (?, ?, ?, ?, ?, ?, ?)
  on conflict do update set until_ts = excluded.until_ts, reason = excluded.reason`;

const REMOVED_KEYS = `
  select distinct sources.name, families.name, e.port
  from episodes e join sources on sources.id = e.source_id left join families on families.id = e.family_id
  where e.ip = ? and e.prefix = ? and e.dataset = ? and e.source_id = ?`;

type RemovedKeyRow = [source: string, family: string | null, port: number];

const REMOVE_ALLOWED = `
  delete from network_lists where kind = ${NETWORK_LIST_KINDS.indexOf('allow')} and ip = ? and prefix = ?`;

/** The condition of an entry: the list of its source was not finished with a newer version. */
export const isOfNewestVersion = (sourceId: string, ts: string): string =>
  `not exists (select 1 from sources where id = ${sourceId} and list_ts > ${ts})`;

// As in `toListRows`, the newest entry wins, then the greater reason.
const PUT_NETWORK = `
  insert into network_lists (kind, ip, prefix, source_id, ts, reason)
  select ?1, ?2, ?3, ?4, ?5, ?6 where ${isOfNewestVersion('?4', '?5')}
  on conflict do update set ts = excluded.ts, reason = excluded.reason
  where (excluded.ts, excluded.reason) > (ts, reason)`;

const PUT_NAME = `
  insert into name_lists (name, kind, source_id, rank, ts)
  select ?1, ?2, ?3, null, ?4 where ${isOfNewestVersion('?3', '?4')}
  on conflict do update set ts = excluded.ts, rank = null where excluded.ts > ts`;

const LIST_EFFECT = `
  select
    (select count(*) from network_lists where source_id = s.id) + (select count(*) from name_lists where source_id = s.id),
    (select count(*) from network_lists where source_id = s.id and ts < :ts)
      + (select count(*) from name_lists where source_id = s.id and ts < :ts)
  from sources s where s.name = :source`;

/** Entries deleted in one transaction: a popularity list has a million names. */
const CHUNK_ROWS = 5_000;

const LIST_TIME = 'select id, coalesce(list_ts, 0) from sources where name = ?';

// Another process may have finished a newer version meanwhile.
const PUT_LIST_TIME = 'update sources set list_ts = ?1 where id = ?2 and (list_ts is null or list_ts < ?1)';

const DELETE_NETWORKS = 'delete from network_lists where source_id = ? and ts < ?';

const DELETE_NAMES = `
  delete from name_lists where (name, kind, source_id) in (
    select name, kind, source_id from name_lists where source_id = ? and ts < ? limit ${CHUNK_ROWS})`;

export function createAddressListWrites(db: Database, { sources, changes, transaction }: Dictionaries) {
  const removedKeys = db.prepare<RemovedKeyRow>(REMOVED_KEYS);
  const raiseVersion = createRaiseVersion(db);
  const putRemoval = db.prepare(PUT_REMOVAL);
  const removeAllowed = db.prepare(REMOVE_ALLOWED);
  const putNetwork = db.prepare(PUT_NETWORK);
  const putName = db.prepare(PUT_NAME);
  const listTime = db.prepare<[id: number, ts: number]>(LIST_TIME);
  const putListTime = db.prepare(PUT_LIST_TIME);
  const listEffect = db.prepare<[entries: number, missing: number]>(LIST_EFFECT);
  const deleteNetworks = db.prepare(DELETE_NETWORKS);
  const deleteNames = db.prepare(DELETE_NAMES);

  /** Runs a change of the rows that `addressLists` shows. */
  function change(work: () => number): number {
    const changed = work();
    if (changed > 0) raiseVersion();
    return changed;
  }

  function recordRemoval([ip, prefix, dataset, sourceId]: RemovalRow): void {
    if (sourceId === URL_SOURCE.id) changes.address(ip, 'remove');
    for (const [source, family, port] of removedKeys.all(ip, prefix, dataset, sourceId)) {
      changes.listing({ ip, prefix, dataset, source, family, port: portOf(port) }, 'remove');
    }
  }

  function remove(row: RemovalRow): number {
    recordRemoval(row);
    return putRemoval.run(...row);
  }

  return {
    removeListings: (rows: readonly RemovalRow[]): void =>
      void transaction(() => change(() => rows.reduce((changed, row) => changed + remove(row), 0))),

    removeAllowEntries: (ip: Uint8Array, prefix: number): number =>
      transaction(() => change(() => removeAllowed.run(ip, prefix))),

    applyLists: (networks: readonly NetworkListRow[], names: readonly NameListRow[]): number =>
      transaction(() => {
        let changed = change(() => {
          let inNetworks = 0;
          for (const [kind, ip, prefix, source, ts, reason] of networks) {
            inNetworks += putNetwork.run(kind, ip, prefix, sources.idOf(source), ts, reason);
          }
          return inNetworks;
        });
        for (const [name, kind, source, ts] of names) changed += putName.run(name, kind, sources.idOf(source), ts);
        return changed;
      }),

    listEffect(source: string, ts: number): ListEffect {
      const [entries, missing] = listEffect.get({ source, ts }) ?? [0, 0];
      return { entries, missing };
    },

    finishList(source: string, ts: number): number {
      const found = listTime.get(source);
      if (found === undefined) return 0;
      const [id, finishedTs] = found;
      const newestTs = Math.max(ts, finishedTs);
      let deleted = transaction(() => {
        if (ts > finishedTs) putListTime.run(ts, id);
        return change(() => deleteNetworks.run(id, newestTs));
      });
      for (let inChunk = CHUNK_ROWS; inChunk === CHUNK_ROWS; deleted += inChunk) {
        inChunk = transaction(() => deleteNames.run(id, newestTs));
      }
      return deleted;
    },
  };
}
