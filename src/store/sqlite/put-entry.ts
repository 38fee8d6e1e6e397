import type { Entry } from '../../core/timeline.ts';
import { kindCode } from '../timeline-change.ts';
import type { Database } from './database.ts';
import type { Dictionaries } from './dictionaries.ts';

export type EntryDictionaries = Pick<Dictionaries, 'reporters' | 'removals'>;

/** The newest event as it is copied to the URL's row. */
export type LastColumns = [ts: number | null, kind: number | null, removalId: number | null, reporterId: number | null];

const PUT = `
  insert into events (url_id, ts, kind, host_id, removal_id, reporter_id, confirmed_ts) values (?, ?, ?, ?, ?, ?, ?)
  on conflict do update set
    removal_id = excluded.removal_id, reporter_id = excluded.reporter_id, confirmed_ts = excluded.confirmed_ts`;

/** Writes one entry of a timeline. */
export function createPutEntry(db: Database, { reporters, removals }: EntryDictionaries) {
  const put = db.prepare(PUT);
  return (urlId: number, hostId: number, entry: Entry): void => {
    const { ts, removal, reporter, confirmedTs } = entry;
    put.run(urlId, ts, kindCode(entry), hostId, removals.idOf(removal), reporters.idOf(reporter), confirmedTs);
  };
}

export function lastColumns(last: Entry | null | undefined, { reporters, removals }: EntryDictionaries): LastColumns {
  if (!last) return [null, null, null, null];
  return [last.ts, kindCode(last), removals.idOf(last.removal), reporters.idOf(last.reporter)];
}
