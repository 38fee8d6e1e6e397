import { hostParts } from '../../core/domain-name.ts';
import { DEFAULT_TRUST_PERMILLE } from '../../core/evidence.ts';
import type { ChangeRecorder } from '../changes.ts';
import type { Session } from './database.ts';
import { inOrder } from './lock-order.ts';

/** The ids of strings that are stored once each. */
export type Ids = ReadonlyMap<string, number>;

// In one order, so that no two transactions that add the same texts wait for each other. Existing texts are filtered out
// first, because every row that `on conflict` drops uses up a number of the sequence.
const ADD = (table: string, column: string) => `
  insert into ${table} (${column})
  select t.text from unnest($1::text[]) as t (text)
  where not exists (select 1 from ${table} d where text_key(d.${column}) = text_key(t.text))
  order by t.text collate "C" on conflict do nothing`;

const FIND = (table: string, column: string) => `
  select t.text, d.id from unnest($1::text[]) as t (text) join ${table} d on text_key(d.${column}) = text_key(t.text)`;

const ADD_REPORTERS = ADD('reporters', 'name');
const FIND_REPORTERS = FIND('reporters', 'name');
const ADD_REMOVALS = ADD('removals', 'reason');
const FIND_REMOVALS = FIND('removals', 'reason');
const FIND_FAMILIES = FIND('families', 'name');

const FIND_TAGS = FIND('tags', 'name');

const ADD_FOLDED = (table: string) => `
  insert into ${table} (name, folded)
  select t.name, t.folded from unnest($1::text[], $2::text[]) as t (name, folded)
  where not exists (select 1 from ${table} d where text_key(d.name) = text_key(t.name))
  order by t.name collate "C" on conflict do nothing`;

const ADD_FAMILIES = ADD_FOLDED('families');
const ADD_TAGS = ADD_FOLDED('tags');

/** The ids of texts, which are added on first use. Not cached: after a failover, the newest ids may be lost. */
export function reporterIds(session: Session, texts: ReadonlySet<string>): Promise<Ids> {
  return idsOf(session, ADD_REPORTERS, FIND_REPORTERS, [[...texts]]);
}

export function removalIds(session: Session, texts: ReadonlySet<string>): Promise<Ids> {
  return idsOf(session, ADD_REMOVALS, FIND_REMOVALS, [[...texts]]);
}

export function familyIds(session: Session, texts: ReadonlySet<string>, fold: (name: string) => string): Promise<Ids> {
  const names = [...texts];
  return idsOf(session, ADD_FAMILIES, FIND_FAMILIES, [names, names.map(fold)]);
}

export function tagIds(session: Session, texts: ReadonlySet<string>, fold: (name: string) => string): Promise<Ids> {
  const names = [...texts];
  return idsOf(session, ADD_TAGS, FIND_TAGS, [names, names.map(fold)]);
}

const ADD_SOURCES = `
  insert into sources (name, trust_permille)
  select t.name, ${DEFAULT_TRUST_PERMILLE} from unnest($1::text[]) as t (name)
  where not exists (select 1 from sources d where d.name = t.name)
  order by t.name collate "C" on conflict do nothing`;

const FIND_SOURCES = 'select name, id from sources where name = any($1::text[])';

export function sourceIds(session: Session, texts: ReadonlySet<string>): Promise<Ids> {
  return idsOf(session, ADD_SOURCES, FIND_SOURCES, [[...texts]]);
}

const ADD_DOMAINS = `
  insert into domains (name, first_url_ts)
  select t.name, t.ts from unnest($1::text[], $2::bigint[]) as t (name, ts)
  where not exists (select 1 from domains d where d.name = t.name)
  order by t.name collate "C" on conflict do nothing returning name`;

/** Where a transaction records what it adds. */
type Changes = Pick<ChangeRecorder, 'domain'>;

/** Adds domains. `firstUrlTs` by name, for those that are new: when a URL of the domain was first seen online. */
export async function addDomains(
  session: Session,
  firstUrlTs: ReadonlyMap<string, number | null>,
  changes: Changes,
): Promise<void> {
  if (firstUrlTs.size === 0) return;
  const added = await session.query<[string]>(ADD_DOMAINS, [[...firstUrlTs.keys()], [...firstUrlTs.values()]]);
  for (const [name] of added) changes.domain(name, 'add');
}

const FIND_DOMAINS = 'select name, id from domains where name = any($1::text[])';

export async function domainIds(session: Session, names: ReadonlySet<string>, changes: Changes): Promise<Ids> {
  if (names.size === 0) return new Map();
  const [, rows] = await inOrder([
    () => addDomains(session, new Map([...names].map((name) => [name, null])), changes),
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

async function idsOf(session: Session, add: string, find: string, params: string[][]): Promise<Ids> {
  const [texts] = params;
  if (texts === undefined || texts.length === 0) return new Map();
  const [, rows] = await inOrder([
    () => session.run(add, params),
    () => session.query<[string, number]>(find, [texts]),
  ]);
  return new Map(rows);
}
