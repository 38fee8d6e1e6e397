import { type AppError, badRequest } from '../core/errors.ts';
import { ADDRESS_DATASETS, type AddressDataset } from '../core/evidence.ts';
import { textFault } from '../core/text.ts';
import type { NameOf } from '../ingest/evidence-choices.ts';
import { allLists, DEFAULT_FILTER } from './built-in.ts';
import type { ListKind } from './content.ts';
import { isBuiltIn, listNotFound } from './rows.ts';
import type { ListDefinition, ListFilter, ListStore } from './store.ts';

// What commands and administration pages do with definitions of lists. Running servers apply a change within seconds.

/** Each list is built again when the data changes, and kept in memory. */
const MAX_LISTS = 100;

/** One label of a domain: the name is also that of a zone. */
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export const STATUSES = ['online', 'offline', 'any'] as const;

/** A shorter age would leave out what a daily feed reports. */
export const AGE_MIN_SECONDS = 3_600;
/** Ten years: everything. */
export const AGE_MAX_SECONDS = 3_660 * 86_400;

/** Far beyond any score. */
export const SCORE_BOUND = 1_000;

/** More than a person chooses by hand; few enough for one statement. */
export const MAX_NAMES = 100;

/** What can be set of a list. A value that is not given is undefined. */
export type ListValues = {
  description?: string | undefined;
  status?: ListFilter['status'] | undefined;
  maxAgeSeconds?: number | undefined;
  families?: readonly string[] | undefined;
  reporters?: readonly string[] | undefined;
  datasets?: readonly AddressDataset[] | undefined;
  /** Null does not restrict. */
  maxScore?: number | null | undefined;
  listedDomains?: boolean | undefined;
};

type Value = Exclude<keyof ListValues, 'description' | 'maxAgeSeconds'>;

/** Values that mean something for a kind of lists; `domains`: hosts that are listed by their score. */
const VALUES: Record<ListKind | 'domains', readonly Value[]> = {
  urls: ['status', 'families', 'reporters'],
  hosts: ['status', 'families', 'reporters', 'maxScore', 'listedDomains'],
  domains: ['families', 'maxScore', 'listedDomains'],
  addresses: ['families', 'datasets'],
};

const WORDS: Record<Value, string> = {
  status: 'status',
  families: 'families',
  reporters: 'reporters',
  datasets: 'datasets',
  maxScore: 'max-score',
  listedDomains: 'listed-domains',
};

export async function requireList(store: Pick<ListStore, 'listDefinitions'>, name: string): Promise<ListDefinition> {
  const found = (await allLists(store)).find((list) => list.name === name);
  if (found === undefined) throw listNotFound(name);
  return found;
}

/** Adds a list, unless there is one of its name. */
export async function defineList(
  store: Pick<ListStore, 'listDefinitions' | 'addListDefinition'>,
  { name, kind, ...given }: ListValues & Pick<ListDefinition, 'name' | 'kind'>,
  nowTs: number,
  nameOf: NameOf,
): Promise<ListDefinition> {
  if (!NAME.test(name)) {
    throw badRequest(
      'The name of a list must be 1 to 63 lower-case letters, digits and hyphens, a hyphen neither first nor last',
    );
  }
  const lists = await store.listDefinitions();
  const isKnown = isBuiltIn(name) || lists.some((list) => list.name === name);
  if (isKnown) throw knownName(name);
  if (lists.length >= MAX_LISTS) throw badRequest(`There are ${MAX_LISTS} lists already: remove one first`);
  const start = given.listedDomains ? { ...DEFAULT_FILTER, status: 'any' as const } : DEFAULT_FILTER;
  const datasets = kind === 'addresses' && given.datasets === undefined ? ADDRESS_DATASETS : undefined;
  const old = { name, kind, description: '', filter: { ...start, ...(datasets && { datasets }) } };
  const definition = withValues(old, given, nowTs, nameOf);
  if (!(await store.addListDefinition(definition))) throw knownName(name);
  return definition;
}

function knownName(name: string): AppError {
  return badRequest(`There is already a list ${name}. Choose another name`);
}

/** Changes what is given. The kind of a list stays: devices expect what they were set up for. */
export async function changeList(
  store: Pick<ListStore, 'listDefinitions' | 'changeListDefinition'>,
  name: string,
  given: Omit<ListValues, 'listedDomains'>,
  nowTs: number,
  nameOf: NameOf,
): Promise<{ before: ListDefinition; after: ListDefinition }> {
  const before = await requireOwnList(store, name);
  if (Object.values(given).every((value) => value === undefined)) throw badRequest('There is nothing to change');
  const after = withValues(before, given, nowTs, nameOf);
  if (!(await store.changeListDefinition(after))) throw listNotFound(name);
  return { before, after };
}

/** Deletes its keys and exclusions too. */
export async function removeList(
  store: Pick<ListStore, 'listDefinitions' | 'removeListDefinition'>,
  name: string,
): Promise<ListDefinition> {
  const list = await requireOwnList(store, name);
  if (!(await store.removeListDefinition(name))) throw listNotFound(name);
  return list;
}

export async function requireOwnList(store: Pick<ListStore, 'listDefinitions'>, name: string): Promise<ListDefinition> {
  if (!isBuiltIn(name)) return requireList(store, name);
  throw badRequest(
    `${name} is built in and cannot be changed. Exclude something from it, or define a list of your own`,
  );
}

function withValues(
  old: Omit<ListDefinition, 'changedTs'>,
  { description = old.description, ...given }: ListValues,
  nowTs: number,
  nameOf: NameOf,
): ListDefinition {
  const chosen = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const filter: ListFilter = { ...old.filter, ...chosen };
  const values = VALUES[old.kind === 'hosts' && filter.listedDomains ? 'domains' : old.kind];
  for (const value of Object.keys(chosen).filter((name) => name in WORDS) as Value[]) {
    if (!values.includes(value)) throw badRequest(`${nameOf(WORDS[value])} ${meansNothing(old.kind, filter)}`);
  }
  checkText('description', description, nameOf);
  checkNames('families', filter.families, nameOf);
  checkNames('reporters', filter.reporters, nameOf);
  if (old.kind === 'addresses' && filter.datasets.length === 0) {
    throw badRequest(`${nameOf('datasets')} must name one or more of ${ADDRESS_DATASETS.join(', ')}`);
  }
  return { ...old, description, filter, changedTs: nowTs };
}

function meansNothing(kind: ListKind, { listedDomains }: ListFilter): string {
  return `means nothing for a list of ${kind === 'hosts' && listedDomains ? 'domains that are listed by their score' : kind}`;
}

function checkNames(word: string, names: readonly string[], nameOf: NameOf): void {
  if (names.length > MAX_NAMES) throw badRequest(`${nameOf(word)}: at most ${MAX_NAMES} names`);
  if (names.some((name) => name.trim() === '')) throw badRequest(`${nameOf(word)}: a name is empty`);
  for (const name of names) checkText(word, name, nameOf);
}

function checkText(word: string, text: string, nameOf: NameOf): void {
  const fault = textFault(text);
  if (fault !== null) throw badRequest(`${nameOf(word)}: ${fault}`);
}

/** What an operator has set of a list, for the audit log. */
export function listFields({ kind, description, filter }: ListDefinition) {
  return {
    kind,
    description: description || undefined,
    status: kind === 'addresses' ? undefined : filter.status,
    age_seconds: filter.maxAgeSeconds,
    families: unlessEmpty(filter.families),
    reporters: unlessEmpty(filter.reporters),
    datasets: unlessEmpty(filter.datasets),
    max_score: filter.maxScore,
    listed_domains: filter.listedDomains || undefined,
  };
}

const unlessEmpty = (names: readonly string[]) => (names.length === 0 ? undefined : names);
