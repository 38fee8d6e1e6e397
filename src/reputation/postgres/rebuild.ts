import { createChangeRecorder } from '../../database/changes.ts';
import { putChanges } from '../../database/postgres/changes.ts';
import type { Database, Session } from '../../database/postgres/database.ts';
import { domainIds, type Ids } from '../../database/postgres/dictionaries.ts';
import { createLock, inOrder } from '../../database/postgres/lock-order.ts';
import { columns, runRows } from '../../database/postgres/parameters.ts';
import {
  afterPage,
  type HostChange,
  type HostRow,
  hostChanges,
  IS_ONLINE,
  type PlaceRow,
  placeRow,
  progressOf,
  type RebuildPlace,
  type RebuildStep,
  type RebuiltPage,
  toPlace,
} from '../rebuild-rules.ts';
import type { RebuildProgress, ReputationStore } from '../store.ts';

const BEGIN = `
  insert into domain_rebuild (id, step, after_id, last_id) select 1, 0, 0, coalesce(max(id), 0) from hosts
  on conflict do nothing`;
// One node at a time; another one continues after this page.
const PLACE = 'select step, after_id, last_id from domain_rebuild where id = 1 for update';
const PUT_PLACE = 'update domain_rebuild set step = $1, after_id = $2, last_id = $3 where id = 1';
const END = 'delete from domain_rebuild';
const LAST_URL = 'select coalesce(max(id), 0) from urls';

/** A page, in a transaction of its own. */
export function createRebuild(primary: Database): Pick<ReputationStore, 'rebuildHosts'> {
  return { rebuildHosts: () => primary.transaction(rebuildPage) };
}

async function rebuildPage(session: Session): Promise<RebuildProgress> {
  const [, [row]] = await inOrder([() => session.run(BEGIN), () => session.query<PlaceRow>(PLACE)]);
  // Another node has just finished.
  if (row === undefined) return progressOf('urls', { lastId: null, changed: 0 }, null);
  const place = toPlace(row);
  const page = await PAGES[place.step](session, place.afterId);
  const next = afterPage(place, page) ?? (place.step === 'hosts' ? await beginOfUrls(session) : null);
  if (next === null) await session.run(END);
  else await session.run(PUT_PLACE, placeRow(next));
  return progressOf(place.step, page, next);
}

async function beginOfUrls(session: Session): Promise<RebuildPlace> {
  const [row] = await session.query<[number]>(LAST_URL);
  return { step: 'urls', afterId: 0, lastId: row?.[0] ?? 0 };
}

type Page = (session: Session, afterId: number) => Promise<RebuiltPage>;

const PAGES: Record<RebuildStep, Page> = { hosts: rebuildHosts, urls: rebuildUrls };

/** Hosts of a page: some ten milliseconds, because batches wait meanwhile. */
const PAGE_HOSTS = 500;
/** Hosts of a page that leave a domain: each may have thousands of rows. */
const MAX_MOVED_HOSTS = 20;

const HOSTS = `select id, host, domain_id, ip from hosts where id > $1 order by id limit ${PAGE_HOSTS}`;

/**
 * Waits for all batches, which lock the table in a weaker mode when they add hosts, and then lets them wait: no batch has
 * read a domain that is changed here and writes rows of it later.
 */
const LOCK_HOSTS = 'lock table hosts in share row exclusive mode';

const SET_HOSTS = `
  update hosts set domain_id = c.domain_id, ip = c.ip
  from unnest($1::bigint[], $2::bigint[], $3::bytea[]) as c (id, domain_id, ip) where hosts.id = c.id`;

// The URLs of the other hosts of the domain set it again.
const LOCK_DOMAINS = `
  select count(*) from (
    select 1 from domains where id = any($1::bigint[]) order by id for no key update) l`;
const RESET_FIRST = 'update domains set first_url_ts = null where id = any($1::bigint[])';

const MOVE_ADDRESSES = `
  with moved as (
    delete from name_addresses n using unnest($1::bigint[], $2::bigint[], $3::bigint[]) as m (host_id, from_id, to_id)
    where n.domain_id = m.from_id and n.host_id = m.host_id
    returning m.to_id, n.host_id, n.ip, n.day, n.origin, n.ts)
  insert into name_addresses (domain_id, host_id, ip, day, origin, ts)
  select * from moved order by host_id, ip, day, origin
  on conflict (domain_id, host_id, ip, day, origin) do update
    set ts = excluded.ts where excluded.ts > name_addresses.ts`;

// A row of the new domain exists if evidence arrived between the update of the suffix list and the rebuild.
const MOVE_EVIDENCE = `
  with moved as (
    delete from domain_evidence e using unnest($1::bigint[], $2::bigint[], $3::bigint[]) as m (host_id, from_id, to_id)
    where e.domain_id = m.from_id and e.host_id = m.host_id
    returning m.to_id, e.source_id, e.kind, e.host_id, e.rank, e.best_ts, e.best_confidence, e.first_ts, e.last_ts,
      e.details)
  insert into domain_evidence as d (
    domain_id, source_id, kind, host_id, rank, best_ts, best_confidence, first_ts, last_ts, details)
  select * from moved order by to_id, source_id, kind, host_id
  on conflict (domain_id, source_id, kind, host_id) do update set
    rank = greatest(d.rank, excluded.rank),
    best_ts = case when excluded.rank > d.rank then excluded.best_ts else d.best_ts end,
    best_confidence = case when excluded.rank > d.rank then excluded.best_confidence else d.best_confidence end,
    first_ts = least(d.first_ts, excluded.first_ts),
    last_ts = greatest(d.last_ts, excluded.last_ts),
    details = case when excluded.last_ts > d.last_ts then excluded.details else d.details end`;

/**
 * Sets the domains and addresses of hosts. What is known about a host moves with it to another domain. It stays where it is
 * if the host is a public suffix now: nobody can ask for it, but a later list may make it a domain again.
 */
async function rebuildHosts(session: Session, afterId: number): Promise<RebuiltPage> {
  const rows = await session.query<HostRow>(HOSTS, [afterId]);
  const pageEnd = rows.length < PAGE_HOSTS ? null : (rows.at(-1)?.[0] ?? null);
  const ids = await findDomains(session, rows);
  const found = hostChanges(rows, (domain) => ids.get(domain) ?? null);
  if (found.length === 0) return { lastId: pageEnd, changed: 0 };
  const { changes, lastId } = boundMoves(found, pageEnd);
  const lock = createLock();
  const recorder = createChangeRecorder();
  const namesById = new Map([...ids].map(([name, id]) => [id, name]));
  const { domains } = await lock({
    host_table: () => session.run(LOCK_HOSTS),
    domains: () => domainIds(session, new Set(changes.flatMap(({ domain }) => domain ?? [])), recorder),
  });
  const idOf = ({ domain }: HostChange) => (domain === null ? null : (domains.get(domain) ?? null));
  await runRows(session, SET_HOSTS, changes, (change) => [change.id, idOf(change), change.ip]);
  const left = changes.filter((change) => change.oldId !== null && change.oldId !== idOf(change));
  const moved = left.filter(({ domain }) => domain !== null);
  const leftIds = [...new Set(left.map(({ oldId }) => oldId))];
  for (const { domain } of changes) if (domain !== null) recorder.domain(domain, 'update');
  for (const id of leftIds) recorder.domain(namesById.get(id as number) as string, 'update');
  await putChanges(session, recorder);
  const moves = columns(3, moved, (change) => [change.id, change.oldId, idOf(change)]);
  if (left.length > 0) {
    await lock({
      names: () =>
        inOrder([
          () => session.query(LOCK_DOMAINS, [leftIds]),
          () => session.run(RESET_FIRST, [leftIds]),
          () => session.run(MOVE_EVIDENCE, moves),
          () => session.run(MOVE_ADDRESSES, moves),
        ]),
    });
  }
  return { lastId, changed: changes.length };
}

const FIND_DOMAINS = 'select name, id from domains where id = any($1::bigint[])';

/** The ids of the domains that hosts have now, by name. */
async function findDomains(session: Session, rows: readonly HostRow[]): Promise<Ids> {
  const ids = new Set(rows.flatMap(([, , domainId]) => domainId ?? []));
  return new Map(ids.size === 0 ? [] : await session.query<[string, number]>(FIND_DOMAINS, [[...ids]]));
}

function boundMoves(changes: readonly HostChange[], pageEnd: number | null) {
  const leaving = changes.filter(({ oldId }) => oldId !== null);
  const last = leaving[MAX_MOVED_HOSTS - 1];
  if (last === undefined) return { changes, lastId: pageEnd };
  return { changes: changes.filter(({ id }) => id <= last.id), lastId: last.id };
}

/** URLs of a page: about a hundred milliseconds. */
const PAGE_URLS = 500;

const PAGE_END = `
  select max(id), count(*) from (select id from urls where id > $1 order by id limit ${PAGE_URLS}) p`;

const OF_PAGE = 'from urls u join hosts h on h.id = u.host_id where u.id > $1 and u.id <= $2';

// A batch that runs now may have written a newer time: it stays.
const PUT_SIGHTINGS = `
  insert into url_sightings as s (url_id, domain_id, host_id, online_ts)
  select u.id, u.domain_id, u.host_id, e.confirmed_ts
  from (select u.id, u.host_id, h.domain_id ${OF_PAGE} and h.domain_id is not null order by u.id) u
  cross join lateral (
    select confirmed_ts from events where url_id = u.id and ${IS_ONLINE} order by ts desc limit 1) e
  order by u.id
  on conflict (url_id) do update set
    domain_id = excluded.domain_id, host_id = excluded.host_id, online_ts = greatest(s.online_ts, excluded.online_ts)
  where s.domain_id <> excluded.domain_id or s.host_id <> excluded.host_id or s.online_ts < excluded.online_ts
  returning (select name from domains where id = s.domain_id)`;

const DELETE_SIGHTINGS = `
  delete from url_sightings where url_id in (select u.id ${OF_PAGE} and h.domain_id is null)`;

const FIRST_ONLINE = `
  select u.domain_id, min(e.ts)
  from (select u.id, h.domain_id ${OF_PAGE} and h.domain_id is not null) u
  cross join lateral (select ts from events where url_id = u.id and ${IS_ONLINE} order by ts limit 1) e
  group by u.domain_id order by u.domain_id`;

const SET_FIRST = `
  update domains d set first_url_ts = g.ts from unnest($1::bigint[], $2::bigint[]) as g (id, ts)
  where d.id = g.id and (d.first_url_ts is null or d.first_url_ts > g.ts)`;

const PUT_ADDRESSES = `
  insert into name_addresses as n (domain_id, host_id, ip, day, origin, ts)
  select h.domain_id, u.host_id, r.ip, r.day, 0, max(r.ts)
  from urls u join hosts h on h.id = u.host_id join resolutions r on r.url_id = u.id
  where u.id > $1 and u.id <= $2 and h.domain_id is not null
  group by h.domain_id, u.host_id, r.ip, r.day order by u.host_id, r.ip, r.day
  on conflict (domain_id, host_id, ip, day, origin) do update set ts = excluded.ts where excluded.ts > n.ts`;

/** Writes again what the domains of URLs know from them. */
async function rebuildUrls(session: Session, afterId: number): Promise<RebuiltPage> {
  const [page] = await session.query<[lastId: number | null, rows: number]>(PAGE_END, [afterId]);
  const [lastId, rows] = page ?? [null, 0];
  if (lastId === null) return { lastId, changed: 0 };
  const ofPage = [afterId, lastId];
  const first = columns(2, await session.query<[number, number]>(FIRST_ONLINE, ofPage), (row) => row);
  const { names } = await createLock()({
    names: () =>
      inOrder([
        () => session.query<[name: string]>(PUT_SIGHTINGS, ofPage),
        () => session.run(DELETE_SIGHTINGS, ofPage),
        () => session.query(LOCK_DOMAINS, [first[0] ?? []]),
        () => session.run(SET_FIRST, first),
        () => session.run(PUT_ADDRESSES, ofPage),
      ]),
  });
  const [put, deleted] = names;
  const recorder = createChangeRecorder();
  for (const [name] of put) recorder.domain(name, 'update');
  if (put.length + deleted > 0) await putChanges(session, recorder);
  return { lastId: rows < PAGE_URLS ? null : lastId, changed: put.length + deleted };
}
