import { toHex } from '../../core/byte-text.ts';
import type { Database, Session } from '../../database/postgres/database.ts';
import { runRows } from '../../database/postgres/parameters.ts';
import { createFetchTimes, type KeyFetch } from '../fetch-times.ts';
import { createKeyCache, type ReadKeys } from '../key-cache.ts';
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

/** A limit of null is none. */
const EXCLUSIONS = `select ${EXCLUSION_COLUMNS} from list_exclusions order by id desc limit $1`;

const KEYS = `
  select ${KEY_COLUMNS} from list_keys
  where ($1::text is null or list = $1) and ($2::text is null or sub = $2) order by id desc limit $3`;

const KEYS_BY_HASH = `
  select encode(key_hash, 'hex'), ${KEY_COLUMNS} from list_keys
  where key_hash in (select decode(hash, 'hex') from unnest($1::text[]) as hash)`;

const SERIAL = 'select serial from list_serials where list = $1 and content_hash = $2';

/** One statement: of two nodes, the second waits for the row of the first, and then compares with it. */
const PUT_SERIAL = `
  insert into list_serials as known (list, content_hash, serial) values ($1, $2, $3)
  on conflict (list) do update set
    serial = case when known.content_hash = excluded.content_hash then known.serial
      else greatest(known.serial + 1, excluded.serial) end,
    content_hash = excluded.content_hash
  returning serial`;

/** Lists, exclusions and keys, shared by all nodes. `closeLists` is called before the database is closed. */
export function createListStore(db: Database): ListStore & { closeLists(): Promise<void> } {
  const writes = createListWrites(db);
  const keys = createKeyCache(readKeysOf(db));
  const fetchTimes = createFetchTimes(writes.recordFetches);

  return {
    listDefinitions: async () => (await db.query<DefinitionRow>(DEFINITIONS)).map(toDefinition),
    addListDefinition: writes.addListDefinition,
    changeListDefinition: writes.changeListDefinition,
    removeListDefinition: (name) => writes.removeListDefinition(name).finally(keys.clear),

    exclusions: async (limit) => (await db.query<ExclusionRow>(EXCLUSIONS, [limit ?? null])).map(toExclusion),
    async exclusion(id) {
      const [row] = await db.query<ExclusionRow>(`select ${EXCLUSION_COLUMNS} from list_exclusions where id = $1`, [
        id,
      ]);
      return row === undefined ? null : toExclusion(row);
    },
    addExclusion: writes.addExclusion,
    removeExclusion: writes.removeExclusion,

    listKeys: async ({ list, sub, limit }) =>
      (await db.query<KeyRow>(KEYS, [list ?? null, sub ?? null, limit ?? null])).map(toListKey),
    async listKey(id) {
      const [row] = await db.query<KeyRow>(`select ${KEY_COLUMNS} from list_keys where id = $1`, [id]);
      return row === undefined ? null : toListKey(row);
    },
    addListKey: (key, hash) => writes.addListKey(key, hash).finally(keys.clear),
    removeListKey: (id) => writes.removeListKey(id).finally(keys.clear),
    findListKey: (hash) => keys.find(toHex(hash)),
    async recordFetch(id, fetch) {
      fetchTimes.add(id, fetch);
    },

    async listsVersion() {
      const [row] = await db.query<[version: number]>('select version from lists_state');
      return row?.[0] ?? 0;
    },
    async listSerial(name, contentHash, nowTs) {
      const [known] = await db.query<[serial: number]>(SERIAL, [name, contentHash]);
      if (known !== undefined) return known[0];
      const [[serial]] = (await db.query(PUT_SERIAL, [name, contentHash, nowTs])) as [[serial: number]];
      return serial;
    },

    closeLists: fetchTimes.close,
  };
}

function readKeysOf(db: Database): ReadKeys {
  return async (hashes) => {
    const rows = await db.query<[hash: string, ...KeyRow]>(KEYS_BY_HASH, [[...hashes]]);
    return new Map(rows.map(([hash, ...row]) => [hash, toListKey(row)]));
  };
}

/** The clock in microseconds, or the old version plus one, as for accounts: a version never belongs to other data again. */
const RAISE_VERSION = `
  update lists_state
  set version = greatest(version + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)`;

const NEXT_ID = 'update lists_state set last_id = last_id + 1 returning last_id';

const ADD_DEFINITION = `
  insert into device_lists (${DEFINITION_COLUMNS}) values ($1, $2, $3, $4, $5) on conflict do nothing`;

const CHANGE_DEFINITION =
  'update device_lists set kind = $2, description = $3, filter = $4, changed_ts = $5 where name = $1';

const PUT_EXCLUSION = `
  insert into list_exclusions (${EXCLUSION_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (list, kind, text_key(value)) do update set
    with_subdomains = excluded.with_subdomains, reason = excluded.reason, set_ts = excluded.set_ts,
    until_ts = excluded.until_ts
  returning id`;

/** Until the end of the transaction the account cannot be removed; its removal deletes its keys after it. */
const LOCK_ACCOUNT = 'select 1 from accounts where sub = $1 for key share';

const ADD_KEY = 'insert into list_keys (id, list, device, sub, created_ts, key_hash) values ($1, $2, $3, $4, $5, $6)';

/** In order of id, so that two nodes do not wait for each other. */
const RECORD_FETCHES = `
  update list_keys set fetch_ts = ts, fetch_address = address, fetch_etag = etag
  from (
    select list_keys.id, ts, address, etag from list_keys
    join unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) as fetched (id, ts, address, etag) using (id)
    where coalesce(fetch_ts, 0) <= ts order by list_keys.id for update of list_keys
  ) as newer
  where list_keys.id = newer.id`;

/** Each change locks the row of the state first: all nodes make one change at a time. */
function createListWrites(db: Database) {
  return {
    addListDefinition: (definition: ListDefinition): Promise<boolean> =>
      db.transaction(async (session) => {
        await session.run(RAISE_VERSION);
        return (await session.run(ADD_DEFINITION, toDefinitionRow(definition))) > 0;
      }),

    changeListDefinition: (definition: ListDefinition): Promise<boolean> =>
      db.transaction(async (session) => {
        await session.run(RAISE_VERSION);
        return (await session.run(CHANGE_DEFINITION, toDefinitionRow(definition))) > 0;
      }),

    removeListDefinition: (name: string): Promise<boolean> =>
      db.transaction(async (session) => {
        await session.run(RAISE_VERSION);
        if ((await session.run('delete from device_lists where name = $1', [name])) === 0) return false;
        for (const table of ['list_keys', 'list_exclusions']) {
          await session.run(`delete from ${table} where list = $1`, [name]);
        }
        return true;
      }),

    addExclusion: (exclusion: Omit<Exclusion, 'id'>, keepSinceTs: number): Promise<number> =>
      db.transaction(async (session) => {
        await session.run(RAISE_VERSION);
        if (exclusion.list !== null) await requireList(session, exclusion.list);
        await session.run('delete from list_exclusions where until_ts < $1', [keepSinceTs]);
        const row = toExclusionRow({ ...exclusion, id: await nextId(session) });
        const [[id]] = (await session.query(PUT_EXCLUSION, row)) as [[id: number]];
        return id;
      }),

    removeExclusion: (id: number): Promise<boolean> =>
      db.transaction(async (session) => {
        await session.run(RAISE_VERSION);
        return (await session.run('delete from list_exclusions where id = $1', [id])) > 0;
      }),

    addListKey: ({ list, device, sub, createdTs }: Omit<ListKey, 'id' | 'lastFetch'>, hash: Uint8Array) =>
      db.transaction(async (session) => {
        const id = await nextId(session);
        await requireList(session, list);
        if ((await session.query(LOCK_ACCOUNT, [sub])).length === 0) throw accountNotFound();
        await session.run(ADD_KEY, [id, list, device, sub, createdTs, hash]);
        return id;
      }),

    removeListKey: async (id: number) => (await db.run('delete from list_keys where id = $1', [id])) > 0,

    recordFetches: (fetches: readonly KeyFetch[]) =>
      db.transaction((session) =>
        runRows(session, RECORD_FETCHES, fetches, ({ id, ts, address, etag }) => [id, ts, address, etag]),
      ),
  };
}

async function nextId(session: Session): Promise<number> {
  const [[id]] = (await session.query(NEXT_ID)) as [[id: number]];
  return id;
}

async function requireList(session: Session, name: string): Promise<void> {
  if (isBuiltIn(name)) return;
  const found = await session.query('select 1 from device_lists where name = $1', [name]);
  if (found.length === 0) throw listNotFound(name);
}
