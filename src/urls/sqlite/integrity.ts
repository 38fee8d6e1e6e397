import type { Database, Statement } from '../../database/sqlite/database.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import {
  type EventColumns,
  LAST_ID,
  PAGES,
  type PayloadOfTime,
  type TableRows,
  URL_COLUMNS,
  URL_JOINS,
  type UrlRow,
} from '../integrity-rows.ts';
import {
  CHECKED_TABLES,
  type FoundPage,
  foundPage,
  newestPayload,
  nextKey,
  type Repair,
  toFault,
  urlFaults,
} from '../integrity-rules.ts';
import {
  type CheckedTable,
  FIRST_HIDDEN_KIND,
  FIRST_OFFLINE_KIND,
  type RepairedPage,
  type RowKey,
  type UrlStore,
} from '../store.ts';
import { NEWEST_PAYLOADS } from './bare-payloads.ts';
import { type BackfillFamilies, NOTE_BACKFILL } from './files.ts';

/** Rows of a page: 0.3 to 0.7 ms (the longer time in an idle process), because requests wait meanwhile. */
const PAGE_ROWS: Record<CheckedTable, number> = {
  families: 200,
  files: 200,
  urls: 20,
  events: 200,
  payloads: 200,
  resolutions: 200,
  listed: 100,
  tags: 200,
  url_tags: 200,
};

const PLACEHOLDERS = {
  events: '?, ?, ?',
  payloads: '?, ?, ?',
  resolutions: '?, ?, ?',
  listed: '?, ?',
  url_tags: '?, ?',
};

const URLS = `select ${URL_COLUMNS} from urls u ${URL_JOINS} where u.id > ? order by u.id limit ${PAGE_ROWS.urls}`;

const NEWEST_EVENT = `
  select ts, kind, removal_id, reporter_id from events
  where url_id = ? and kind < ${FIRST_HIDDEN_KIND} order by ts desc, kind desc limit 1`;

const NEWEST_ONLINE = `
  select confirmed_ts from events
  where url_id = ? and kind < ${FIRST_OFFLINE_KIND} and confirmed_ts is not null order by ts desc limit 1`;

/** All reads of a page are in one read transaction: they run in one callback of the event loop. */
function createFindFaults(db: Database): (table: CheckedTable, after: RowKey) => FoundPage {
  const urls = db.prepare<UrlRow>(URLS);
  const newestEvent = db.prepare<EventColumns>(NEWEST_EVENT);
  const newestPayloads = db.prepare<PayloadOfTime>(NEWEST_PAYLOADS);
  const newestOnline = db.prepare<[number]>(NEWEST_ONLINE);
  const pages = Object.fromEntries(
    Object.entries(PAGES).map(([name, sqlOf]) => {
      const table = name as keyof TableRows;
      return [table, db.prepare(sqlOf(PLACEHOLDERS[table as keyof typeof PLACEHOLDERS] ?? '?', PAGE_ROWS[table]))];
    }),
  ) as { [Table in keyof TableRows]: Statement<TableRows[Table]> };

  function findUrlFaults(after: RowKey): FoundPage {
    const rows = urls.all(...after);
    const faults = rows.flatMap((row) => {
      const event = newestEvent.get(row[0]) ?? null;
      const payload = newestPayload(newestPayloads.all(row[0]));
      return urlFaults(row, { event, payload, onlineTs: newestOnline.get(row[0])?.[0] ?? null });
    });
    return { rows: rows.length, faults, next: nextKey('urls', rows, PAGE_ROWS.urls) };
  }

  return (table, after) => {
    if (table === 'urls') return findUrlFaults(after);
    return foundPage(table, pages[table].all(...after), { after, limit: PAGE_ROWS[table] });
  };
}

export function createCheckRows(db: Database): Pick<UrlStore, 'lastIds' | 'checkRows'> {
  const findFaults = createFindFaults(db);
  const lastIds = CHECKED_TABLES.map((table) => [table, db.prepare<[number | null]>(LAST_ID[table])] as const);
  return {
    async lastIds() {
      const ids = lastIds.map(([table, last]) => [table, last.get()?.[0] ?? 0]);
      return Object.fromEntries(ids) as Record<CheckedTable, number>;
    },
    async checkRows(table, after) {
      const page = findFaults(table, after);
      return { ...page, faults: page.faults.map(toFault) };
    },
  };
}

const SET_HOST = 'update urls set host_id = ? where id = ?';
const SET_LAST_STATUS = `
  update urls set event_ts = ?, event_kind = ?, event_removal_id = ?, event_reporter_id = ? where id = ?`;
const SET_LAST_PAYLOAD = 'update urls set payload_ts = ?, payload_file_id = ? where id = ?';
const SET_HOST_OF_EVENT = 'update events set host_id = ? where url_id = ? and ts = ? and kind = ?';
const SET_HOST_OF_SIGHTING = `
  update url_sightings set host_id = ?1, domain_id = (select domain_id from hosts where id = ?1)
  where url_id = ?2 and (select domain_id from hosts where id = ?1) is not null`;
const PUT_SIGHTING = `
  insert or replace into url_sightings (url_id, domain_id, host_id, online_ts) values (?, ?, ?, ?)`;
const DELETE_SIGHTING = 'delete from url_sightings where url_id = ?';
const SET_BUCKET = 'update resolutions set bucket = ? where url_id = ? and ip = ? and day = ?';
const SET_FOLDED = 'update families set folded = ? where id = ?';
const SET_FOLDED_TAG = 'update tags set folded = ? where id = ?';

/** Checks a page again inside the transaction that repairs it. */
export function createRepairRows(db: Database, dictionaries: Dictionaries, backfillFamilies: BackfillFamilies) {
  const findFaults = createFindFaults(db);
  const setHost = db.prepare(SET_HOST);
  const setLastStatus = db.prepare(SET_LAST_STATUS);
  const setLastPayload = db.prepare(SET_LAST_PAYLOAD);
  const setHostOfEvent = db.prepare(SET_HOST_OF_EVENT);
  const setHostOfSighting = db.prepare(SET_HOST_OF_SIGHTING);
  const putSighting = db.prepare(PUT_SIGHTING);
  const deleteSighting = db.prepare(DELETE_SIGHTING);
  const noteBackfill = db.prepare(NOTE_BACKFILL);
  const setBucket = db.prepare(SET_BUCKET);
  const setFolded = db.prepare(SET_FOLDED);
  const setFoldedTag = db.prepare(SET_FOLDED_TAG);

  function repairHost(urlId: number, hostId: number): number {
    setHostOfSighting.run(hostId, urlId);
    return setHost.run(hostId, urlId);
  }

  function repairSighting({ urlId, sighting }: Extract<Repair, { set: 'sighting' }>): number {
    if (sighting === null) return deleteSighting.run(urlId);
    return putSighting.run(urlId, sighting.domainId, sighting.hostId, sighting.onlineTs);
  }

  function apply(repair: Repair): number {
    switch (repair.set) {
      case 'host':
        return repairHost(repair.urlId, dictionaries.hosts.idOf(repair.host));
      case 'last status':
        dictionaries.changes.url(repair.urlId, 'update');
        return setLastStatus.run(...(repair.event ?? [null, null, null, null]), repair.urlId);
      case 'last payload':
        dictionaries.changes.url(repair.urlId, 'update');
        return setLastPayload.run(repair.payload?.ts ?? null, repair.payload?.fileId ?? null, repair.urlId);
      case 'sighting':
        return repairSighting(repair);
      case 'host of event':
        return setHostOfEvent.run(repair.hostId, repair.urlId, repair.ts, repair.kind);
      case 'family of payloads':
        return noteBackfill.run(repair.fileId);
      case 'bucket':
        return setBucket.run(repair.bucket, repair.urlId, repair.ip, repair.day);
      case 'folded':
        return setFolded.run(repair.folded, repair.familyId);
      case 'folded tag':
        return setFoldedTag.run(repair.folded, repair.tagId);
    }
  }

  return (table: CheckedTable, after: RowKey): RepairedPage => {
    const page = dictionaries.transaction(() => {
      dictionaries.hosts.clearCache(); // the row of a cached id may be damaged
      const { faults, ...rest } = findFaults(table, after);
      const { repairable = [], remaining = [] } = Object.groupBy(faults, ({ repair }) =>
        repair === null ? 'remaining' : 'repairable',
      );
      for (const { repair } of repairable) apply(repair as Repair);
      return { ...rest, faults: remaining.map(toFault), repaired: repairable.map(toFault) };
    });
    backfillFamilies.run();
    return page;
  };
}
