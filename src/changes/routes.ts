import type { FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { ADDRESS_DATASETS } from '../core/evidence.ts';
import { paths } from '../core/paths.ts';
import { DOMAIN_DATASET, URL_DATASET } from '../core/tier.ts';
import { callerOf, type FindCaller } from '../http/authenticate.ts';
import type { Caller, Endpoint, Route } from '../http/endpoint.ts';
import { NDJSON, sendNdjson } from '../http/ndjson.ts';
import { integerParameter, limitParameter, queryString, readLimit } from '../http/query.ts';
import { MAX_INTEGER } from '../http/scalars.ts';
import { Type } from '../http/schema.ts';
import { createFeed, type FeedQuery, type FeedServices } from './feed.ts';
import { ChangeRecord } from './schemas.ts';
import type { AskedChanges } from './store.ts';

const DEFAULT_LIMIT = 1_000;
const MAX_LIMIT = 10_000;

const EVENT_STREAM = 'text/event-stream';
const ID_HEADER = 'Last-Event-ID';

export type ChangeServices = FeedServices & {
  /** Asked again while a stream is sent. */
  findCaller: FindCaller;
};

export function changeRoutes(services: ChangeServices): Route[] {
  return [{ endpoint: changes(services), access: 'account', charge: 'query' }];
}

type Query = FeedQuery & { limit: number; isEventStream: boolean };

const changes = (services: ChangeServices): Endpoint<Query> => {
  const feed = createFeed(services);
  return {
    method: 'GET',
    path: paths.changes,
    operationId: 'changes',
    summary: 'Changes of URLs, listings and domains in their order; with Accept: text/event-stream as they happen',
    parameters: [
      {
        in: 'query',
        name: 'after',
        schema: Type.Integer({ minimum: 0, maximum: MAX_INTEGER }),
        description:
          'The number of the last change that the reader has. Default: before the oldest one that is kept. The header ' +
          `${ID_HEADER} is used before it.`,
      },
      limitParameter(DEFAULT_LIMIT, MAX_LIMIT),
    ],
    response: { contentType: NDJSON, otherTypes: [EVENT_STREAM], schema: ChangeRecord },
    refusals: ['forbidden', 'gone'],
    async read(request) {
      const query = {
        after: readCursor(request),
        asked: askedBy(callerOf(request)),
        limit: readLimit(queryString(request), MAX_LIMIT) ?? DEFAULT_LIMIT,
        isEventStream: wantsEvents(request),
      };
      if (query.after !== null) await feed.checkCursor(query.after);
      return query;
    },
    async respond(query, exchange, options) {
      const { reply } = exchange;
      reply.header('newest-change', await services.store.newestChange());
      if (!query.isEventStream) {
        return sendNdjson(exchange, (signal) => feed.lines(query, query.limit, signal), options);
      }
      reply.header('x-accel-buffering', 'no'); // a proxy must not delay the events
      const asked = () => askedNow(exchange.request, services.findCaller);
      return sendNdjson(exchange, (signal) => feed.events({ ...query, asked }, signal), options, EVENT_STREAM);
    },
  };
};

/** A client that connects again sends the header, and the address with which it began. */
function readCursor(request: FastifyRequest): number | null {
  const id = request.headers['last-event-id'];
  if (!id) return integerParameter(queryString(request), 'after', 0) ?? null;
  return integerParameter({ [ID_HEADER]: id }, ID_HEADER, 0) ?? null;
}

function wantsEvents({ headers }: FastifyRequest): boolean {
  return (headers.accept ?? '').split(',').some((type) => type.split(';')[0]?.trim().toLowerCase() === EVENT_STREAM);
}

/** Null if the sender of the request would now be refused: disabled, another password, another tier. */
async function askedNow(request: FastifyRequest, findCaller: FindCaller): Promise<AskedChanges | null> {
  try {
    return askedBy(await findCaller(request));
  } catch (error) {
    if (error instanceof AppError && (error.code === 'unauthorized' || error.code === 'forbidden')) return null;
    throw error;
  }
}

function askedBy({ limits: { ads } }: Caller): AskedChanges {
  const asked = {
    urls: ads.includes(URL_DATASET),
    datasets: ADDRESS_DATASETS.filter((dataset) => ads.includes(dataset)),
    domains: ads.includes(DOMAIN_DATASET),
  };
  if (asked.urls || asked.domains || asked.datasets.length > 0) return asked;
  throw new AppError('forbidden', 'This subscription has no dataset of the change feed');
}
