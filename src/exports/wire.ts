import { ADDRESS_DATASETS } from '../core/evidence.ts';
import { IntegerOrNull, StringOrNull, Timestamp } from '../http/scalars.ts';
import { type Static, Type } from '../http/schema.ts';
import { LIST_KINDS } from './content.ts';
import { datasetsOf } from './datasets.ts';
import { AGE_MAX_SECONDS, AGE_MIN_SECONDS, type ListValues, MAX_NAMES, SCORE_BOUND, STATUSES } from './manage.ts';
import { isBuiltIn, matchText } from './rows.ts';
import type { Exclusion, ListDefinition, ListKey } from './store.ts';

// Lists, exclusions and keys as JSON. Commands print the same.

const NumberOrNull = Type.Unsafe<number | null>({ type: ['number', 'null'] });

export const ListItem = Type.Object({
  name: Type.String(),
  kind: Type.Enum([...LIST_KINDS]),
  description: Type.String(),
  built_in: Type.Boolean(),
  needs: Type.Array(Type.String(), { description: 'The datasets (ads) that an account must have to fetch it.' }),
  status: Type.Enum([...STATUSES]),
  age_seconds: Type.Integer({ description: 'Only what was seen in this time.' }),
  families: Type.Array(Type.String(), { description: 'Empty: all.' }),
  reporters: Type.Array(Type.String(), { description: 'Empty: all.' }),
  datasets: Type.Array(Type.String(), { description: 'Of addresses.' }),
  max_score: NumberOrNull,
  listed_domains: Type.Boolean({
    description: 'Domains that are listed by their score, whether a URL is online or not.',
  }),
  changed_ts: Timestamp,
});
export type ListItem = Static<typeof ListItem>;

export function toListItem(definition: ListDefinition): ListItem {
  const { name, kind, description, filter, changedTs } = definition;
  return {
    name,
    kind,
    description,
    built_in: isBuiltIn(name),
    needs: [...datasetsOf(definition)],
    status: filter.status,
    age_seconds: filter.maxAgeSeconds,
    families: [...filter.families],
    reporters: [...filter.reporters],
    datasets: [...filter.datasets],
    max_score: filter.maxScore,
    listed_domains: filter.listedDomains,
    changed_ts: changedTs,
  };
}

const Names = Type.Array(Type.String(), { maxItems: MAX_NAMES });

const VALUES = {
  description: Type.Optional(Type.String()),
  status: Type.Optional(Type.Enum([...STATUSES])),
  age_seconds: Type.Optional(Type.Integer({ minimum: AGE_MIN_SECONDS, maximum: AGE_MAX_SECONDS })),
  families: Type.Optional(Names),
  reporters: Type.Optional(Names),
  datasets: Type.Optional(Type.Array(Type.Enum([...ADDRESS_DATASETS]), { uniqueItems: true })),
  max_score: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['number', 'null'],
      minimum: -SCORE_BOUND,
      maximum: SCORE_BOUND,
      description: 'Only hosts whose domain has this score or a lower one; null: all.',
    }),
  ),
};

export const ListSetRequest = Type.Closed(VALUES);
export type ListSetRequest = Static<typeof ListSetRequest>;

export const ListAddRequest = Type.Closed({
  name: Type.String(),
  kind: Type.Enum([...LIST_KINDS]),
  ...VALUES,
  listed_domains: Type.Optional(Type.Boolean()),
});
export type ListAddRequest = Static<typeof ListAddRequest>;

export function toListValues(sent: ListSetRequest & { listed_domains?: boolean }): ListValues {
  return {
    description: sent.description,
    status: sent.status,
    maxAgeSeconds: sent.age_seconds,
    families: sent.families,
    reporters: sent.reporters,
    datasets: sent.datasets,
    maxScore: sent.max_score,
    listedDomains: sent.listed_domains || undefined,
  };
}

export const ExclusionItem = Type.Object({
  id: Type.Integer(),
  kind: Type.Enum(['host', 'url', 'network']),
  value: Type.String({ description: 'Normalized: a host, the beginning of URLs, or a network.' }),
  subdomains: Type.Boolean({ description: 'Of a host: its subdomains too.' }),
  list: StringOrNull,
  reason: Type.String(),
  set_ts: Timestamp,
  until_ts: IntegerOrNull,
  ended: Type.Boolean(),
});
export type ExclusionItem = Static<typeof ExclusionItem>;

export function toExclusionItem({ id, match, list, reason, setTs, untilTs }: Exclusion, nowTs: number): ExclusionItem {
  return {
    id,
    kind: match.kind,
    value: matchText(match),
    subdomains: match.kind === 'host' && match.withSubdomains,
    list,
    reason,
    set_ts: setTs,
    until_ts: untilTs,
    ended: hasEnded(untilTs, nowTs),
  };
}

const hasEnded = (untilTs: number | null, nowTs: number): boolean => untilTs !== null && untilTs <= nowTs;

export const ExclusionAddRequest = Type.Closed({
  value: Type.String({ description: 'A host, a URL with its scheme, an address or a network; also defanged.' }),
  subdomains: Type.Optional(Type.Boolean({ description: 'Of a host: its subdomains too.' })),
  list: Type.Optional(Type.String({ description: 'Only from this list. Default: from all.' })),
  reason: Type.String({ minLength: 1 }),
  until_ts: Type.Optional(Timestamp),
});
export type ExclusionAddRequest = Static<typeof ExclusionAddRequest>;

const KEY_ITEM = {
  id: Type.Integer(),
  list: Type.String(),
  device: Type.String(),
  created_ts: Timestamp,
  last_fetch_ts: IntegerOrNull,
  last_fetch_address: StringOrNull,
  last_fetch_etag: StringOrNull,
};

export const KeyItem = Type.Object(KEY_ITEM);
export type KeyItem = Static<typeof KeyItem>;

export function toKeyItem({ id, list, device, createdTs, lastFetch }: ListKey): KeyItem {
  return {
    id,
    list,
    device,
    created_ts: createdTs,
    last_fetch_ts: lastFetch?.ts ?? null,
    last_fetch_address: lastFetch?.address ?? null,
    last_fetch_etag: lastFetch?.etag ?? null,
  };
}

/** With the account whose limits count; null if it was removed. */
export const AccountKeyItem = Type.Object({ ...KEY_ITEM, username: StringOrNull });

const Key = Type.String({ description: 'The key. It is shown only now, and only its hash is stored.' });

export const MadeKeyResponse = Type.Object({ ...KEY_ITEM, key: Key });
export const MadeAccountKeyResponse = Type.Object({ ...KEY_ITEM, username: StringOrNull, key: Key });

const NEW_KEY = {
  list: Type.String({ description: 'The name of a list. The key opens no other.' }),
  device: Type.String({ minLength: 1, description: 'The name of the device, for people.' }),
};

export const KeyAddRequest = Type.Closed(NEW_KEY);
export type KeyAddRequest = Static<typeof KeyAddRequest>;

export const AccountKeyAddRequest = Type.Closed({
  ...NEW_KEY,
  username: Type.String({ description: 'The account whose limits count.' }),
});
export type AccountKeyAddRequest = Static<typeof AccountKeyAddRequest>;
