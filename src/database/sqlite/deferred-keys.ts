import { hash, randomInt } from 'node:crypto';
import type { Database } from './database.ts';
import { areKeysDeferred, createKeyIndexes } from './deferred-indexes.ts';

// While the unique indexes of URLs, hosts and domains are deferred, this memory says what is stored. Their keys are in
// random order: with the indexes each batch would change most of their pages, and write them to the log and the database.

/** The key of a URL, or a short name, or a part of the SHA-256 of a name: two of 10^6 are equal with a probability of 10^-26. */
const KEY_BYTES = 16;

/** Then the indexes are created. For a million URLs the memory takes 24 MB, as much as the pages of the indexes. */
const MAX_ROWS = 2 ** 20;
/** At most half of the slots are used, so that a key is found in one or two steps. */
const MIN_SLOTS = 2 ** 12;

/** KiB of pages in the cache meanwhile: all large tables grow at their ends. It pays for the memory of the keys. */
const CACHE_KIB = 8 * 1024;

const HAS_ROWS = 'select exists (select 1 from urls) + exists (select 1 from hosts) + exists (select 1 from domains)';

export type DeferredKeys = ReturnType<typeof createDeferredKeys>;

/** One for all writes of a connection. `maxRows`: another number in tests. */
export function createDeferredKeys(db: Database, maxRows = MAX_ROWS) {
  const hasRows = db.prepare<[number]>(HAS_ROWS);
  const [cacheSize] = db.prepare<[number]>('pragma cache_size').one();
  /** Null: the indexes answer. */
  let tables = areKeysDeferred(db) && hasRows.one()[0] === 0 ? emptyTables() : null;
  /** The indexes are there, and nobody can drop them while this connection is open. */
  let isOver = !areKeysDeferred(db);
  if (tables !== null) db.exec(`pragma cache_size = -${CACHE_KIB}`);

  function createIndexes(): void {
    tables = null;
    createKeyIndexes(db);
  }

  function add(table: TableName, key: Uint8Array, id: number): void {
    if (tables === null) return;
    tables[table].add(key, id);
    if (id >= maxRows) createIndexes();
  }

  return {
    /** To be called at the beginning of each transaction. Another process may have created the indexes, and added rows since. */
    begin(): void {
      if (isOver) return;
      if (areKeysDeferred(db)) {
        if (tables === null) createIndexes();
        return;
      }
      tables = null;
      isOver = true;
      db.exec(`pragma cache_size = ${cacheSize}`);
    },

    /** To be called after a rollback: the memory has rows that are not stored. */
    forget(): void {
      tables = null;
    },

    /** Whether the memory says what is stored: then a URL that `urlId` does not have is not stored. */
    isUsed: (): boolean => tables !== null,
    urlId: (key: Uint8Array): number | undefined => tables?.urls.find(key),
    addUrl: (key: Uint8Array, id: number): void => add('urls', key, id),

    /** The id of a host or domain. `put` returns the id of the stored row, or adds one, with the help of the index. */
    idOf(table: 'hosts' | 'domains', name: string, put: (name: string) => number): number {
      if (tables === null) return put(name);
      const key = keyOf(name);
      const known = tables[table].find(key);
      if (known !== undefined) return known;
      const id = put(name);
      add(table, key, id);
      return id;
    },
  };
}

type TableName = 'urls' | 'hosts' | 'domains';

/** The keys of a table whose rows have the ids 1, 2, 3, … as SQLite gives them in an empty table. */
type KeyTable = { find(key: Uint8Array): number | undefined; add(key: Uint8Array, id: number): void };

const emptyTables = (): Record<TableName, KeyTable> => ({
  urls: createKeyTable(),
  hosts: createKeyTable(),
  domains: createKeyTable(),
});

const MAX_ASCII = 0x7f;
/** The last byte of the key of a short name is its length, which is less. */
const HASHED = 0x80;

/** A short name, such as an IPv4 address, is its own key: a hash takes a microsecond. */
function keyOf(text: string): Uint8Array {
  if (text.length >= KEY_BYTES) return hashedKey(text);
  const key = new Uint8Array(KEY_BYTES);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > MAX_ASCII) return hashedKey(text);
    key[i] = code;
  }
  key[KEY_BYTES - 1] = text.length;
  return key;
}

/** Through a string: see `urlKey`. */
function hashedKey(text: string): Uint8Array {
  const key = Buffer.from(hash('sha256', text).slice(0, 2 * KEY_BYTES), 'hex');
  key[KEY_BYTES - 1] = (key[KEY_BYTES - 1] as number) | HASHED;
  return key;
}

/** Another number in each process, so that nobody can choose names that share a slot. */
const SEED = randomInt(2 ** 32);
/** 2^32 divided by the golden ratio: its product spreads the bits of a word. */
const ODD = 0x9e3779b1;

/** A hash table with open addressing. */
function createKeyTable(): KeyTable {
  /** By id. The system gives memory only for the part that is used. */
  const keys = new Uint8Array((MAX_ROWS + 1) * KEY_BYTES);
  /** The id of the key in each slot; 0: empty. */
  let slots = new Uint32Array(MIN_SLOTS);

  const wordAt = (bytes: Uint8Array, at: number) =>
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24);

  function slotOf(bytes: Uint8Array, at: number): number {
    let mixed = SEED;
    for (let i = at; i < at + KEY_BYTES; i += 4) {
      mixed = Math.imul(mixed ^ wordAt(bytes, i), ODD);
      mixed ^= mixed >>> 15;
    }
    return mixed & (slots.length - 1);
  }

  function isAt(id: number, key: Uint8Array): boolean {
    for (let i = 0; i < KEY_BYTES; i++) if (keys[id * KEY_BYTES + i] !== key[i]) return false;
    return true;
  }

  function fill(id: number): void {
    const mask = slots.length - 1;
    let slot = slotOf(keys, id * KEY_BYTES);
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = id;
  }

  return {
    find(key) {
      const mask = slots.length - 1;
      for (let slot = slotOf(key, 0); ; slot = (slot + 1) & mask) {
        const id = slots[slot] as number;
        if (id === 0) return undefined;
        if (isAt(id, key)) return id;
      }
    },
    add(key, id) {
      keys.set(key, id * KEY_BYTES);
      if (id * 2 <= slots.length) return fill(id);
      slots = new Uint32Array(slots.length * 2);
      for (let each = 1; each <= id; each++) fill(each);
    },
  };
}
