import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import { createFetchTimes, type KeyFetch } from '../fetch-times.ts';
import {
  accountNotFound,
  DEFINITION_COLUMNS,
  type DefinitionRow,
  EXCLUSION_COLUMNS,
  type ExclusionRow,
  isBuiltIn,
  KEY_COLUMNS,
  type KeyRow,
  listNotFound,
  toDefinition,
  toDefinitionRow,
  toExclusion,
  toExclusionRow,
  toListKey,
} from '../rows.ts';
import type { Exclusion, ListDefinition, ListKey, ListStore } from '../store.ts';

const DEFINITIONS = `select ${DEFINITION_COLUMNS} from device_lists order by name`;

const EXCLUSIONS = `select ${EXCLUSION_COLUMNS} from list_exclusions order by id desc limit ?`;

const KEYS = `select ${KEY_COLUMNS} from list_keys`;

const SERIAL = 'select serial from list_serials where list = ? and content_hash = ?';

/** SQLite: no limit. */
const ALL = -1;

/** Lists, exclusions and keys in `control.db`. `closeLists` is called before the file is closed. */
export function createListStore({ db, write }: DatabaseFile<ListWrites>): ListStore & { closeLists(): Promise<void> } {
  const definitions = db.prepare<DefinitionRow>(DEFINITIONS);
  const exclusions = db.prepare<ExclusionRow>(EXCLUSIONS);
  const exclusion = db.prepare<ExclusionRow>(`select ${EXCLUSION_COLUMNS} from list_exclusions where id = ?`);
  const keys = {
    all: db.prepare<KeyRow>(`${KEYS} order by id desc limit ?`),
    ofList: db.prepare<KeyRow>(`${KEYS} where list = ? order by id desc limit ?`),
    ofAccount: db.prepare<KeyRow>(`${KEYS} where sub = ? order by id desc limit ?`),
    ofBoth: db.prepare<KeyRow>(`${KEYS} where sub = ? and list = ? order by id desc limit ?`),
  };
  const keyById = db.prepare<KeyRow>(`${KEYS} where id = ?`);
  const keyByHash = db.prepare<KeyRow>(`${KEYS} where key_hash = ?`);
  const version = db.prepare<[version: number]>('select version from lists_state');
  const serial = db.prepare<[serial: number]>(SERIAL);
  const fetchTimes = createFetchTimes((fetches) => write('recordFetches', fetches));

  function keyRows({ list, sub, limit = ALL }: Parameters<ListStore['listKeys']>[0]): KeyRow[] {
    if (sub === undefined) return list === undefined ? keys.all.all(limit) : keys.ofList.all(list, limit);
    return list === undefined ? keys.ofAccount.all(sub, limit) : keys.ofBoth.all(sub, list, limit);
  }

  return {
    listDefinitions: async () => definitions.all().map(toDefinition),
    addListDefinition: (definition) => write('addListDefinition', definition),
    changeListDefinition: (definition) => write('changeListDefinition', definition),
    removeListDefinition: (name) => write('removeListDefinition', name),

    exclusions: async (limit = ALL) => exclusions.all(limit).map(toExclusion),
    async exclusion(id) {
      const row = exclusion.get(id);
      return row === undefined ? null : toExclusion(row);
    },
    addExclusion: (one, keepSinceTs) => write('addExclusion', one, keepSinceTs),
    removeExclusion: (id) => write('removeExclusion', id),

    listKeys: async (filter) => keyRows(filter).map(toListKey),
    async listKey(id) {
      const row = keyById.get(id);
      return row === undefined ? null : toListKey(row);
    },
    addListKey: (key, hash) => write('addListKey', key, hash),
    removeListKey: (id) => write('removeListKey', id),
    findListKey(hash) {
      const row = keyByHash.get(hash);
      return row === undefined ? null : toListKey(row);
    },
    async recordFetch(id, fetch) {
      fetchTimes.add(id, fetch);
    },

    listsVersion: () => version.one()[0],
    async listSerial(name, contentHash, nowTs) {
      return serial.get(name, contentHash)?.[0] ?? write('listSerial', name, contentHash, nowTs);
    },

    closeLists: fetchTimes.close,
  };
}

const ADD_DEFINITION = `
  insert into device_lists (${DEFINITION_COLUMNS}) values (?, ?, ?, ?, ?) on conflict do nothing`;

const CHANGE_DEFINITION =
  'update device_lists set kind = ?, description = ?, filter = ?, changed_ts = ? where name = ?';

const PUT_EXCLUSION = `
  insert into list_exclusions (${EXCLUSION_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (list, kind, value) do update set with_subdomains = excluded.with_subdomains, reason = excluded.reason,
    set_ts = excluded.set_ts, until_ts = excluded.until_ts
  returning id`;

const RECORD_FETCH = `
  update list_keys set fetch_ts = :ts, fetch_address = :address, fetch_etag = :etag
  where id = :id and coalesce(fetch_ts, 0) <= :ts`;

const PUT_SERIAL = `
  insert into list_serials (list, content_hash, serial) values (?, ?, ?)
  on conflict do update set serial = max(list_serials.serial + 1, excluded.serial), content_hash = excluded.content_hash
  where content_hash <> excluded.content_hash`;

type ListWrites = ReturnType<typeof createListWrites>;

/** The writes; they run on the writer thread of `control.db`. */
export function createListWrites(db: Database) {
  const raiseVersion = db.prepare('update lists_state set version = version + 1');
  const nextId = db.prepare<[id: number]>('update lists_state set last_id = last_id + 1 returning last_id');
  const add = db.prepare(ADD_DEFINITION);
  const change = db.prepare(CHANGE_DEFINITION);
  const findList = db.prepare<[1]>('select 1 from device_lists where name = ?');
  const findAccount = db.prepare<[1]>('select 1 from accounts where sub = ?');
  const remove = db.prepare('delete from device_lists where name = ?');
  const removeOfList = ['list_keys', 'list_exclusions'].map((table) =>
    db.prepare(`delete from ${table} where list = ?`),
  );
  const deleteEnded = db.prepare('delete from list_exclusions where until_ts < ?');
  const putExclusion = db.prepare<[id: number]>(PUT_EXCLUSION);
  const removeExclusion = db.prepare('delete from list_exclusions where id = ?');
  const addKey = db.prepare(
    'insert into list_keys (id, list, device, sub, created_ts, key_hash) values (?, ?, ?, ?, ?, ?)',
  );
  const removeKey = db.prepare('delete from list_keys where id = ?');
  const recordFetch = db.prepare(RECORD_FETCH);
  const putSerial = db.prepare(PUT_SERIAL);
  const serial = db.prepare<[serial: number]>('select serial from list_serials where list = ?');

  function requireList(name: string): void {
    if (!isBuiltIn(name) && findList.get(name) === undefined) throw listNotFound(name);
  }

  return {
    addListDefinition(definition: ListDefinition): boolean {
      return db.transaction(() => {
        const isAdded = add.run(...toDefinitionRow(definition)) > 0;
        if (isAdded) raiseVersion.run();
        return isAdded;
      });
    },

    changeListDefinition(definition: ListDefinition): boolean {
      const [name, ...values] = toDefinitionRow(definition);
      return db.transaction(() => {
        const isChanged = change.run(...values, name) > 0;
        if (isChanged) raiseVersion.run();
        return isChanged;
      });
    },

    removeListDefinition(name: string): boolean {
      return db.transaction(() => {
        if (remove.run(name) === 0) return false;
        for (const statement of removeOfList) statement.run(name);
        raiseVersion.run();
        return true;
      });
    },

    addExclusion(exclusion: Omit<Exclusion, 'id'>, keepSinceTs: number): number {
      return db.transaction(() => {
        if (exclusion.list !== null) requireList(exclusion.list);
        deleteEnded.run(keepSinceTs);
        const row = toExclusionRow({ ...exclusion, id: nextId.one()[0] });
        raiseVersion.run();
        return putExclusion.one(...row)[0];
      });
    },

    removeExclusion(id: number): boolean {
      return db.transaction(() => {
        const isRemoved = removeExclusion.run(id) > 0;
        if (isRemoved) raiseVersion.run();
        return isRemoved;
      });
    },

    addListKey({ list, device, sub, createdTs }: Omit<ListKey, 'id' | 'lastFetch'>, hash: Uint8Array): number {
      return db.transaction(() => {
        requireList(list);
        if (findAccount.get(sub) === undefined) throw accountNotFound();
        const [id] = nextId.one();
        addKey.run(id, list, device, sub, createdTs, hash);
        return id;
      });
    },

    removeListKey: (id: number): boolean => removeKey.run(id) > 0,

    recordFetches(fetches: readonly KeyFetch[]): void {
      db.transaction(() => {
        for (const { id, ts, address, etag } of fetches) recordFetch.run({ id, ts, address, etag });
      });
    },

    listSerial(name: string, contentHash: Uint8Array, nowTs: number): number {
      return db.transaction(() => {
        putSerial.run(name, contentHash, nowTs);
        return serial.one(name)[0];
      });
    },
  };
}
