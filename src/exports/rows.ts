import { AppError } from '../core/errors.ts';
import { BUILT_IN_LISTS, DEFAULT_FILTER } from './built-in.ts';
import type { ListKind } from './content.ts';
import type { Exclusion, ExclusionMatch, ListDefinition, ListKey } from './store.ts';

// Rows of lists, exclusions and keys, the same on both engines.

export type DefinitionRow = [name: string, kind: string, description: string, filter: string, changedTs: number];

export const DEFINITION_COLUMNS = 'name, kind, description, filter, changed_ts';

/** A filter of an older program lacks what newer ones know. */
export function toDefinition([name, kind, description, filter, changedTs]: DefinitionRow): ListDefinition {
  return { name, kind: kind as ListKind, description, changedTs, filter: { ...DEFAULT_FILTER, ...JSON.parse(filter) } };
}

export function toDefinitionRow({ name, kind, description, filter, changedTs }: ListDefinition): DefinitionRow {
  return [name, kind, description, JSON.stringify(filter), changedTs];
}

export type ExclusionRow = [
  id: number,
  list: string,
  kind: string,
  value: string,
  withSubdomains: number,
  reason: string,
  setTs: number,
  untilTs: number | null,
];

export const EXCLUSION_COLUMNS = 'id, list, kind, value, with_subdomains, reason, set_ts, until_ts';

/** A list has a name, so the empty text stands for all of them: null would not be unique. */
const ALL_LISTS = '';

export function toExclusion([id, list, kind, value, withSubdomains, reason, setTs, untilTs]: ExclusionRow): Exclusion {
  const match = toMatch(kind as ExclusionMatch['kind'], value, withSubdomains === 1);
  return { id, match, list: list === ALL_LISTS ? null : list, reason, setTs, untilTs };
}

function toMatch(kind: ExclusionMatch['kind'], value: string, withSubdomains: boolean): ExclusionMatch {
  if (kind === 'host') return { kind, host: value, withSubdomains };
  return kind === 'url' ? { kind, prefix: value } : { kind, network: value };
}

export function toExclusionRow({ id, match, list, reason, setTs, untilTs }: Exclusion): ExclusionRow {
  const withSubdomains = match.kind === 'host' && match.withSubdomains;
  return [id, list ?? ALL_LISTS, match.kind, matchText(match), Number(withSubdomains), reason, setTs, untilTs];
}

/** What is excluded, as text. */
export function matchText(match: ExclusionMatch): string {
  if (match.kind === 'host') return match.host;
  return match.kind === 'url' ? match.prefix : match.network;
}

export type KeyRow = [
  id: number,
  list: string,
  device: string,
  sub: string,
  createdTs: number,
  fetchTs: number | null,
  fetchAddress: string | null,
  fetchEtag: string | null,
];

export const KEY_COLUMNS = 'id, list, device, sub, created_ts, fetch_ts, fetch_address, fetch_etag';

export function toListKey([id, list, device, sub, createdTs, ts, address, etag]: KeyRow): ListKey {
  const lastFetch = ts === null ? null : { ts, address: address ?? '', etag: etag ?? '' };
  return { id, list, device, sub, createdTs, lastFetch };
}

/** Built-in lists are not in the table. */
export function isBuiltIn(name: string): boolean {
  return BUILT_IN_LISTS.some((list) => list.name === name);
}

export function listNotFound(name: string): AppError {
  return new AppError('not_found', `There is no list ${JSON.stringify(name)}. See: urlwarden list show`);
}

export function accountNotFound(): AppError {
  return new AppError('not_found', 'The account of the key was removed by another process in the meantime.');
}
