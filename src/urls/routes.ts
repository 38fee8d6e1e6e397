import type { FastifyRequest } from 'fastify';
import { type Awaitable, then } from '../core/awaitable.ts';
import { AppError, badRequest } from '../core/errors.ts';
import { paths } from '../core/paths.ts';
import { URL_DATASET } from '../core/tier.ts';
import type { TimeWindow } from '../core/time.ts';
import { URL_ERRORS } from '../core/url/errors.ts';
import { isPlainUrl, normalizeUrl } from '../core/url/normalize.ts';
import { withinBudget } from '../http/budget.ts';
import type { Endpoint, Parameter, Route } from '../http/endpoint.ts';
import { createLookupResponder } from '../http/errors.ts';
import { checkIfEmpty, linesOf, NDJSON, sendNdjson } from '../http/ndjson.ts';
import {
  limitParameter,
  parseDecimal,
  queryString,
  readLimit,
  readWindow,
  sinceParameter,
  untilParameter,
} from '../http/query.ts';
import { MAX_INTEGER, UrlId } from '../http/scalars.ts';
import type { Schema } from '../http/schema.ts';
import { urlBulk } from './bulk.ts';
import {
  Event,
  Payload,
  SearchRecord,
  SearchRequest,
  UrlHistoryResponse,
  UrlIdResponse,
  UrlLastResponse,
  UrlRequest,
} from './schemas.ts';
import { parseSearchKey, type SearchKey, type SearchKeyName, searchCost } from './search-key.ts';
import type { UrlStore } from './store.ts';
import { HISTORY_LIMIT, idJson, toWireEvent, toWirePayload } from './wire.ts';

/** `now` is in Unix seconds. */
export function urlRoutes(store: UrlStore, now: () => number): Route[] {
  const endpoints = [
    urlId(store),
    urlLast(store),
    urlHistory(store),
    urlSearch(store, now),
    urlStatuses(store, now),
    urlPayloads(store),
  ];
  const common = { access: { dataset: URL_DATASET }, isForPrograms: true } as const;
  return [
    ...endpoints.map((endpoint): Route => ({ endpoint, ...common, charge: 'query' })),
    { endpoint: urlBulk(store), ...common, charge: 'steps' },
  ];
}

const urlId = (store: UrlStore) =>
  lookupEndpoint({
    path: paths.urlId,
    operationId: 'urlId',
    summary: 'The numeric id of a URL',
    schema: UrlIdResponse,
    lookUp: (url) => then(store.urlId(url), idJson),
  });

const urlLast = (store: UrlStore) =>
  lookupEndpoint({
    path: paths.urlLast,
    operationId: 'urlLast',
    summary: 'The last status and the last payload of a URL',
    schema: UrlLastResponse,
    lookUp: store.urlLast,
  });

const urlHistory = (store: UrlStore) =>
  lookupEndpoint({
    path: paths.urlHistory,
    operationId: 'urlHistory',
    summary: `The newest ${HISTORY_LIMIT} events and the newest ${HISTORY_LIMIT} payloads of a URL`,
    schema: UrlHistoryResponse,
    lookUp: (url) => store.urlHistory(url, HISTORY_LIMIT),
  });

const respondToLookup = createLookupResponder('This URL is not known');

type Lookup = Pick<Endpoint, 'path' | 'operationId' | 'summary'> & {
  schema: Schema;
  /** The response body as JSON; null: the URL is unknown. */
  lookUp(url: string): Awaitable<string | null>;
};

/** An endpoint whose request is one URL. */
function lookupEndpoint({ path, operationId, summary, schema, lookUp }: Lookup): Endpoint<string> {
  return {
    method: 'POST',
    path,
    operationId,
    summary,
    body: UrlRequest,
    response: { contentType: 'application/json', schema },
    refusals: ['not_found'],
    read: (request) => normalUrl((request.body as UrlRequest).url),
    async respond(url, { reply }, { queryBudgetMs }) {
      const found = lookUp(url);
      return respondToLookup(reply, found instanceof Promise ? await withinBudget(found, queryBudgetMs) : found);
    },
  };
}

/** The form under which the URL is stored. */
export function normalUrl(url: string): string {
  if (isPlainUrl(url)) return url;
  const normal = normalizeUrl(url);
  if (!normal.ok) throw badRequest(`url: ${URL_ERRORS[normal.error]}`);
  return normal.url;
}

const urlIdParameter: Parameter = {
  in: 'path',
  name: 'id',
  schema: UrlId,
  description: 'The URLID.',
  isValid: (text) => parseDecimal(text, 1) !== null,
};

const readId = (request: FastifyRequest): number => Number((request.params as { id: string }).id);

/** An id without records in the window has an empty response; an unknown id is an error. */
async function requireId(store: UrlStore, id: number): Promise<void> {
  if (!(await store.hasUrl(id))) throw new AppError('not_found', 'This URLID is not known');
}

/** The limit of records in a statuses or payloads response, unless the request has one. */
const DEFAULT_LIMIT = 1000;

type StatusesQuery = { id: number; window: TimeWindow; limit: number };

const urlStatuses = (store: UrlStore, now: () => number): Endpoint<StatusesQuery> => ({
  method: 'GET',
  path: paths.urlStatuses,
  operationId: 'urlStatuses',
  summary: 'The newest status changes of a URL inside a time window, in any order',
  parameters: [urlIdParameter, sinceParameter, untilParameter, limitParameter(DEFAULT_LIMIT)],
  response: { contentType: NDJSON, schema: Event },
  refusals: ['not_found'],
  read: (request) => ({
    id: readId(request),
    window: readWindow(queryString(request), now()),
    limit: readLimit(queryString(request)) ?? DEFAULT_LIMIT,
  }),
  respond({ id, window, limit }, exchange, options) {
    const lines = (signal: AbortSignal) =>
      linesOf(exchange.reply, store.statuses(id, window, { limit, signal }), toWireEvent);
    return sendNdjson(exchange, (signal) => checkIfEmpty(lines(signal), () => requireId(store, id)), options);
  },
});

const urlPayloads = (store: UrlStore): Endpoint<{ id: number; limit: number }> => ({
  method: 'GET',
  path: paths.urlPayloads,
  operationId: 'urlPayloads',
  summary: 'The newest payloads of a URL, in any order',
  parameters: [urlIdParameter, limitParameter(DEFAULT_LIMIT)],
  response: { contentType: NDJSON, schema: Payload },
  refusals: ['not_found'],
  read: (request) => ({ id: readId(request), limit: readLimit(queryString(request)) ?? DEFAULT_LIMIT }),
  respond({ id, limit }, exchange, options) {
    const lines = (signal: AbortSignal) =>
      linesOf(exchange.reply, store.payloads(id, { limit, signal }), toWirePayload);
    return sendNdjson(exchange, (signal) => checkIfEmpty(lines(signal), () => requireId(store, id)), options);
  },
});

type SearchQuery = { key: SearchKey; window: TimeWindow; limit: number };

const urlSearch = (store: UrlStore, now: () => number): Endpoint<SearchQuery> => ({
  method: 'POST',
  path: paths.urlSearch,
  operationId: 'urlSearch',
  summary: 'The URLs that match one search key, one record for every matching fact, in any order',
  parameters: [sinceParameter, untilParameter, limitParameter()],
  body: SearchRequest,
  response: { contentType: NDJSON, schema: SearchRecord },
  refusals: ['not_found'],
  read: (request) => ({
    key: readSearchKey(request.body as SearchRequest),
    window: readWindow(queryString(request), now()),
    limit: readLimit(queryString(request)) ?? MAX_INTEGER,
  }),
  weight: ({ key }) => searchCost(key),
  respond: ({ key, window, limit }, exchange, options) =>
    sendNdjson(exchange, (signal) => checkIfEmpty(store.search(key, window, { limit, signal }), noMatch), options),
});

/** The schema allows exactly one key. */
export function readSearchKey(body: SearchRequest): SearchKey {
  const [[name, value] = []] = Object.entries(body);
  if (name === undefined || value === undefined) throw new Error('a search without a key passed the schema');
  const parsed = parseSearchKey(name as SearchKeyName, value);
  if (!parsed.ok) throw badRequest(parsed.reason);
  return parsed.key;
}

export async function noMatch(): Promise<void> {
  throw new AppError('not_found', 'Nothing matches in this time window');
}
