import type { Session } from '../../database/postgres/database.ts';
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

const ADD_FAMILIES = `
  insert into families (name, folded)
  select t.name, t.folded from unnest($1::text[], $2::text[]) as t (name, folded)
  where not exists (select 1 from families d where text_key(d.name) = text_key(t.name))
  order by t.name collate "C" on conflict do nothing`;

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

async function idsOf(session: Session, add: string, find: string, params: string[][]): Promise<Ids> {
  const [texts] = params;
  if (texts === undefined || texts.length === 0) return new Map();
  const [, rows] = await inOrder([
    () => session.run(add, params),
    () => session.query<[string, number]>(find, [texts]),
  ]);
  return new Map(rows);
}
