import { hash } from 'node:crypto';
import { toBytes } from '../../core/byte-text.ts';
import { hostParts } from '../../core/domain-name.ts';
import { DEFAULT_TRUST_PERMILLE } from '../../core/evidence.ts';
import type { ChangeRecorder } from '../changes.ts';
import type { Session } from './database.ts';
import { inOrder } from './lock-order.ts';

/** The ids of strings that are stored once each. */
export type Ids = ReadonlyMap<string, number>;

// One statement: each text is looked up once. The keys are hashed here: calls of the function `text_key` took most of the
// time of the statement, 3.5 ms for 270 texts. In one order, so that no two transactions that add the same texts
// wait for each other. Existing texts are not inserted, because every row that `on conflict` drops uses up a number of the
// sequence.
const FIND_OR_ADD = (table: string, column: string, folded = '') => `
  with found as materialized (
    select t.*, d.id from unnest($1::bytea[], $2::text[]${folded && ', $3::text[]'}) as t (key, text${folded})
    left join ${table} d on text_key(d.${column}) = t.key),
  added as (
    insert into ${table} (${column}${folded}) select text${folded} from found where id is null
    order by text collate "C" on conflict do nothing returning ${column}, id)
  select text, id from found where id is not null union all select * from added`;

const FIND = (table: string, column: string) =>
  `select ${column}, id from ${table} where text_key(${column}) = any($1::bytea[])`;

type Dictionary = { findOrAdd: string; find: string };

const dictionary = (table: string, column: string, folded = ''): Dictionary => ({
  findOrAdd: FIND_OR_ADD(table, column, folded),
  find: FIND(table, column),
});

const REPORTERS = dictionary('reporters', 'name');
const REMOVALS = dictionary('removals', 'reason');
const FAMILIES = dictionary('families', 'name', ', folded');
const TAGS = dictionary('tags', 'name', ', folded');

/** The ids of texts, which are added on first use. Not cached: after a failover, the newest ids may be lost. */
export function reporterIds(session: Session, texts: ReadonlySet<string>): Promise<Ids> {
  return idsOf(session, REPORTERS, [[...texts]]);
}

export function removalIds(session: Session, texts: ReadonlySet<string>): Promise<Ids> {
  return idsOf(session, REMOVALS, [[...texts]]);
}

export function familyIds(session: Session, texts: ReadonlySet<string>, fold: (name: string) => string): Promise<Ids> {
  const names = [...texts];
  return idsOf(session, FAMILIES, [names, names.map(fold)]);
}

export function tagIds(session: Session, texts: ReadonlySet<string>, fold: (name: string) => string): Promise<Ids> {
  const names = [...texts];
  return idsOf(session, TAGS, [names, names.map(fold)]);
}

const ADD_SOURCES = `
  insert into sources (name, trust_permille)
  select t.name, ${DEFAULT_TRUST_PERMILLE} from unnest($1::text[]) as t (name)
  where not exists (select 1 from sources d where d.name = t.name)
  order by t.name collate "C" on conflict do nothing`;

const FIND_SOURCES = 'select name, id from sources where name = any($1::text[])';

export async function sourceIds(session: Session, texts: ReadonlySet<string>): Promise<Ids> {
  if (texts.size === 0) return new Map();
  const [, rows] = await inOrder([
    () => session.run(ADD_SOURCES, [[...texts]]),
    () => session.query<[string, number]>(FIND_SOURCES, [[...texts]]),
  ]);
  return new Map(rows);
}

const ADD_DOMAINS = `
  insert into domains (name) select t.name from unnest($1::text[]) as t (name)
  where not exists (select 1 from domains d where d.name = t.name)
  order by t.name collate "C" on conflict do nothing returning name`;

/** Where a transaction records what it adds. */
type Changes = Pick<ChangeRecorder, 'domain'>;

async function addDomains(session: Session, names: readonly string[], changes: Changes): Promise<void> {
  const added = await session.query<[string]>(ADD_DOMAINS, [names]);
  for (const [name] of added) changes.domain(name, 'add');
}

const FIND_DOMAINS = 'select name, id from domains where name = any($1::text[])';

export async function domainIds(session: Session, names: ReadonlySet<string>, changes: Changes): Promise<Ids> {
  if (names.size === 0) return new Map();
  const [, rows] = await inOrder([
    () => addDomains(session, [...names], changes),
    () => session.query<[string, number]>(FIND_DOMAINS, [[...names]]),
  ]);
  return new Map(rows);
}

const ADD_HOSTS = `
  insert into hosts (host, domain_id, ip)
  select h.host, domains.id, h.ip from unnest($1::text[], $2::text[], $3::bytea[]) as h (host, domain, ip)
  left join domains on domains.name = h.domain
  where not exists (select 1 from hosts where hosts.host = h.host)
  order by h.host collate "C" on conflict do nothing returning host`;

/** Adds hosts; returns those that are new. Their domains must exist: `domainIds` of `domainsOf`, before this in the order of locks. */
export async function addHosts(session: Session, hosts: ReadonlySet<string>): Promise<Set<string>> {
  const names = [...hosts];
  const parts = names.map(hostParts);
  if (names.length === 0) return new Set();
  const columns = [names, parts.map(({ domain }) => domain), parts.map(({ ip }) => ip)];
  return new Set((await session.query<[string]>(ADD_HOSTS, columns)).map(([host]) => host));
}

const FIND_HOSTS = 'select host, id from hosts where host = any($1::text[])';

/** As `addHosts`; returns their ids. */
export async function hostIds(session: Session, hosts: ReadonlySet<string>): Promise<Ids> {
  if (hosts.size === 0) return new Map();
  const [, rows] = await inOrder([
    () => addHosts(session, hosts),
    () => session.query<[string, number]>(FIND_HOSTS, [[...hosts]]),
  ]);
  return new Map(rows);
}

/** The registrable domains of hosts. */
export function domainsOf(hosts: Iterable<string>): Set<string> {
  const domains = new Set<string>();
  for (const host of hosts) {
    const { domain } = hostParts(host);
    if (domain !== null) domains.add(domain);
  }
  return domains;
}

async function idsOf(session: Session, { findOrAdd, find }: Dictionary, params: string[][]): Promise<Ids> {
  const [texts = []] = params;
  if (texts.length === 0) return new Map();
  const keys = texts.map((text) => toBytes(hash('sha256', text, 'binary'))); // a third of the time of 'buffer'
  const rows = await session.query<[string, number]>(findOrAdd, [keys, ...params]);
  // Another transaction has added some of them at the same time. It has ended, so that they are found now.
  return new Map(rows.length === texts.length ? rows : await session.query<[string, number]>(find, [keys]));
}
