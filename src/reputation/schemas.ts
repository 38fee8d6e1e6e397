import { ADDRESS_DATASETS, DOMAIN_TAGS } from '../core/evidence.ts';
import { Timestamp } from '../http/scalars.ts';
import { Type } from '../http/schema.ts';
import { CONTEXTS } from './domain-report.ts';
import { DIMENSIONS } from './score.ts';

// All response schemas of this feature. They describe what `wire.ts` writes.

const described = (description: string) => ({ ...Timestamp, description });
const text = (description: string) => Type.String({ description });
const port = (description: string) => Type.Integer({ minimum: 0, maximum: 65_535, description });

/** A listing of an address or network. */
const AddressRecord = Type.Closed({
  ipaddress: text('The listed address, or the network as CIDR.'),
  dataset: Type.Enum([...ADDRESS_DATASETS]),
  listed: described('When the listing began.'),
  seen: described('Newest evidence.'),
  valid_until: described('When the listing expires unless it is seen again.'),
  botname: Type.Optional(text('Malware family; always present for XBL and BCL.')),
  rule: Type.Optional(text('XBL: identifies the source.')),
  heuristic: Type.Optional(text('XBL: how the address was found.')),
  asn: Type.Optional(Type.String({ pattern: '^[0-9]+$', description: 'AS number.' })),
  cc: Type.Optional(text('Country code.')),
  lat: Type.Optional(Type.Number({ description: 'Latitude.' })),
  lon: Type.Optional(Type.Number({ description: 'Longitude.' })),
  dstport: Type.Optional(port('BCL: port of the controller.')),
  dstip: Type.Optional(text('Address that was contacted.')),
  srcip: Type.Optional(text('Address that made contact.')),
  srcport: Type.Optional(port('Port that made contact.')),
  protocol: Type.Optional(text('Protocol of the contact.')),
  helo: Type.Optional(text('HELO of a mail server.')),
  subject: Type.Optional(text('Subject of a mail.')),
  domain: Type.Optional(text('Domain that was involved.')),
  detection: Type.Optional(text('What was detected.')),
  abused: Type.Optional(Type.Boolean({ description: 'BCL: a legitimate host that was broken into.' })),
  shared: Type.Optional(Type.Boolean({ description: 'BCL: many use the address, as in a cloud or CDN.' })),
  remove_timestamp: Type.Optional(described('Removed by the operator.')),
});

/** The most records of a query about addresses. */
export const MAX_RECORDS = 2_000;

export const RecordsResponse = Type.Closed({
  code: Type.Literal(200),
  results: Type.Array(AddressRecord, { minItems: 1, maxItems: MAX_RECORDS, description: 'Newest first.' }),
});

const Score = Type.Number({ description: 'The sum of the dimensions, one decimal. −10 or less: listed.' });
const Points = Type.Number({ description: 'One decimal.' });
const AddressScore = Type.Integer({ minimum: -50, maximum: 0, description: '0 without live listings.' });
const LastSeen = described('Newest sighting.');
const Days = Type.Integer({ minimum: 1, description: 'On how many days it was seen.' });
const Botname = text('Malware family; "unknown" if it is not known.');

const GENERAL = {
  domain: text('The registrable domain.'),
  'last-seen': LastSeen,
  tags: Type.Array(Type.Enum(Object.keys(DOMAIN_TAGS))),
  abused: Type.Boolean({ description: 'A good site that somebody misused.' }),
  whois: Type.Closed({
    created: Type.Optional(Type.Integer({ description: 'Unix timestamp in seconds.' })),
    expires: Type.Optional(Type.Integer({ description: 'Unix timestamp in seconds.' })),
    registrar: Type.Optional(Type.String()),
  }),
  score: Score,
};

export const DimensionsResponse = Type.Closed(Object.fromEntries(DIMENSIONS.map((name) => [name, Points])));
export const DomainResponse = Type.Closed(GENERAL);
export const OverviewResponse = Type.Closed({ ...GENERAL, dimensions: DimensionsResponse });

export const ListingResponse = Type.Closed({
  'is-listed': Type.Boolean(),
  ts: described('Newest evidence.'),
  'listed-until': Type.Optional(described('When it ends without new evidence, at most 30 days from now.')),
});

export const ContextsResponse = Type.Array(
  Type.Closed({ context: Type.Enum(Object.keys(CONTEXTS)), 'last-seen': LastSeen }),
);
export const SendersResponse = Type.Array(
  Type.Closed({ ip: Type.String(), helo: text('Empty if unknown.'), 'last-seen': LastSeen, score: AddressScore }),
);
export const ServersResponse = Type.Array(
  Type.Closed({ ns: Type.String(), 'last-seen': LastSeen, score: AddressScore, counter: Days }),
);
export const AddressesResponse = Type.Array(
  Type.Closed({ ip: Type.String(), 'last-seen': LastSeen, score: AddressScore, counter: Days }),
);
export const HostnamesResponse = Type.Array(
  Type.Closed({ hostname: Type.String(), 'last-seen': LastSeen, 'is-listed': Type.Boolean(), abused: Type.Boolean() }),
);
export const UrlsResponse = Type.Array(Type.Closed({ url: Type.String(), botname: Botname, 'last-seen': LastSeen }));
export const FilesResponse = Type.Array(
  Type.Closed({ type: Type.Literal('sha256'), hash: Type.String(), botname: Botname, 'last-seen': LastSeen }),
);

export const ExplanationResponse = Type.Closed({
  domain: Type.String(),
  score: Score,
  dimensions: DimensionsResponse,
  'is-listed': Type.Boolean(),
  reasons: Type.Array(
    Type.Closed({
      dimension: Type.Enum([...DIMENSIONS]),
      points: Points,
      text: Type.String(),
      feed: text('The source of the evidence.'),
      ts: described('Newest evidence of this source.'),
    }),
    { description: 'Their points add up to the score.' },
  ),
});

export const SuffixesResponse = Type.Array(Type.String(), {
  description: 'Public suffixes; *. and ! as in the Public Suffix List.',
});

/** A list of words with their meaning. */
export const catalogueResponse = (key: string) =>
  Type.Array(Type.Closed({ [key]: Type.String(), description: Type.String() }));
