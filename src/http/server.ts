import { METHODS } from 'node:http';
import {
  type FastifyInstance,
  type FastifyServerOptions,
  fastify,
  LogController,
  type onResponseHookHandler,
} from 'fastify';
import { ErrorBody } from '../contract/error.ts';
import { AppError } from '../core/errors.ts';
import type { Metrics, RecordAnswer } from '../metrics/metrics.ts';
import { anyContentType, describeFault, MAX_BODY_BYTES, parseJson } from './body.ts';
import {
  answerError,
  type ConnectionTimes,
  closeAfterBody,
  createNodeServer,
  DEFAULT_CONNECTION_TIMES,
  type NodeServer,
} from './connection.ts';
import type { EndpointContext, Services } from './endpoint.ts';
import { wireError } from './errors.ts';
import { authenticateHook } from './hooks/authenticate.ts';
import { knownPath } from './hooks/known-path.ts';
import { allowOf, answerOptions, refuseMethod } from './hooks/methods.ts';
import { handlerOf } from './metering.ts';
import type { NdjsonTimes } from './ndjson.ts';
import { openapiDocument } from './openapi.ts';
import { type Route, routes } from './routes.ts';
import type { TlsPair } from './tls.ts';
import { atEndOfTurn } from './turn.ts';

export type { Services } from './endpoint.ts';

export type ServerOptions = Partial<ConnectionTimes & NdjsonTimes> & {
  logger?: Exclude<FastifyServerOptions['logger'], undefined>;
  /** With it the server speaks HTTPS. */
  tls?: TlsPair | undefined;
  metrics?: Metrics | undefined;
  /** Networks whose X-Forwarded-For is believed. */
  trustedProxies?: readonly string[];
};

const DEFAULT_TIMES: ConnectionTimes & NdjsonTimes = {
  ...DEFAULT_CONNECTION_TIMES,
  queryBudgetMs: 10_000,
  stallMs: 60_000,
};

/** What a request is counted under whose path is none of ours. */
const UNKNOWN_ROUTE = 'unknown';

/** One HTTP server over services that are opened and closed elsewhere. It keeps no state outside itself. */
export function buildServer(services: Services, options: ServerOptions = {}): FastifyInstance {
  const { logger = false, tls, metrics, trustedProxies = [], ...given } = options;
  const times = { ...DEFAULT_TIMES, ...given };
  const nodes: NodeServer[] = [];
  const app = fastify({
    logger,
    logController: new LogController({ disableRequestLogging: true }),
    serverFactory: (handler) => {
      const node = createNodeServer(atEndOfTurn(handler), times, {
        tls,
        onUnreadable: metrics?.unreadable,
        onAborted: metrics?.aborted,
      });
      nodes.push(node);
      return node.server;
    },
    clientErrorHandler: () => {}, // `connection.ts` has answered; Fastify's own would destroy the socket under it
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { ignoreTrailingSlash: true },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allowUnionTypes: true } },
    schemaErrorFormatter: describeFault,
    return503OnClosing: false, // a request that came in time is answered, and its connection closed
    frameworkErrors(error, _request, reply) {
      metrics?.unreadable(wireError(error).status); // the target is no readable path
      answerError(reply.raw, error);
    },
  });
  // Fastify wants a child for every request, which costs more than the request id is worth; a factory of our own would
  // have its product looked over each time.
  app.log.child = () => app.log;
  answerErrors(app, metrics);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseJson);
  app.addHook('onRequest', knownPath);
  app.addHook('preClose', async () => {
    for (const node of nodes) node.closeWhenAnswered();
  });
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  nodeServers.set(app, nodes);
  app.decorateRequest('caller', null);
  const openStreams = new Map<string, number>();
  metrics?.watchStreams(() => [...openStreams.values()].reduce((sum, open) => sum + open, 0));
  const context = { services, times, openStreams, openapi: openapiDocument(routes) };
  for (const route of routes) addRoute(app, route, context, metrics);
  return app;
}

function addRoute(
  app: FastifyInstance,
  { access, metering, endpoint }: Route,
  context: EndpointContext,
  metrics: Metrics | undefined,
): void {
  const { method, path: url, body, response } = endpoint;
  const onResponse = metrics ? [recordAnswer(metrics.route(url))] : [];
  const onRequest = [];
  if (access !== 'open') onRequest.push(authenticateHook(context.services.authenticate, access));
  if (body) onRequest.push(anyContentType);
  const success =
    response.contentType === 'application/json'
      ? response.schema
      : { content: { [response.contentType]: { schema: response.schema } } };
  app.route({
    method,
    url,
    schema: { ...(body && { body }), response: { 200: success, '4xx': ErrorBody, '5xx': ErrorBody } },
    onRequest,
    onResponse,
    handler: handlerOf(endpoint, metering, context),
  });
  addOtherMethods(app, method, url, onResponse);
}

/** Of every answer that went out whole; Fastify takes the time of each in any case. */
function recordAnswer(record: RecordAnswer): onResponseHookHandler {
  return (request, reply, done) => {
    record(request.method, reply.statusCode, reply.elapsedTime / 1000);
    done();
  };
}

/** Every other method of the path, so that it is refused as such and not as an unknown path. */
function addOtherMethods(
  app: FastifyInstance,
  method: 'GET' | 'POST',
  url: string,
  onResponse: onResponseHookHandler[],
): void {
  const allow = allowOf(method);
  const handler = () => {
    throw new Error('onRequest answers');
  };
  const others = app.supportedMethods.filter((name) => !allow.split(', ').includes(name));
  app.route({ method: others, url, onRequest: refuseMethod(allow), onResponse, handler });
  app.route({ method: 'OPTIONS', url, onRequest: answerOptions(allow), onResponse, handler });
}

/** A flood of requests that we do not take must not become a flood of log lines. */
const isDeliberate = (error: unknown): boolean => error instanceof AppError && error.code === 'overloaded';

/** Whatever is thrown, anywhere above the socket. Only what is our fault is logged: a healthy server logs no error. */
function answerErrors(app: FastifyInstance, metrics: Metrics | undefined): void {
  const recordUnknown = metrics?.route(UNKNOWN_ROUTE);
  app.setErrorHandler((error, request, reply) => {
    const { status, headers, body } = wireError(error);
    if (error instanceof AppError && error.limit !== undefined) metrics?.refused(error.limit);
    if (request.is404) recordUnknown?.(request.method, status, reply.elapsedTime / 1000);
    if (status >= 500 && !isDeliberate(error)) {
      const { method, routeOptions, id } = request;
      request.log.error({ err: error, method, route: routeOptions.url, reqId: id }, 'a request failed');
    }
    // Fastify wants to close after a body it did not take. Node reads the rest away, and closing before that would
    // cost the client its answer. A `close` on the raw response is the one of a server that is shutting down.
    if (reply.hasHeader('connection') && !reply.raw.hasHeader('connection')) reply.removeHeader('connection');
    closeAfterBody(reply.raw);
    return reply.code(status).headers(headers).send(body);
  });
}

/** The Node servers of an instance: Fastify makes a second one for a name with two addresses, such as localhost. */
const nodeServers = new WeakMap<FastifyInstance, readonly NodeServer[]>();

/** For a server that was built with one: connections from now on get this certificate. */
export function setTlsPair(app: FastifyInstance, pair: TlsPair): void {
  for (const node of nodeServers.get(app) ?? []) node.setTlsPair(pair);
}

/**
 * Stops listening, closes idle connections, and lets running answers finish. What still runs after `graceMs` is cut
 * off, so that its reader sees an error and not an end.
 */
export async function closeServer(app: FastifyInstance, graceMs: number): Promise<void> {
  const nodes = nodeServers.get(app) ?? [];
  const cutOff = () => {
    for (const node of nodes) node.cutOff();
  };
  const timer = setTimeout(cutOff, graceMs);
  // Fastify closes the further ones only after the first, and waits for none of them.
  const further = nodes.map(({ server }) => server).filter((server) => server !== app.server && server.listening);
  try {
    await Promise.all([app.close(), ...further.map((server) => new Promise((resolve) => server.close(resolve)))]);
  } finally {
    clearTimeout(timer);
  }
}
