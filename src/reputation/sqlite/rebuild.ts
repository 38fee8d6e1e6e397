import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import {
  afterPage,
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

type RebuildWrites = { rebuildHosts: ReturnType<typeof createRebuildHosts> };

export function createRebuild({ write }: DatabaseFile<RebuildWrites>): Pick<ReputationStore, 'rebuildHosts'> {
  return { rebuildHosts: () => write('rebuildHosts') };
}

/** Rows changed by one call, some milliseconds: other writers wait meanwhile. One host or URL may exceed it. */
const MAX_CHANGES = 2_000;

const PLACE = 'select step, after_id, last_id from domain_rebuild';
const PUT_PLACE = `
  insert into domain_rebuild (id, step, after_id, last_id) values (1, ?, ?, ?)
  on conflict do update set step = excluded.step, after_id = excluded.after_id, last_id = excluded.last_id`;
const END = 'delete from domain_rebuild';
const LAST_HOST = 'select max(id) from hosts';
const LAST_URL = 'select max(id) from urls';

/** A page, in a transaction of its own. */
export function createRebuildHosts(db: Database, dictionaries: Dictionaries): () => RebuildProgress {
  const findPlace = db.prepare<PlaceRow>(PLACE);
  const putPlace = db.prepare(PUT_PLACE);
  const end = db.prepare(END);
  const lastIds = {
    hosts: db.prepare<[number | null]>(LAST_HOST),
    urls: db.prepare<[number | null]>(LAST_URL),
  };
  const rebuildPage = { hosts: createHostsPage(db, dictionaries), urls: createUrlsPage(db, dictionaries) };

  const beginOf = (step: RebuildStep): RebuildPlace => ({ step, afterId: 0, lastId: lastIds[step].get()?.[0] ?? 0 });

  return () =>
    dictionaries.transaction(() => {
      const row = findPlace.get();
      const place = row === undefined ? beginOf('hosts') : toPlace(row);
      const page = rebuildPage[place.step](place.afterId);
      const next = afterPage(place, page) ?? (place.step === 'hosts' ? beginOf('urls') : null);
      if (next === null) end.run();
      else putPlace.run(...placeRow(next));
      return progressOf(place.step, page, next);
    });
}

type Page = (afterId: number) => RebuiltPage;

const PAGE_HOSTS = 1_000;
const HOSTS = `select id, host, domain_id, ip from hosts where id > ? order by id limit ${PAGE_HOSTS}`;
const FIND_DOMAIN = 'select id from domains where name = ?';
const DOMAIN_NAME = 'select name from domains where id = ?';
const SET_HOST = 'update hosts set domain_id = ?, ip = ? where id = ?';
// The URLs of the other hosts of the domain set it again.
const RESET_FIRST = 'update domains set first_url_ts = null where id = ?';

const COPY_ADDRESSES = `
  insert into name_addresses (domain_id, host_id, ip, day, origin, ts)
  select ?, host_id, ip, day, origin, ts from name_addresses where domain_id = ? and host_id = ?
  on conflict do update set ts = excluded.ts where excluded.ts > ts`;
const DELETE_ADDRESSES = 'delete from name_addresses where domain_id = ? and host_id = ?';

// A row of the new domain exists if evidence arrived between the update of the suffix list and the rebuild.
const COPY_EVIDENCE = `
  insert into domain_evidence (
    domain_id, source_id, kind, host_id, rank, best_ts, best_confidence, first_ts, last_ts, details)
  select ?, source_id, kind, host_id, rank, best_ts, best_confidence, first_ts, last_ts, details
  from domain_evidence where domain_id = ? and host_id = ?
  on conflict do update set
    rank = max(rank, excluded.rank),
    best_ts = iif(excluded.rank > rank, excluded.best_ts, best_ts),
    best_confidence = iif(excluded.rank > rank, excluded.best_confidence, best_confidence),
    first_ts = min(first_ts, excluded.first_ts),
    last_ts = max(last_ts, excluded.last_ts),
    details = iif(excluded.last_ts > last_ts, excluded.details, details)`;
const DELETE_EVIDENCE = 'delete from domain_evidence where domain_id = ? and host_id = ?';

/**
 * Sets the domains and addresses of hosts. What is known about a host moves with it to another domain. It stays where it is
 * if the host is a public suffix now: nobody can ask for it, but a later list may make it a domain again.
 */
function createHostsPage(db: Database, { domains, changes }: Dictionaries): Page {
  const domainName = db.prepare<[string]>(DOMAIN_NAME);
  const hosts = db.prepare<HostRow>(HOSTS);
  const findDomain = db.prepare<[number]>(FIND_DOMAIN);
  const setHost = db.prepare(SET_HOST);
  const resetFirst = db.prepare(RESET_FIRST);
  const moves = [
    { copy: db.prepare(COPY_ADDRESSES), remove: db.prepare(DELETE_ADDRESSES) },
    { copy: db.prepare(COPY_EVIDENCE), remove: db.prepare(DELETE_EVIDENCE) },
  ];

  /** Returns the number of rows. */
  function move(hostId: number, fromId: number, toId: number): number {
    let rows = 0;
    for (const { copy, remove } of moves) {
      copy.run(toId, fromId, hostId);
      rows += remove.run(fromId, hostId);
    }
    return rows;
  }

  return (afterId) => {
    domains.clearCache(); // a row of a cached id may have been deleted by hand
    const rows = hosts.all(afterId);
    let lastId = rows.length < PAGE_HOSTS ? null : (rows.at(-1)?.[0] ?? null);
    let [changed, moved] = [0, 0];
    for (const { id, oldId, domain, ip } of hostChanges(rows, (name) => findDomain.get(name)?.[0] ?? null)) {
      const domainId = domain === null ? null : domains.idOf(domain);
      setHost.run(domainId, ip, id);
      changed++;
      if (domain !== null) changes.domain(domain, 'update');
      if (oldId === null || domainId === oldId) continue;
      changes.domain(domainName.one(oldId)[0], 'update');
      resetFirst.run(oldId);
      if (domainId !== null) moved += move(id, oldId, domainId);
      if (moved >= MAX_CHANGES) {
        lastId = id;
        break;
      }
    }
    return { lastId, changed };
  };
}

const PAGE_URLS = 200;
const URLS = `
  select u.id, u.host_id, hosts.domain_id, s.host_id, s.domain_id, s.online_ts from urls u
  left join hosts on hosts.id = u.host_id
  left join url_sightings s on s.url_id = u.id
  where u.id > ? order by u.id limit ${PAGE_URLS}`;

type UrlRow = [
  id: number,
  hostId: number,
  domainId: number | null,
  ofHostId: number | null,
  ofDomainId: number | null,
  onlineTs: number | null,
];

const FIRST_ONLINE = `select ts from events where url_id = ? and ${IS_ONLINE} order by ts limit 1`;
const NEWEST_ONLINE = `select confirmed_ts from events where url_id = ? and ${IS_ONLINE} order by ts desc limit 1`;
const PUT_SIGHTING = `
  insert or replace into url_sightings (url_id, domain_id, host_id, online_ts) values (?, ?, ?, ?)`;
const DELETE_SIGHTING = 'delete from url_sightings where url_id = ?';
const SET_FIRST = `
  update domains set first_url_ts = ?1 where id = ?2 and (first_url_ts is null or first_url_ts > ?1)`;
const PUT_ADDRESSES = `
  insert into name_addresses (domain_id, host_id, ip, day, origin, ts)
  select ?, ?, ip, day, 0, ts from resolutions where url_id = ?
  on conflict do update set ts = excluded.ts where excluded.ts > name_addresses.ts`;

/** Writes again what the domains of URLs know from them. */
function createUrlsPage(db: Database, { changes }: Dictionaries): Page {
  const domainName = db.prepare<[string]>(DOMAIN_NAME);
  const urls = db.prepare<UrlRow>(URLS);
  const firstOnline = db.prepare<[number]>(FIRST_ONLINE);
  const newestOnline = db.prepare<[number]>(NEWEST_ONLINE);
  const putSighting = db.prepare(PUT_SIGHTING);
  const deleteSighting = db.prepare(DELETE_SIGHTING);
  const setFirst = db.prepare(SET_FIRST);
  const putAddresses = db.prepare(PUT_ADDRESSES);

  /** Returns the number of changed rows. */
  function rebuild([id, hostId, domainId, ofHostId, ofDomainId, onlineTs]: UrlRow): number {
    if (domainId === null) return onlineTs === null ? 0 : deleteSighting.run(id);
    let rows = putAddresses.run(domainId, hostId, id);
    const [newestTs] = newestOnline.get(id) ?? [];
    const [firstTs] = firstOnline.get(id) ?? [];
    if (newestTs === undefined || firstTs === undefined) return rows;
    if (hostId !== ofHostId || domainId !== ofDomainId || newestTs !== onlineTs) {
      rows += putSighting.run(id, domainId, hostId, newestTs);
      changes.domain(domainName.one(domainId)[0], 'update');
    }
    return rows + setFirst.run(firstTs, domainId);
  }

  return (afterId) => {
    const rows = urls.all(afterId);
    let [changed, written] = [0, 0];
    for (const row of rows) {
      const rowChanges = rebuild(row);
      written += rowChanges;
      if (rowChanges > 0) changed++;
      if (written >= MAX_CHANGES) return { lastId: row[0], changed };
    }
    return { lastId: rows.length < PAGE_URLS ? null : (rows.at(-1)?.[0] ?? null), changed };
  };
}
