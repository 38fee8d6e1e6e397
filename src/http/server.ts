import { METHODS } from 'node:http';
import {
  type FastifyInstance,
  type FastifyServerOptions,
  fastify,
  LogController,
  type onRequestHookHandler,
  type onResponseHookHandler,
} from 'fastify';
import { AppError } from '../core/errors.ts';
import type { Metrics, RecordAnswer } from '../metrics/metrics.ts';
import { type Authenticate, authenticateHook } from './authenticate.ts';
import { anyContentType, MAX_BODY_BYTES, parseJson, validationMessage } from './body.ts';
import {
  answerError,
  type ConnectionTimes,
  closeAfterBody,
  createNodeServer,
  DEFAULT_CONNECTION_TIMES,
  type NodeServer,
} from './connection.ts';
import { type Charging, createHandler } from './dispatch.ts';
import type { AnswerTimes, Endpoint, Route } from './endpoint.ts';
import { ErrorBody, wireError } from './errors.ts';
import { allowOf, answerOptions, refuseBadParameters, refuseMethod, refuseUnknownPath } from './methods.ts';
import { openapiRoute } from './openapi.ts';
import { batchRequests } from './request-batching.ts';
import type { TlsPair } from './tls.ts';

export type ServerServices = {
  authenticate: Authenticate;
  charging: Charging;
};

export type ServerOptions = Partial<ConnectionTimes & AnswerTimes> & {
  logger?: Exclude<FastifyServerOptions['logger'], undefined>;
  /** With it the server speaks HTTPS. */
  tls?: TlsPair | undefined;
  metrics?: Metrics | undefined;
  /** Networks whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly string[];
};

const DEFAULT_TIMES: ConnectionTimes & AnswerTimes = {
  ...DEFAULT_CONNECTION_TIMES,
  queryBudgetMs: 10_000,
  stallMs: 60_000,
};

/** The route label, in metrics, of requests to a path that does not exist. */
const UNKNOWN_ROUTE = 'unknown';

/** One HTTP server for these routes. Its services are opened and closed elsewhere, so several servers may share them. */
export function buildServer(
  routes: readonly Route[],
  services: ServerServices,
  options: ServerOptions = {},
): FastifyInstance {
  const { logger = false, tls, metrics, trustedProxies = [], ...given } = options;
  const times = { ...DEFAULT_TIMES, ...given };
  const nodes: NodeServer[] = [];
  const app = fastify({
    logger,
    logController: new LogController({ disableRequestLogging: true }),
    serverFactory: (handler) => {
      const node = createNodeServer(batchRequests(handler), times, {
        tls,
        onUnreadable: metrics?.unreadable,
        onAborted: metrics?.aborted,
      });
      nodes.push(node);
      return node.server;
    },
    clientErrorHandler: () => {}, // `connection.ts` answers; Fastify's own handler would destroy the socket first
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    bodyLimit: MAX_BODY_BYTES,
    // Clients join a base address that ends in a slash with a path that begins with one.
    rewriteUrl: ({ url = '/' }) => (url.startsWith('//') ? url.slice(1) : url),
    routerOptions: { ignoreTrailingSlash: true },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allowUnionTypes: true } },
    return503OnClosing: false, // a request that arrived in time is answered, then its connection is closed
    frameworkErrors(error, _request, reply) {
      metrics?.unreadable(wireError(error).status); // the request target is not a valid path
      answerError(reply.raw, error);
    },
  });
  // Fastify makes a child logger for every request, which costs more than the request id in each line is worth.
  app.log.child = () => app.log;
  answerErrors(app, metrics);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseJson);
  app.addHook('onRequest', refuseUnknownPath);
  app.addHook('preClose', async () => {
    for (const node of nodes) node.closeWhenAnswered();
  });
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  nodeServers.set(app, nodes);
  app.decorateRequest('caller', null);
  for (const route of [...routes, openapiRoute(routes)]) addRoute(app, route, services, times, metrics);
  return app;
}

function addRoute(
  app: FastifyInstance,
  route: Route,
  { authenticate, charging }: ServerServices,
  times: AnswerTimes,
  metrics: Metrics | undefined,
): void {
  const { access, endpoint } = route;
  const { method, path: url, body } = endpoint;
  const onResponse = metrics ? [recordAnswer(metrics.route(url))] : [];
  const checkPath = endpoint.parameters?.some(({ isValid }) => isValid)
    ? [refuseBadParameters(endpoint.parameters)]
    : [];
  const onRequest: onRequestHookHandler[] = [...checkPath];
  if (access !== 'open') onRequest.push(authenticateHook(authenticate, access));
  if (body) onRequest.push(anyContentType);
  app.route({
    method,
    url,
    schema: { ...(body && { body }), response: responseSchemas(endpoint) },
    ...(body && { schemaErrorFormatter: validationMessage(body) }),
    onRequest,
    onResponse,
    handler: createHandler(route, charging, times),
  });
  addOtherMethods(app, method, url, checkPath, onResponse);
}

/** For Fastify's serializers. An answer without a schema is sent as it is. */
function responseSchemas({ response: { contentType, schema } }: Endpoint) {
  const errors = { '4xx': ErrorBody, '5xx': ErrorBody };
  if (schema === undefined) return errors;
  return { 200: contentType === 'application/json' ? schema : { content: { [contentType]: { schema } } }, ...errors };
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
  checkPath: onRequestHookHandler[],
  onResponse: onResponseHookHandler[],
): void {
  const allow = allowOf(method);
  const handler = () => {
    throw new Error('onRequest answers');
  };
  const others = app.supportedMethods.filter((name) => !allow.split(', ').includes(name));
  app.route({ method: others, url, onRequest: [...checkPath, refuseMethod(allow)], onResponse, handler });
  app.route({ method: 'OPTIONS', url, onRequest: [...checkPath, answerOptions(allow)], onResponse, handler });
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
