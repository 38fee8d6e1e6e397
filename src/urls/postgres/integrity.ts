import { createChangeRecorder } from '../../database/changes.ts';
import { putChanges } from '../../database/postgres/changes.ts';
import type { Database, Query, Session } from '../../database/postgres/database.ts';
import { addHosts, domainIds, domainsOf } from '../../database/postgres/dictionaries.ts';
import { HOLD_HOSTS } from '../../database/postgres/host-names.ts';
import { createLock } from '../../database/postgres/lock-order.ts';
import { runRows } from '../../database/postgres/parameters.ts';
import { MAX_TIES } from '../file-rules.ts';
import {
  type EventColumns,
  LAST_ID,
  PAGES,
  type PayloadOfTime,
  type TableRows,
  URL_COLUMN_COUNT,
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
import { LOCK_URLS_BY_ID } from './locked-batch.ts';

/** Rows of a page: about 5 ms, of which the rules take one or two on the node. Smaller pages cost more round trips. */
const PAGE_ROWS = 100;

// A test checks the plans of these statements (test/database/postgres-server.test.ts).

// The payload is the newest by the key of its file, as `comparePayloads` orders payloads of one second.
export const URLS = `
  select ${URL_COLUMNS}, e.ts, e.kind, e.removal_id, e.reporter_id, n.ts, n.file_id, n.file_key, o.confirmed_ts
  from (select * from urls where id > $1 order by id limit ${PAGE_ROWS}) u ${URL_JOINS}
  left join lateral (
    select ts, kind, removal_id, reporter_id from events
    where url_id = u.id and kind < ${FIRST_HIDDEN_KIND} order by ts desc, kind desc limit 1) e on true
  left join lateral (
    select same.ts, same.file_id, f.file_key from (
      select ts, file_id from payloads
      where url_id = u.id and ts = (select max(ts) from payloads where url_id = u.id) limit ${MAX_TIES}) same
    left join files f on f.id = same.file_id
    order by f.file_key desc nulls last limit 1) n on true
  left join lateral (
    select confirmed_ts from events
    where url_id = u.id and kind < ${FIRST_OFFLINE_KIND} and confirmed_ts is not null order by ts desc limit 1) o on true
  order by u.id`;

export const EVENTS = PAGES.events('$1, $2, $3', PAGE_ROWS);
export const PAYLOADS = PAGES.payloads('$1, $2, $3', PAGE_ROWS);
export const RESOLUTIONS = PAGES.resolutions('$1, $2, $3', PAGE_ROWS);
export const LISTED = PAGES.listed('$1, $2', PAGE_ROWS);
export const FILES = PAGES.files('$1', PAGE_ROWS);
export const FAMILIES = PAGES.families('$1', PAGE_ROWS);
export const TAGS = PAGES.tags('$1', PAGE_ROWS);
export const URL_TAGS = PAGES.url_tags('$1, $2', PAGE_ROWS);

const STATEMENTS = {
  events: EVENTS,
  payloads: PAYLOADS,
  resolutions: RESOLUTIONS,
  listed: LISTED,
  files: FILES,
  families: FAMILIES,
  tags: TAGS,
  url_tags: URL_TAGS,
};

type NewestColumns = [...EventColumns, ...PayloadOfTime, onlineTs: number | null] | null[];

async function findFaults(query: Query, table: CheckedTable, after: RowKey): Promise<FoundPage> {
  if (table === 'urls') return findUrlFaults(query, after);
  const rows = await query<TableRows[typeof table]>(STATEMENTS[table], after);
  return foundPage(table, rows, { after, limit: PAGE_ROWS });
}

async function findUrlFaults(query: Query, after: RowKey): Promise<FoundPage> {
  const rows = await query<[...UrlRow, ...NewestColumns]>(URLS, after);
  const faults = rows.flatMap((row) => {
    const newest = row.slice(URL_COLUMN_COUNT) as NewestColumns;
    const event = newest[0] === null ? null : (newest.slice(0, 4) as EventColumns);
    const payload = newest[4] === null ? [] : [newest.slice(4, 7) as PayloadOfTime];
    const onlineTs = newest[7] ?? null;
    return urlFaults(row.slice(0, URL_COLUMN_COUNT) as UrlRow, { event, payload: newestPayload(payload), onlineTs });
  });
  return { rows: rows.length, faults, next: nextKey('urls', rows, PAGE_ROWS) };
}

export function createCheckRows(db: Database): Pick<UrlStore, 'lastIds' | 'checkRows'> {
  return {
    async lastIds() {
      const ids = CHECKED_TABLES.map(async (table) => [
        table,
        (await db.query<[number | null]>(LAST_ID[table]))[0]?.[0] ?? 0,
      ]);
      return Object.fromEntries(await Promise.all(ids)) as Record<CheckedTable, number>;
    },
    async checkRows(table, after) {
      // In a transaction each page is planned again: these checks run for days, and tables grow meanwhile.
      const page = await db.transaction(({ query }) => findFaults(query, table, after));
      return { ...page, faults: page.faults.map(toFault) };
    },
  };
}

/**
 * Finds the faults of a page, locks their URLs, and finds them again: what was read then cannot change any more. Faults
 * that appeared in between remain, and the next repair finds them.
 */
export function createRepairRows(db: Database, backfillFamilies: () => Promise<void>): UrlStore['repairRows'] {
  return async (table, after) => {
    const page = await db.transaction((session) => repairPage(session, table, after));
    await backfillFamilies();
    return page;
  };
}

async function repairPage(session: Session, table: CheckedTable, after: RowKey): Promise<RepairedPage> {
  const first = await findFaults(session.query, table, after);
  const recorder = createChangeRecorder();
  const urlIds = new Set<number>();
  const hosts = new Set<string>();
  for (const { repair } of first.faults) {
    if (repair !== null && 'urlId' in repair) urlIds.add(repair.urlId);
    if (repair?.set === 'host') hosts.add(repair.host);
  }
  await createLock()({
    host_table: hosts.size === 0 ? undefined : () => session.run(HOLD_HOSTS),
    domains: hosts.size === 0 ? undefined : () => domainIds(session, domainsOf(hosts), recorder),
    hosts: hosts.size === 0 ? undefined : () => addHosts(session, hosts),
    urls: urlIds.size === 0 ? undefined : () => session.query(LOCK_URLS_BY_ID, [[...urlIds]]),
  });
  const { faults, ...page } = await findFaults(session.query, table, after);
  const canRepair = (repair: Repair | null): repair is Repair =>
    repair !== null &&
    (!('urlId' in repair) || urlIds.has(repair.urlId)) &&
    (repair.set !== 'host' || hosts.has(repair.host));
  const repairable = faults.filter(({ repair }) => canRepair(repair));
  for (const { repair } of repairable) {
    if (repair?.set === 'last status' || repair?.set === 'last payload') recorder.url(repair.urlId, 'update');
  }
  if (repairable.length > 0) await putChanges(session, recorder);
  await applyRepairs(
    session,
    repairable.map(({ repair }) => repair as Repair),
  );
  const remaining = faults.filter(({ repair }) => !canRepair(repair));
  return { ...page, faults: remaining.map(toFault), repaired: repairable.map(toFault) };
}

const SET_HOST = `
  update urls set host_id = hosts.id from unnest($1::bigint[], $2::text[]) as r (id, host)
  join hosts on hosts.host = r.host where urls.id = r.id`;
const SET_LAST_STATUS = `
  update urls set event_ts = r.ts, event_kind = r.kind, event_removal_id = r.removal_id,
    event_reporter_id = r.reporter_id
  from unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::bigint[], $5::bigint[])
    as r (id, ts, kind, removal_id, reporter_id)
  where urls.id = r.id`;
const SET_LAST_PAYLOAD = `
  update urls set payload_ts = r.ts, payload_file_id = r.file_id
  from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as r (id, ts, file_id) where urls.id = r.id`;
const SET_HOST_OF_EVENT = `
  update events e set host_id = r.host_id
  from unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::bigint[]) as r (url_id, ts, kind, host_id)
  where e.url_id = r.url_id and e.ts = r.ts and e.kind = r.kind`;
const NOTE_BACKFILLS = `
  insert into family_spreads (file_id)
  select distinct id from unnest($1::bigint[]) as r (id) order by id on conflict do nothing`;
const SET_HOST_OF_SIGHTING = `
  update url_sightings s set host_id = hosts.id, domain_id = hosts.domain_id
  from unnest($1::bigint[], $2::text[]) as r (id, host) join hosts on hosts.host = r.host
  where s.url_id = r.id and hosts.domain_id is not null`;
const PUT_SIGHTINGS = `
  insert into url_sightings (url_id, domain_id, host_id, online_ts)
  select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
  on conflict (url_id) do update set
    domain_id = excluded.domain_id, host_id = excluded.host_id, online_ts = excluded.online_ts`;
const DELETE_SIGHTINGS = 'delete from url_sightings where url_id = any($1::bigint[])';
const SET_BUCKET = `
  update resolutions t set bucket = r.bucket
  from unnest($1::bigint[], $2::bytea[], $3::integer[], $4::integer[]) as r (url_id, ip, day, bucket)
  where t.url_id = r.url_id and t.ip = r.ip and t.day = r.day`;
const SET_FOLDED = `
  update families f set folded = r.folded from unnest($1::bigint[], $2::text[]) as r (id, folded) where f.id = r.id`;
const SET_FOLDED_TAG = `
  update tags t set folded = r.folded from unnest($1::bigint[], $2::text[]) as r (id, folded) where t.id = r.id`;

type RepairOf<Set extends Repair['set']> = Extract<Repair, { set: Set }>;

async function applyRepairs(session: Session, repairs: readonly Repair[]): Promise<void> {
  const of = <Set extends Repair['set']>(set: Set) =>
    repairs.filter((repair): repair is RepairOf<Set> => repair.set === set);
  const sightings = of('sighting').flatMap(({ urlId, sighting }) => (sighting === null ? [] : { urlId, ...sighting }));
  const noSightings = of('sighting').filter(({ sighting }) => sighting === null);
  await Promise.all([
    runRows(session, SET_HOST, of('host'), ({ urlId, host }) => [urlId, host]),
    runRows(session, SET_HOST_OF_SIGHTING, of('host'), ({ urlId, host }) => [urlId, host]),
    runRows(session, PUT_SIGHTINGS, sightings, ({ urlId, domainId, hostId, onlineTs }) => {
      return [urlId, domainId, hostId, onlineTs];
    }),
    runRows(session, DELETE_SIGHTINGS, noSightings, ({ urlId }) => [urlId]),
    runRows(session, SET_LAST_STATUS, of('last status'), ({ urlId, event }) => {
      return [urlId, ...(event ?? [null, null, null, null])];
    }),
    runRows(session, SET_LAST_PAYLOAD, of('last payload'), ({ urlId, payload }) => {
      return [urlId, payload?.ts ?? null, payload?.fileId ?? null];
    }),
    runRows(session, SET_HOST_OF_EVENT, of('host of event'), ({ urlId, ts, kind, hostId }) => [
      urlId,
      ts,
      kind,
      hostId,
    ]),
    runRows(session, NOTE_BACKFILLS, of('family of payloads'), ({ fileId }) => [fileId]),
    runRows(session, SET_BUCKET, of('bucket'), ({ urlId, ip, day, bucket }) => [urlId, ip, day, bucket]),
    runRows(session, SET_FOLDED, of('folded'), ({ familyId, folded }) => [familyId, folded]),
    runRows(session, SET_FOLDED_TAG, of('folded tag'), ({ tagId, folded }) => [tagId, folded]),
  ]);
}
