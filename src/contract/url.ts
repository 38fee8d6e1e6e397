import { type Static, Type } from 'typebox';
import { URL_MAX_LENGTH } from '../core/url.ts';
import { Payload } from './payload.ts';
import { UrlId } from './scalars.ts';
import { Event, Status } from './status.ts';

/** At most so many events and so many payloads are in a history. */
export const HISTORY_LIMIT = 100;

export const UrlRequest = Type.Object(
  { url: Type.String({ maxLength: URL_MAX_LENGTH, description: 'Any spelling of the URL.' }) },
  { additionalProperties: false },
);
export type UrlRequest = Static<typeof UrlRequest>;

const Url = Type.String({ description: 'The normalized URL.' });

export const UrlIdResponse = Type.Object({ id: UrlId });
export type UrlIdResponse = Static<typeof UrlIdResponse>;

export const UrlLastResponse = Type.Object({
  id: UrlId,
  url: Url,
  status: Type.Unsafe<Status | null>({ ...Status, type: ['object', 'null'] }),
  payload: Type.Unsafe<Payload | null>({ ...Payload, type: ['object', 'null'] }),
});
export type UrlLastResponse = Static<typeof UrlLastResponse>;

export const UrlHistoryResponse = Type.Object({
  id: UrlId,
  url: Url,
  events: Type.Array(Event, { maxItems: HISTORY_LIMIT, description: 'Newest first.' }),
  payloads: Type.Array(Payload, { maxItems: HISTORY_LIMIT, description: 'Newest first.' }),
});
export type UrlHistoryResponse = Static<typeof UrlHistoryResponse>;
