import { type Database, openExclusive } from './database.ts';

// An import into an empty database drops the indexes that it does not read, and creates them at its end, sorted
// (docs/decisions/import.md). Meanwhile the table `deferred_indexes` has their definitions. Every process that opens the
// database first creates what the table lists, so nobody answers without an index, also after an import was killed.

/** The keys of URLs, hosts and domains. Meanwhile the writer has them in memory: see `deferred-keys.ts`. */
const KEYS = ['urls_by_key', 'hosts_by_name', 'domains_by_name'];

/** Others of the large tables. No write reads them, and no statement names them: it could not be prepared without them. */
const OTHERS = [
  'events_by_host',
  'payloads_by_family',
  'resolutions_by_ip',
  'resolutions_by_asn',
  'hosts_by_domain',
  'hosts_by_ip',
  'url_sightings_by_domain',
];

/** How long to wait for another process that creates the same indexes: minutes for a hundred million URLs. */
const WAIT_MS = 600_000;

const IS_DEFERRED = "select 1 from sqlite_schema where name = 'deferred_indexes'";
const HAS_KEYS = `select 1 from sqlite_schema where name = '${KEYS[0]}'`;
const HAS_URL = 'select 1 from urls limit 1';
const HAS_NAME = 'select 1 from (select id from hosts union all select id from domains) limit 1';

const CREATE_LIST = 'create table deferred_indexes (name text primary key, sql text not null) strict';
const DEFER = "insert into deferred_indexes select name, sql from sqlite_schema where type = 'index' and name = ?";
const NEXT = 'select name, sql from deferred_indexes order by rowid limit 1';
const DEFINITION = 'select sql from deferred_indexes where name = ?';
const FORGET = 'delete from deferred_indexes where name = ?';

/**
 * Drops the indexes, unless the database has URLs or another process has it open. To be called while this process does not
 * have it open either.
 */
export function deferIndexes(path: string): void {
  const db = openExclusive(path);
  if (db === null) return;
  try {
    if (hasDeferredIndexes(db) || db.prepare(HAS_URL).get() !== undefined) return;
    // The memory of keys begins with empty tables. Reputation may have stored names before.
    const hasName = db.prepare(HAS_NAME).get() !== undefined;
    // A batch: without the space for one, the indexes could not be created again, and nobody could open the database.
    db.batch(() => {
      db.exec(CREATE_LIST);
      const defer = db.prepare(DEFER);
      for (const name of hasName ? OTHERS : [...KEYS, ...OTHERS]) {
        defer.run(name);
        db.exec(`drop index ${name}`);
      }
    });
  } finally {
    db.close();
  }
}

export function hasDeferredIndexes(db: Database): boolean {
  return db.prepare(IS_DEFERRED).get() !== undefined;
}

/** Whether the unique indexes of URLs, hosts and domains are deferred. */
export function areKeysDeferred(db: Database): boolean {
  return db.prepare(HAS_KEYS).get() === undefined;
}

/** In the current transaction: a writer finds all of them, or none. */
export function createKeyIndexes(db: Database): void {
  const definition = db.prepare<[sql: string]>(DEFINITION);
  for (const name of KEYS) create(db, name, definition.one(name)[0]);
}

function create(db: Database, name: string, sql: string): void {
  db.exec(sql);
  db.prepare(FORGET).run(name);
}

/** To be called on a connection that may meet a process that creates indexes. */
export function waitForIndexes(db: Database): void {
  db.exec(`pragma busy_timeout = ${WAIT_MS}`);
}

/** Creates the indexes that are left, each in one transaction, except keys: about 5 s for a million URLs. */
export function createDeferredIndexes(db: Database): void {
  if (!hasDeferredIndexes(db)) return;
  waitForIndexes(db);
  while (createNext(db));
}

/** Returns whether there may be another one. */
function createNext(db: Database): boolean {
  return db.batch(() => {
    if (!hasDeferredIndexes(db)) return false; // another process was faster
    const next = db.prepare<[name: string, sql: string]>(NEXT).get();
    if (next === undefined) {
      db.exec('drop table deferred_indexes');
      return false;
    }
    if (areKeysDeferred(db)) createKeyIndexes(db);
    else create(db, ...next);
    return true;
  });
}
