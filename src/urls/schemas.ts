import { URL_MAX_LENGTH } from '../core/url/normalize.ts';
import { ErrorBody } from '../http/errors.ts';
import { IntegerOrNull, StringOrNull, Timestamp, UrlId } from '../http/scalars.ts';
import { type Properties, type Static, Type } from '../http/schema.ts';
import { EVENT, HISTORY_LIMIT, PAYLOAD, SEARCH_RECORD, URL_RESPONSE } from './wire.ts';

// All request and response schemas of this feature. The keys of the responses come from `wire.ts`.

/** A file that a URL served. All eight keys are always present; unknown values are null. */
export const Payload = Type.Object({
  [PAYLOAD.ts]: Timestamp,
  [PAYLOAD.mimeType]: StringOrNull,
  [PAYLOAD.fileType]: StringOrNull,
  [PAYLOAD.fileExt]: StringOrNull,
  [PAYLOAD.fileSize]: IntegerOrNull,
  [PAYLOAD.fileName]: StringOrNull,
  [PAYLOAD.sha256]: StringOrNull,
  [PAYLOAD.family]: StringOrNull,
});
export type Payload = Static<typeof Payload>;

const withStatus = <Status extends Properties[string]>(status: Status) =>
  Type.Object({
    [EVENT.ts]: Timestamp,
    [EVENT.status]: status,
    [EVENT.removal]: Type.String({ description: 'Reason for removal; empty when there is none.' }),
    [EVENT.reporter]: Type.String({ description: 'Nickname of the reporter.' }),
  });

/** A change of the status of a URL. */
export const Event = withStatus(Type.Enum(['added', 'removed', 'online', 'offline']));
export type Event = Static<typeof Event>;

/** The current status of a URL. */
export const Status = withStatus(Type.Enum(['online', 'offline']));
export type Status = Static<typeof Status>;

export const UrlRequest = Type.Closed({
  url: Type.String({ maxLength: URL_MAX_LENGTH, description: 'Any spelling of the URL.' }),
});
export type UrlRequest = Static<typeof UrlRequest>;

const Url = Type.String({ description: 'The normalized URL.' });

export const UrlIdResponse = Type.Object({ [URL_RESPONSE.id]: UrlId });
export type UrlIdResponse = Static<typeof UrlIdResponse>;

export const UrlLastResponse = Type.Object({
  [URL_RESPONSE.id]: UrlId,
  [URL_RESPONSE.url]: Url,
  [URL_RESPONSE.status]: Type.Unsafe<Status | null>({
    ...Status,
    type: ['object', 'null'],
    description: 'Null if only payloads, addresses or tags of the URL were reported.',
  }),
  [URL_RESPONSE.payload]: Type.Unsafe<Payload | null>({ ...Payload, type: ['object', 'null'] }),
});
export type UrlLastResponse = Static<typeof UrlLastResponse>;

export const UrlHistoryResponse = Type.Object({
  [URL_RESPONSE.id]: UrlId,
  [URL_RESPONSE.url]: Url,
  [URL_RESPONSE.events]: Type.Array(Event, { maxItems: HISTORY_LIMIT, description: 'Newest first.' }),
  [URL_RESPONSE.payloads]: Type.Array(Payload, { maxItems: HISTORY_LIMIT, description: 'Newest first.' }),
});
export type UrlHistoryResponse = Static<typeof UrlHistoryResponse>;

/** Only types are checked here; `search-key.ts` checks addresses, hosts and hashes. */
export const SearchRequest = Type.Closed(
  {
    ip: Type.Optional(Type.String({ description: 'IPv4 or IPv6 address, or CIDR.' })),
    host: Type.Optional(Type.String({ description: 'Hostname or IP literal; exact match, no subdomains.' })),
    asn: Type.Optional(
      Type.Unsafe<number | string>({
        type: ['integer', 'string'],
        description: '0 to 4294967295, as a number or a string, with or without a leading AS.',
      }),
    ),
    malware_family: Type.Optional(Type.String({ description: '1 to 128 characters, in any case.' })),
    sha256: Type.Optional(Type.String({ description: '64 hexadecimal characters, in any case.' })),
  },
  { minProperties: 1, maxProperties: 1 },
);
export type SearchRequest = Static<typeof SearchRequest>;

export const SearchRecord = Type.Object({
  [SEARCH_RECORD.ts]: Timestamp,
  [SEARCH_RECORD.id]: UrlId,
  [SEARCH_RECORD.url]: Type.String(),
});
export type SearchRecord = Static<typeof SearchRecord>;

const Ref = Type.Unsafe<string | number>({
  type: ['string', 'number'],
  description: 'Is sent back with the response.',
});

export const BulkRequestLine = Type.Closed({ url: UrlRequest.properties.url, ref: Type.Optional(Ref) });
export type BulkRequestLine = Static<typeof BulkRequestLine>;

const bulkNumber = Type.Integer({ minimum: 1, description: 'The number of the line, without blank ones.' });

export const BulkFoundLine = Type.Object({
  n: bulkNumber,
  ref: Type.Optional(Ref),
  found: Type.Literal(true),
  ...UrlLastResponse.properties,
  [URL_RESPONSE.payload]: Type.Optional(UrlLastResponse.properties[URL_RESPONSE.payload]),
});
export type BulkFoundLine = Static<typeof BulkFoundLine>;

export const BulkUnknownLine = Type.Object({ n: bulkNumber, ref: Type.Optional(Ref), found: Type.Literal(false) });
export type BulkUnknownLine = Static<typeof BulkUnknownLine>;

export const BulkFaultLine = Type.Object({ n: bulkNumber, ref: Type.Optional(Ref), error: ErrorBody });
export type BulkFaultLine = Static<typeof BulkFaultLine>;

/** The last line. Without it the response was cut off. */
export const BulkEndLine = Type.Object({
  end: Type.Literal(true),
  stopped_at: Type.Optional(Type.Integer({ description: 'The first line that was neither answered nor charged.' })),
  limit: Type.Optional(Type.String({ description: 'Why it stopped: lines, bytes, rl_qpm, rl_qph or qmh.' })),
  retry_after: Type.Optional(Type.Integer({ description: 'Seconds until the limit is reset.' })),
  lines: Type.Integer(),
  distinct: Type.Integer({ description: 'Different URLs.' }),
  found: Type.Integer(),
  invalid: Type.Integer(),
  charged: Type.Integer(),
});
export type BulkEndLine = Static<typeof BulkEndLine>;

export const BulkLine = Type.Union([BulkFoundLine, BulkUnknownLine, BulkFaultLine, BulkEndLine]);
export type BulkLine = Static<typeof BulkLine>;
