import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../core/errors.ts';
import { paths } from '../core/paths.ts';
import { callerOf } from '../http/authenticate.ts';
import { bestEncoding, type Encoding } from '../http/encoding.ts';
import type { Caller, Charge, Endpoint, Exchange, Parameter, Route, StepCharging } from '../http/endpoint.ts';
import { isOurFault } from '../http/errors.ts';
import { matchesEtag, sendNotModified } from '../http/etag.ts';
import { integerParameter, queryString, wordParameter } from '../http/query.ts';
import { Type } from '../http/schema.ts';
import type { ListCopies, ListCopy } from './copies.ts';
import { requireDatasets } from './datasets.ts';
import { type DeviceCaller, keyOfHeader, NO_KEY } from './device-keys.ts';
import { FORMATS, requireFormat } from './formats/formats.ts';
import { PROFILE_NAMES } from './formats/profiles.ts';
import { isListKey } from './keys.ts';
import type { Variant } from './list-builder.ts';
import type { ListDefinition } from './store.ts';

export type ListServices = {
  /** The definition of a list; null if there is none of this name. */
  definition(name: string): Promise<ListDefinition | null>;
  copy(definition: ListDefinition, variant: Variant, encoding: Encoding): ListCopy | Promise<ListCopy>;
  /** See `ListCopies`. */
  keptCopy(definition: ListDefinition, variant: Variant): ListCopy | null | Promise<ListCopy | null>;
  /** All definitions as they are now. */
  all(): Promise<ListDefinition[]>;
  known: ListCopies['known'];
  explain: ListCopies['explain'];
  /** The caller of a key of this list. Throws `unauthorized` or `forbidden`. */
  callerOfKey(key: string, list: string): Promise<DeviceCaller>;
  /** Notes the fetch; must return at once. */
  fetched(keyId: number, fetch: { ts: number; address: string; etag: string }): void;
  /** Unix seconds. */
  now(): number;
};

/** A list by name and format. */
type ListQuery = { name: string; variant: Variant };

const FORMAT_NAMES = FORMATS.map(({ name }) => name);
/** Of most formats first. */
const [CONTENT_TYPE = '', ...OTHER_TYPES] = new Set(FORMATS.map(({ contentType }) => contentType));

/** `urls-online.txt`: names have no dot. */
const FILE = /^([a-z0-9-]+)\.([a-z-]+)$/;

const fileParameter: Parameter = {
  in: 'path',
  name: 'file',
  schema: Type.String({ pattern: FILE.source, examples: ['urls-online.txt'] }),
  description: `The name of a list, a dot, and a format: ${FORMAT_NAMES.join(', ')}.`,
  isValid: (text) => fileOf(text) !== null,
};

const keyParameter: Parameter = {
  in: 'path',
  name: 'key',
  schema: Type.String(),
  description: 'A key of this list, for devices that can send no header.',
  isValid: isListKey,
};

const queryParameters: readonly Parameter[] = [
  {
    in: 'query',
    name: 'max',
    schema: Type.Integer({ minimum: 1 }),
    description: 'The greatest number of entries; the newest are kept. A comment says that the list was cut.',
  },
  {
    in: 'query',
    name: 'profile',
    schema: Type.Enum([...PROFILE_NAMES]),
    description: 'A kind of device: its capacity and its rules for entries.',
  },
];

/** The same list with the key in the path, and with credentials in a header. */
export function listRoutes(services: ListServices): Route[] {
  const headerKey = ({ headers }: FastifyRequest) => {
    const { authorization, cookie, 'sec-fetch-site': page } = headers;
    // Not for a page: its browser would ask for a password.
    const isDevice = authorization === undefined && cookie === undefined && page === undefined;
    return isDevice ? NO_KEY : keyOfHeader(authorization);
  };
  const pathKey = ({ params }: FastifyRequest) => (params as { key: string }).key;
  return [
    listRoute(services, {
      path: paths.list,
      operationId: 'list',
      summary: 'A list for devices',
      parameters: [fileParameter, ...queryParameters],
      keyOf: headerKey,
    }),
    listRoute(services, {
      path: paths.listByKey,
      operationId: 'listByKey',
      summary: 'A list for devices that can send no header',
      parameters: [keyParameter, fileParameter, ...queryParameters],
      keyOf: pathKey,
    }),
  ];
}

type ListPath = Pick<Endpoint, 'path' | 'operationId' | 'summary' | 'parameters'> & {
  keyOf(request: FastifyRequest): string | null;
};

function listRoute(services: ListServices, { keyOf, ...described }: ListPath): Route {
  const endpoint: Endpoint<ListQuery> = {
    ...described,
    method: 'GET',
    response: { contentType: CONTENT_TYPE, otherTypes: OTHER_TYPES, hasEtag: true },
    refusals: ['not_found'],
    read: readQuery,
    respond: (query, exchange, _options, charging) => respond(services, query, exchange, charging),
  };
  const findCaller = (request: FastifyRequest): Promise<Caller> | null => {
    const key = keyOf(request);
    return key === null ? null : services.callerOfKey(key, fileOf(fileIn(request))?.name ?? '');
  };
  return { endpoint, access: 'account', findCaller, charge: 'own' };
}

const fileIn = ({ params }: FastifyRequest): string => (params as { file: string }).file;

function fileOf(text: string): { name: string; format: string } | null {
  const [, name, format] = FILE.exec(text) ?? [];
  return name === undefined || format === undefined || !FORMAT_NAMES.includes(format) ? null : { name, format };
}

function readQuery(request: FastifyRequest): ListQuery {
  const file = fileOf(fileIn(request));
  if (file === null) throw new Error('unreachable: another path gets 404');
  const query = queryString(request);
  const profile = wordParameter(query, 'profile', PROFILE_NAMES) ?? null;
  const max = integerParameter(query, 'max', 1) ?? null;
  return { name: file.name, variant: { format: file.format, profile, max } };
}

async function respond(
  { definition: find, copy, keptCopy, fetched, now }: ListServices,
  { name, variant }: ListQuery,
  exchange: Exchange,
  charging: StepCharging,
): Promise<Buffer | FastifyReply> {
  const { request, reply } = exchange;
  const definition = await find(name);
  if (definition === null) throw new AppError('not_found', `There is no list ${name}`);
  const format = requireFormat(definition.kind, variant.format);
  if (variant.profile !== null && !format.takesProfile) {
    throw badRequest(`"profile" has no meaning for the format ${format.name}`);
  }
  const caller = callerOf(request) as DeviceCaller;
  requireDatasets(caller, definition);
  const encoding = bestEncoding(request.headers['accept-encoding']);
  const modifiedTsOf = ({ serial }: ListCopy) => (format.hasAllFields ? null : serial);
  // Only what the device does not have yet is charged. A variant that has to be made is charged before, also if the device
  // may have it: otherwise requests with another `max` each would keep the builder busy for nothing.
  let charge: Charge | null = null;
  let isKnown: boolean;
  let list: ListCopy;
  try {
    let plain = isConditional(request.headers) ? await keptCopy(definition, variant) : null;
    if (plain === null) {
      charge = await charging.chargeStep(exchange, 1);
      plain = await copy(definition, variant, 'identity');
    }
    isKnown = isUnchanged(request.headers, plain.etags[encoding], modifiedTsOf(plain));
    if (!isKnown) charge ??= await charging.chargeStep(exchange, 1);
    // Meanwhile the list may have changed: all that is sent is of the second copy.
    list = isKnown || encoding === 'identity' ? plain : await copy(definition, variant, encoding);
  } catch (error) {
    if (charge !== null && isOurFault(error)) await charging.refund(charge);
    throw error;
  }
  if (isKnown && charge !== null) await charging.refund(charge);
  const [etag, modifiedTs] = [list.etags[encoding], modifiedTsOf(list)];
  if (caller.keyId !== undefined) fetched(caller.keyId, { ts: now(), address: request.ip, etag });
  reply.headers(headersOf(list, etag, modifiedTs, now()));
  if (isKnown) return sendNotModified(reply);
  reply.type(format.contentType);
  reply.header('content-disposition', `inline; filename="${name}.${format.name}"`);
  reply.serializer(asItIs);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  const { buffer, byteOffset, byteLength } = list.bytes;
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

/** Whether the client may have the response already. */
function isConditional(headers: IncomingHttpHeaders): boolean {
  return headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined;
}

/**
 * Whether the client has this response already: RFC 9110 section 13.1. `If-None-Match` decides if it is sent, otherwise
 * `If-Modified-Since`, which is exact because no two versions of a list have the same second. `modifiedTs` is null if the
 * bytes may change without a new serial.
 */
function isUnchanged(headers: IncomingHttpHeaders, etag: string, modifiedTs: number | null): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers;
  if (tags !== undefined) return matchesEtag(tags, etag);
  return modifiedTs !== null && since !== undefined && Date.parse(since) / 1000 >= modifiedTs; // NaN for a text that is no date
}

/** Fastify takes bytes in shared memory for an object, and would write it as JSON. Its type knows texts only. */
const asItIs = (bytes: unknown) => bytes as string;

function headersOf({ count, leftOut, staleSinceTs }: ListCopy, etag: string, modifiedTs: number | null, nowTs: number) {
  const reasons = Object.entries(leftOut).map(([reason, left]) => `${reason}=${left}`);
  return {
    etag,
    ...(modifiedTs !== null && { 'last-modified': new Date(modifiedTs * 1000).toUTCString() }),
    // A proxy may keep it, but has to ask whether it has changed.
    'cache-control': 'private, no-cache',
    vary: 'accept-encoding, authorization',
    'x-list-entries': String(count),
    ...(reasons.length > 0 && { 'x-list-left-out': reasons.join(', ') }),
    ...(staleSinceTs !== null && {
      warning: '110 - "Response is Stale"',
      age: String(Math.max(0, nowTs - staleSinceTs)),
    }),
  };
}
