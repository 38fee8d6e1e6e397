import { type Database, openExclusive } from './database.ts';

// An import into an empty database drops the indexes that it does not read, and creates them at its end, sorted
// (docs/decisions/import.md). Meanwhile the table `deferred_indexes` has their definitions. Every process that opens the
// database first creates what the table lists, so nobody answers without an index, also after an import was killed.

/** Those of the large tables. No write reads them, and no statement names them: it could not be prepared without them. */
const DEFERRED = [
  ...['events_by_host', 'payloads_by_family', 'resolutions_by_ip', 'resolutions_by_asn'],
  ...['hosts_by_domain', 'hosts_by_ip', 'url_sightings_by_domain'],
];

/** How long to wait for another process that creates the same indexes: minutes for a hundred million URLs. */
const WAIT_MS = 600_000;

const IS_DEFERRED = "select 1 from sqlite_schema where name = 'deferred_indexes'";
const HAS_URL = 'select 1 from urls limit 1';

const DEFER = `
  create table deferred_indexes (name text primary key, sql text not null) strict;
  insert into deferred_indexes select name, sql from sqlite_schema where type = 'index'
    and name in (${DEFERRED.map((name) => `'${name}'`).join()})`;

const NEXT = 'select name, sql from deferred_indexes order by rowid limit 1';
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
    db.transaction(() => {
      db.exec(DEFER);
      for (const name of DEFERRED) db.exec(`drop index ${name}`);
    });
  } finally {
    db.close();
  }
}

export function hasDeferredIndexes(db: Database): boolean {
  return db.prepare(IS_DEFERRED).get() !== undefined;
}

/** To be called on a connection that may meet a process that creates indexes. */
export function waitForIndexes(db: Database): void {
  db.exec(`pragma busy_timeout = ${WAIT_MS}`);
}

/** Creates the indexes that are left, each in one transaction: about 5 s for a million URLs. */
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
    const [name, sql] = next;
    db.exec(sql);
    db.prepare(FORGET).run(name);
    return true;
  });
}
