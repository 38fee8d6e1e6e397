import { dice } from '../../../src/core/dice.ts';
import { formatIp, isIpv4 } from '../../../src/core/ip/address.ts';
import type { Observation } from '../../../src/core/observation.ts';
import { paths } from '../../../src/core/paths.ts';
import { LARGEST_FAMILY, observationsAt, unknownUrlAt } from '../../shared/observations.ts';
import type { RawResponse } from './connection.ts';

/** A request with everything that is known about its response. */
export type LoadRequest = {
  name: string;
  /** Request line and headers, without the token. */
  head: string;
  body: string;
  /** How many queries it counts as. */
  weight: number;
  isStream: boolean;
  /** The status of its response when nothing is wrong. */
  status: 200 | 404;
  /** What is wrong with the body of a response with that status; null if nothing is. */
  faultOf(response: RawResponse): string | null;
};

type Kind = Pick<LoadRequest, 'name'> &
  Partial<Pick<LoadRequest, 'weight' | 'isStream' | 'status'>> & {
    path: string;
    /** Without a body it is a GET. */
    body?: object;
    faultOf(body: string): string | null;
  };

/** One URL of the generated data. `bulkFill` numbers the URLs from 1, and `move` keeps their numbers. */
type Place = { i: number; urls: number; id: number; observations: Observation[]; observation: Observation };

/** All time: the generated data ends before the default window of a search begins. */
const ALL_TIME = 'since=0';
/** Lines of a search. A search without a limit is the run `stream`. */
const SEARCH_LIMIT = 100;
const SEARCH = `${paths.urlSearch}?${ALL_TIME}&limit=${SEARCH_LIMIT}`;

/** Parts of a hundred. Lookups of one URL prevail, as in real use. */
const MIX: [parts: number, kind: (place: Place) => Kind][] = [
  [48, lastKnown],
  [20, lastUnknown],
  [8, history],
  [6, id],
  [4, statuses],
  [4, payloads],
  [2, (place) => search(place, 'ip', { ip: ipOf(place) })],
  [2, searchNetwork],
  [2, (place) => search(place, 'host', { host: place.observation.host })],
  [1, (place) => search(place, 'asn', { asn: place.observation.addresses[0]?.asn })],
  [1, (place) => search(place, 'family', { malware_family: LARGEST_FAMILY })],
  [2, () => limitsKind],
];

const SEED = 11;

/** `count` requests for URLs over the whole data, in random order. */
export function generateRequests(count: number, urls: number): LoadRequest[] {
  const roll = dice(SEED);
  const kinds = MIX.flatMap(([parts, kind]) => Array.from({ length: parts }, () => kind));
  return Array.from({ length: count }, () => {
    const kind = kinds[roll(kinds.length)] as (typeof kinds)[number];
    return toRequest(kind(placeAt(roll(urls), urls)));
  });
}

export const firstUrlRequest = (urls: number): LoadRequest => toRequest(lastKnown(placeAt(0, urls)));

/** A lookup of a URL that an import has reported as online. */
export function lastImported(url: string): LoadRequest {
  const faultOf = (body: string) => {
    const { url: answered, status } = JSON.parse(body);
    return answered === url && status?.status === 'online' ? null : 'not online after its import';
  };
  return toRequest({ name: 'last, imported', path: paths.urlLast, body: { url }, faultOf });
}

const limitsKind: Kind = {
  name: 'limits',
  path: paths.limits,
  weight: 0,
  faultOf: (body) => faultUnless(keysOf(JSON.parse(body)) === 'status,code,account,limits,current'),
};

export const limitsRequest = toRequest(limitsKind);

function placeAt(i: number, urls: number): Place {
  const observations = observationsAt({ i, urls });
  return { i, urls, id: i + 1, observations, observation: observations[0] as Observation };
}

function toRequest({ name, path, body, weight = 1, isStream = false, status = 200, faultOf }: Kind): LoadRequest {
  const text = body === undefined ? '' : JSON.stringify(body);
  const [method, length] = body === undefined ? ['GET', ''] : ['POST', `Content-Length: ${text.length}\r\n`];
  const head = `${method} ${path} HTTP/1.1\r\nHost: soak.example\r\n${length}`;
  const contentType = isStream ? 'application/x-ndjson' : 'application/json';
  return {
    name,
    head,
    body: text,
    weight,
    isStream,
    status,
    faultOf(response) {
      if (!response.head.includes(`\r\ncontent-type: ${status === 200 ? contentType : 'application/json'}`)) {
        return 'another content type';
      }
      if (weight > 0 && !response.head.includes('\r\nratelimit: ')) return 'no RateLimit header';
      return faultOf(response.body);
    },
  };
}

function lastKnown({ id, observations, observation: { url } }: Place): Kind {
  const newest = observations.at(-1) as Observation;
  const payload = observations.findLast((observation) => observation.payload !== null)?.payload ?? null;
  const faultOf = (body: string) => {
    const response = JSON.parse(body);
    return faultUnless(
      keysOf(response) === 'id,url,status,payload' &&
        response.id === id &&
        response.url === url &&
        keysOf(response.status) === 'ts,status,removal,reporter' &&
        response.status.ts === newest.ts &&
        response.status.status === newest.status &&
        (payload === null
          ? response.payload === null
          : isPayload(response.payload) && response.payload.sha256_hash === payload.sha256),
    );
  };
  return { name: 'last', path: paths.urlLast, body: { url }, faultOf };
}

function lastUnknown(place: Place): Kind {
  const url = unknownUrlAt(place);
  return { name: 'last, unknown', path: paths.urlLast, body: { url }, status: 404, faultOf: errorFault(404) };
}

function history({ id, observation: { url } }: Place): Kind {
  const faultOf = (body: string) => {
    const { events, payloads, ...rest } = JSON.parse(body);
    return faultUnless(
      rest.id === id && rest.url === url && isNewestFirst(events) && isNewestFirst(payloads) && events.length > 0,
    );
  };
  return { name: 'history', path: paths.urlHistory, body: { url }, faultOf };
}

function id({ id, observation: { url } }: Place): Kind {
  const faultOf = (body: string) => faultUnless(body === `{"id":${id}}`);
  return { name: 'id', path: paths.urlId, body: { url }, faultOf };
}

function statuses({ id }: Place): Kind {
  const path = `${paths.urlStatuses.replace(':id', String(id))}?${ALL_TIME}`;
  const faultOf = lineFault((line) => keysOf(line) === 'ts,status,removal,reporter', 1);
  return { name: 'statuses', path, isStream: true, faultOf };
}

function payloads({ id }: Place): Kind {
  const path = paths.urlPayloads.replace(':id', String(id));
  return { name: 'payloads', path, isStream: true, faultOf: lineFault(isPayload, 0) };
}

function search(_place: Place, by: string, body: object): Kind {
  const faultOf = lineFault((line) => keysOf(line) === 'ts,id,url', 1);
  return { name: `search ${by}`, path: SEARCH, body, isStream: true, faultOf };
}

/** docs/operating.md: IPv4 /p counts as 33 − p, IPv6 /p as 65 − p. */
function searchNetwork(place: Place): Kind {
  const [prefix, weight] = isIpv4(place.observation.addresses[0]?.ip as Uint8Array) ? [24, 9] : [48, 17];
  return { ...search(place, 'network', { ip: `${ipOf(place)}/${prefix}` }), weight };
}

function ipOf({ observation }: Place): string {
  return formatIp(observation.addresses[0]?.ip as Uint8Array);
}

/** The body of every error has these two keys, and `code` is the status. */
export function errorFault(status: number): (body: string) => string | null {
  return (body) => {
    const { code, message, ...rest } = JSON.parse(body);
    return faultUnless(code === status && typeof message === 'string' && keysOf(rest) === '');
  };
}

function lineFault(isRight: (line: Line) => boolean, atLeast: number): (body: string) => string | null {
  return (body) => {
    const lines = body.split('\n');
    if (lines.pop() !== '') return 'the last line is incomplete';
    return faultUnless(lines.length >= atLeast && lines.every((line) => isRight(JSON.parse(line))));
  };
}

type Line = Record<string, unknown>;

const PAYLOAD_KEYS = 'ts,mime_type,file_type,file_ext,file_size,file_name,sha256_hash,malware-family';
const HISTORY_LIMIT = 100;

const isPayload = (value: Line): boolean => keysOf(value) === PAYLOAD_KEYS;
const keysOf = (value: object | null): string => Object.keys(value ?? {}).join();
const faultUnless = (isRight: boolean): string | null => (isRight ? null : 'another body than expected');

function isNewestFirst(records: { ts: number }[]): boolean {
  return records.length <= HISTORY_LIMIT && records.every(({ ts }, i) => i === 0 || ts <= (records[i - 1]?.ts ?? 0));
}
