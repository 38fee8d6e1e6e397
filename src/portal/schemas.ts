import { ADDRESS_DATASETS } from '../core/evidence.ts';
import { URL_MAX_LENGTH } from '../core/url/normalize.ts';
import { IntegerOrNull, StringOrNull, Timestamp, UrlId } from '../http/scalars.ts';
import { type Properties, type Schema, type Static, Type } from '../http/schema.ts';
import { HISTORY_LIMIT, PAYLOAD } from '../urls/wire.ts';
import { ON_HOST_MAX, PAGE_LIST_MAX } from './wire.ts';

// All schemas of the endpoints that the pages use. Absent values are null.

const integer = (description: string) => ({ ...IntegerOrNull, description });
const text = (description: string) => ({ ...StringOrNull, description });
const orNull = <S extends Schema>(schema: S) => Type.Unsafe<Static<S> | null>({ ...schema, type: ['object', 'null'] });

const Status = Type.Unsafe<'online' | 'offline' | null>({
  type: ['string', 'null'],
  enum: ['online', 'offline', null],
  description: 'null: nobody reported one.',
});
const Asn = integer('AS number of the network.');
const NetworkName = text('Name of the network, where the table of networks has one.');
const Family = text('Malware family of the last payload.');

const URL_LINE = { id: UrlId, url: Type.String(), status: Status, ts: Timestamp, family: Family };
const UrlLine = Type.Closed(URL_LINE);

const FEED_STATES = ['healthy', 'late', 'failing', 'paused', 'new'] as const;

export const OverviewResponse = Type.Closed({
  counted_ts: integer('When the totals were counted.'),
  totals: Type.Closed({
    urls: integer('URLs; null while they are not counted.'),
    online: integer('URLs that are online.'),
    listings: integer('Live listings of addresses and networks that sources gave.'),
    domains: integer('Domains.'),
  }),
  newest_event_ts: integer('The newest event of a URL, by the stored imports.'),
  confirmed_ts: integer('The newest time at which a URL was seen, by the stored imports.'),
  feeds: Type.Array(
    Type.Closed({
      name: Type.String(),
      format: Type.String(),
      state: Type.Enum([...FEED_STATES], {
        description: 'late: no success for three intervals. failing: will be retried. new: not fetched yet.',
      }),
      last_success_ts: IntegerOrNull,
      rows: integer('Rows of the newest successful run.'),
    }),
  ),
  newest: Type.Array(Type.Closed({ ...URL_LINE, reporter: StringOrNull }), {
    description: 'The URLs that went online or were stored last, newest first; empty without the dataset URL.',
  }),
});
export type OverviewResponse = Static<typeof OverviewResponse>;

export const UrlQuery = Type.Closed({
  url: Type.String({ maxLength: URL_MAX_LENGTH, description: 'Any spelling of the URL.' }),
});
export type UrlQuery = Static<typeof UrlQuery>;

/** The same as in the history of a URL. */
const Payload = Type.Closed({
  [PAYLOAD.ts]: Timestamp,
  [PAYLOAD.mimeType]: StringOrNull,
  [PAYLOAD.fileType]: StringOrNull,
  [PAYLOAD.fileExt]: StringOrNull,
  [PAYLOAD.fileSize]: IntegerOrNull,
  [PAYLOAD.fileName]: StringOrNull,
  [PAYLOAD.sha256]: StringOrNull,
  [PAYLOAD.family]: StringOrNull,
});

const Dataset = Type.Enum([...ADDRESS_DATASETS]);

export const UrlPageResponse = Type.Closed({
  input: Type.String({ description: 'The URL as it was sent.' }),
  url: Type.String({ description: 'The normalized URL.' }),
  steps: Type.Array(Type.String(), { description: 'What normalization changed.' }),
  id: Type.Unsafe<number | null>({ ...UrlId, type: ['integer', 'null'], description: 'null: the URL is not known.' }),
  status: Status,
  since_ts: integer('When the status began.'),
  confirmed_ts: integer('When the status was last seen; null: nobody saw it.'),
  reporter: StringOrNull,
  removal: text('Reason for removal.'),
  first_seen_ts: integer('The oldest event or payload; null if there are too many to read them all.'),
  tags: Type.Array(Type.String()),
  events: Type.Array(
    Type.Closed({
      ts: Timestamp,
      status: Type.Enum(['added', 'removed', 'online', 'offline']),
      removal: Type.String(),
      reporter: Type.String(),
      confirmed_ts: IntegerOrNull,
    }),
    { description: 'Oldest first.' },
  ),
  payloads: Type.Array(Payload, { maxItems: HISTORY_LIMIT, description: 'Newest first.' }),
  addresses: Type.Array(Type.Closed({ ip: Type.String(), asn: Asn, network: NetworkName, ts: Timestamp }), {
    description: 'Newest first. Of an unknown URL: those of other URLs on its host.',
  }),
  host: Type.String(),
  domain: text('The registrable domain of the host.'),
  on_host: Type.Closed({
    urls: Type.Array(UrlLine, { maxItems: ON_HOST_MAX, description: 'Other URLs on the host, newest first.' }),
    truncated: Type.Boolean(),
  }),
  domain_listed: Type.Unsafe<boolean | null>({
    type: ['boolean', 'null'],
    description: 'null: the domain is not known, or the account lacks the dataset DOMAIN.',
  }),
  address_listed: Type.Array(Dataset, {
    description: 'Datasets of the account in which an address of the host is listed now.',
  }),
});
export type UrlPageResponse = Static<typeof UrlPageResponse>;

export const AddressPageResponse = Type.Closed({
  cidr: Type.String({ description: 'The address, or the network in CIDR notation.' }),
  ip: Type.String({ description: 'Its first address.' }),
  asn: Asn,
  network: NetworkName,
  listings: Type.Array(
    Type.Closed({
      dataset: Dataset,
      state: Type.Enum(['live', 'past']),
      cidr: Type.String(),
      listed_ts: Timestamp,
      seen_ts: Timestamp,
      valid_until_ts: Timestamp,
      removed_ts: integer('Removed by the operator.'),
      source: Type.String(),
      botname: text('Malware family.'),
      details: Type.Record(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
    }),
    { description: 'In the datasets of the account; of networks around the asked one too. Newest first.' },
  ),
  listings_truncated: Type.Boolean(),
  domains: Type.Array(Type.Closed({ domain: Type.String(), hostname: Type.String(), last_ts: Timestamp }), {
    maxItems: PAGE_LIST_MAX,
    description: 'Names that had an address there, newest first; empty without the dataset DOMAIN.',
  }),
  domains_truncated: Type.Boolean(),
  urls: Type.Array(UrlLine, {
    maxItems: PAGE_LIST_MAX,
    description: 'URLs whose host had an address there, newest first; empty without the dataset URL.',
  }),
  urls_truncated: Type.Boolean(),
});
export type AddressPageResponse = Static<typeof AddressPageResponse>;

const LastSeen = { ...Timestamp, description: 'Newest sighting.' };
const list = <P extends Properties>(properties: P) =>
  Type.Array(Type.Closed(properties), { description: 'As in the endpoint of this list.' });

export const DomainPageResponse = Type.Closed({
  domain: Type.String({ description: 'The registrable domain of the name.' }),
  known: Type.Boolean(),
  score: Type.Unsafe<number | null>({ type: ['number', 'null'] }),
  dimensions: Type.Record(Type.Number()),
  listed: Type.Boolean(),
  listed_until_ts: IntegerOrNull,
  evidence_ts: IntegerOrNull,
  last_seen_ts: IntegerOrNull,
  abused: Type.Boolean(),
  abused_reason: StringOrNull,
  tags: Type.Array(Type.String()),
  whois: Type.Closed({
    created_ts: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    expires_ts: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    registrar: StringOrNull,
  }),
  reasons: list({
    dimension: Type.String(),
    points: Type.Number(),
    text: Type.String(),
    feed: Type.String(),
    ts: Timestamp,
  }),
  contexts: list({ context: Type.String(), 'last-seen': LastSeen }),
  hostnames: list({
    hostname: Type.String(),
    'last-seen': LastSeen,
    'is-listed': Type.Boolean(),
    abused: Type.Boolean(),
  }),
  addresses: list({
    ip: Type.String(),
    'last-seen': LastSeen,
    score: Type.Integer(),
    counter: Type.Integer(),
    asn: Asn,
    network: NetworkName,
  }),
  name_servers: list({ ns: Type.String(), 'last-seen': LastSeen, score: Type.Integer(), counter: Type.Integer() }),
  senders: list({ ip: Type.String(), helo: Type.String(), 'last-seen': LastSeen, score: Type.Integer() }),
  urls: list({ url: Type.String(), botname: Type.String(), 'last-seen': LastSeen }),
  files: list({ type: Type.String(), hash: Type.String(), botname: Type.String(), 'last-seen': LastSeen }),
  truncated: Type.Closed({
    hostnames: Type.Boolean(),
    addresses: Type.Boolean(),
    name_servers: Type.Boolean(),
    senders: Type.Boolean(),
    urls: Type.Boolean(),
    files: Type.Boolean(),
  }),
  settings: orNull(
    Type.Closed({
      human: Type.Number(),
      abused: Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] }),
      reason: Type.String(),
      set_ts: Timestamp,
    }),
  ),
});
export type DomainPageResponse = Static<typeof DomainPageResponse>;

export const SearchLine = Type.Closed({
  ts: Timestamp,
  id: UrlId,
  url: Type.String(),
  status: Status,
  family: Family,
  asn: Asn,
  network: NetworkName,
});
export type SearchLine = Static<typeof SearchLine>;
