import type { IncomingHttpHeaders } from 'node:http';
import {
  type FastifyInstance,
  type FastifyServerOptions,
  fastify,
  LogController,
  type onRequestHookHandler,
  type onResponseHookHandler,
  type preHandlerHookHandler,
} from 'fastify';
import { AppError } from '../core/errors.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { RecordResponse, RouteMetrics } from '../metrics/responses.ts';
import { authenticateHook, type FindCaller } from './authenticate.ts';
import { discardRest, MAX_BODY_BYTES, parseJson, prepareBody, prepareStream, STREAM_TYPE } from './body.ts';
import {
  type ConnectionTimes,
  closeAfterBody,
  createNodeServer,
  DEFAULT_CONNECTION_TIMES,
  isLongBody,
  type NodeServer,
  sendError,
} from './connection.ts';
import { type Charging, createHandler } from './dispatch.ts';
import type { Endpoint, ResponseOptions, ResponseTimes, Route } from './endpoint.ts';
import { DEFAULT_HEADERS, ErrorBody, wireError } from './errors.ts';
import {
  allowOf,
  joinUnsupportedMethods,
  ROUTED_METHODS,
  refuseBadParameters,
  refuseUnknownPath,
  respondToOtherMethods,
  sentMethod,
} from './methods.ts';
import { NDJSON } from './ndjson.ts';
import { openapiRoute } from './openapi.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';
import { type AccessLogOptions, createAccessLog, requestFields, UNKNOWN_ROUTE } from './request-log.ts';
import { readableTarget } from './request-target.ts';
import { schemaController } from './schema-compilers.ts';
import type { TlsPair } from './tls.ts';

export type ServerServices = {
  findCaller: FindCaller;
  charging: Charging;
};

export type ServerOptions = Partial<ConnectionTimes & ResponseTimes> & {
  logger?: Exclude<FastifyServerOptions['logger'], undefined>;
  /** If given, the server uses HTTPS. */
  tls?: TlsPair | undefined;
  metrics?: Metrics | undefined;
  /** Networks whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly string[];
  /** See `ResponseOptions`. Without it every failure is logged. */
  reportFailure?: ResponseOptions['reportFailure'];
  accessLog?: AccessLogOptions;
};

const NO_ACCESS_LOG: AccessLogOptions = { sample: 0, hasQueries: false };

const DEFAULT_TIMES: ConnectionTimes & ResponseTimes = {
  ...DEFAULT_CONNECTION_TIMES,
  queryBudgetMs: 10_000,
  stallMs: 60_000,
};

/** Longer than any request line (`connection.ts`): a name or an address that is too long is a bad request, not an unknown path. */
const MAX_PARAMETER_LENGTH = 32_768;

/** One HTTP server for these routes. Its services are opened and closed elsewhere, so several servers may share them. */
export function buildServer(
  routes: readonly Route[],
  services: ServerServices,
  options: ServerOptions = {},
): FastifyInstance {
  const { logger = false, tls, metrics, trustedProxies = [], reportFailure = () => false, ...others } = options;
  const { accessLog: accessLogOptions = NO_ACCESS_LOG, ...given } = others;
  const times = { ...DEFAULT_TIMES, ...given };
  const onUnreadable = (status: number, requestId: string) => {
    metrics?.unreadable(status);
    accessLog?.refused(status, requestId);
  };
  let nodeServer: NodeServer | undefined;
  const app = fastify({
    logger,
    logController: new LogController({ disableRequestLogging: true }),
    serverFactory: (handler) => {
      nodeServer = createNodeServer(handler, times, {
        tls,
        onUnreadable,
        onAborted: metrics?.aborted,
      });
      return nodeServer.server;
    },
    clientErrorHandler: () => {}, // `connection.ts` responds; Fastify's own handler would destroy the socket first
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    bodyLimit: MAX_BODY_BYTES,
    genReqId: requestIdOf,
    rewriteUrl(request) {
      joinUnsupportedMethods(request);
      if (trustedProxies.length > 0) removePorts(request.headers);
      return readableTarget(request.url ?? '/');
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
    schemaController,
    return503OnClosing: false, // a request that arrived in time is answered, then its connection is closed
    frameworkErrors(error, { id }, reply) {
      onUnreadable(wireError(error).status, id); // the request target is not a valid path
      sendError(reply.raw, error, id);
    },
  });
  const accessLog = createAccessLog(app.log, routes, accessLogOptions);
  // Fastify creates a child logger for every request, which costs more than the request id in each line is worth.
  app.log.child = () => app.log;
  handleErrors(app, metrics, reportFailure, times.requestTimeoutMs);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseJson);
  app.addContentTypeParser(STREAM_TYPE, (_request, payload, done) => done(null, payload));
  // One hook, because each costs half a microsecond. First the id, so that every response has it.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(REQUEST_ID_HEADER, request.id);
    refuseUnknownPath(request, reply, done);
  });
  if (accessLog !== null) app.addHook('onResponse', accessLog.responded);
  app.addHook('preClose', async () => nodeServer?.closeAfterResponses());
  if (nodeServer !== undefined) nodeServers.set(app, nodeServer);
  app.decorateRequest('caller', null);
  for (const [path, ofPath] of Map.groupBy([...routes, openapiRoute(routes)], ({ endpoint }) => endpoint.path)) {
    addPath(app, path, ofPath, services, { ...times, reportFailure }, metrics);
  }
  return app;
}

/** Some proxies write the port of the client too. Each connection has another one, and would count as another client. */
function removePorts(headers: IncomingHttpHeaders): void {
  const forwarded = headers['x-forwarded-for'];
  if (typeof forwarded === 'string') headers['x-forwarded-for'] = forwarded.split(',').map(withoutPort).join();
}

/** `192.0.2.1:4711`, `[2001:db8::1]:4711` */
const withoutPort = (address: string): string =>
  address.trim().replace(/^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/, '$1$2');

/** A path has one endpoint, or two: one to read and one to change. */
function addPath(
  app: FastifyInstance,
  path: string,
  routes: readonly Route[],
  services: ServerServices,
  options: ResponseOptions,
  metrics: Metrics | undefined,
): void {
  const measured = metrics && measuredPath(metrics, path, routes);
  const onResponse = measured ? [recordResponse(measured.responded)] : [];
  for (const route of routes) {
    addRoute(app, route, services, { ...options, recordFirst: measured?.firstRecord }, onResponse);
  }
  const methods = routes.map(({ endpoint }) => endpoint.method);
  addOtherMethods(app, allowOf(methods), path, pathChecks(routes[0]?.endpoint.parameters), onResponse);
}

function pathChecks(parameters: Endpoint['parameters']): onRequestHookHandler[] {
  return parameters?.some(({ isValid }) => isValid) ? [refuseBadParameters(parameters)] : [];
}

function addRoute(
  app: FastifyInstance,
  route: Route,
  { findCaller, charging }: ServerServices,
  options: ResponseOptions,
  onResponse: onResponseHookHandler[],
): void {
  const { access, endpoint } = route;
  const { method, path: url, body } = endpoint;
  const onRequest = pathChecks(endpoint.parameters);
  if (!route.isForPrograms) onRequest.unshift(setDefaultHeaders);
  if (access !== 'open') onRequest.push(authenticateHook(findCaller, access, route.findCaller));
  if (body) onRequest.push(body === 'stream' ? prepareStream : prepareBody);
  const schema = body === 'stream' ? undefined : body;
  app.route({
    method,
    url,
    schema: { ...(schema && { body: schema }), response: responseSchemas(endpoint) },
    onRequest,
    preHandler: endpoint.response.schema === undefined ? [setContentType(endpoint.response.contentType)] : [],
    onResponse,
    handler: createHandler(route, charging, options),
  });
}

const setDefaultHeaders: onRequestHookHandler = (_request, reply, done) => {
  reply.headers(DEFAULT_HEADERS);
  done();
};

function measuredPath(metrics: Metrics, path: string, routes: readonly Route[]): RouteMetrics {
  const isStream = routes.some(({ endpoint }) => endpoint.response.contentType === NDJSON);
  return isStream ? metrics.streamRoute(path) : metrics.route(path);
}

/** The schemas for Fastify's serializers. A response without a schema is sent as it is. */
function responseSchemas({ response: { contentType, schema } }: Endpoint) {
  const errors = { '4xx': ErrorBody, '5xx': ErrorBody };
  if (schema === undefined) return errors;
  return { 200: contentType === 'application/json' ? schema : { content: { [contentType]: { schema } } }, ...errors };
}

/** For a response without a schema, whose content type Fastify does not know. The endpoint may still change it. */
function setContentType(contentType: string): preHandlerHookHandler {
  return (_request, reply, done) => {
    reply.type(contentType);
    done();
  };
}

/** Records every complete response. Fastify measures its time in any case. */
function recordResponse(record: RecordResponse): onResponseHookHandler {
  return (request, reply, done) => {
    record(sentMethod(request), reply.statusCode, reply.elapsedTime / 1000);
    done();
  };
}

/** Adds all other methods of the path: they get 405 and not 404, and OPTIONS gets 204. */
function addOtherMethods(
  app: FastifyInstance,
  allow: string,
  url: string,
  checkPath: onRequestHookHandler[],
  onResponse: onResponseHookHandler[],
): void {
  const handler = () => {
    throw new Error('unreachable: the onRequest hook sends the response');
  };
  const others = ROUTED_METHODS.filter((name) => !allow.split(', ').includes(name));
  app.route({ method: others, url, onRequest: [...checkPath, respondToOtherMethods(allow)], onResponse, handler });
}

/**
 * Not logged: a flood of refused requests must not become a flood of log lines, and a proxy asks a server that is not
 * ready again and again.
 */
const isExpected = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'overloaded' || error.code === 'not_ready');

/** Handles all errors above the socket. Only errors of the server are logged: a healthy server logs no error. */
function handleErrors(
  app: FastifyInstance,
  metrics: Metrics | undefined,
  reportFailure: ResponseOptions['reportFailure'],
  requestTimeoutMs: number,
): void {
  const recordUnknown = metrics?.route(UNKNOWN_ROUTE).responded;
  app.setErrorHandler((error, request, reply) => {
    const { status, headers, body } = wireError(error);
    if (error instanceof AppError && error.limit !== undefined) metrics?.refused(error.limit);
    if (request.is404) recordUnknown?.(sentMethod(request), status, reply.elapsedTime / 1000);
    if (status >= 500 && !isExpected(error) && !reportFailure(error)) {
      request.log.error({ err: error, ...requestFields(request, status) }, 'a request failed');
    }
    // Fastify sets `Connection: close` after a body that it refused. Node discards the rest of the body. If the
    // connection closed before that, the client could lose the response. A `close` that the client wants, or that a
    // server that stops has set on the raw response, stays.
    const mayStayOpen = reply.raw.shouldKeepAlive && !reply.raw.hasHeader('connection');
    const isBodyComing = request.raw.headers.expect === undefined;
    if (mayStayOpen && isBodyComing && reply.hasHeader('connection')) reply.removeHeader('connection');
    closeAfterBody(reply.raw);
    // A body without a time limit that nobody reads any more gets one: otherwise the connection would stay open for ever.
    if (isLongBody(request.raw)) discardRest(request.raw, requestTimeoutMs);
    return reply.code(status).headers(headers).send(body);
  });
}

/** The Node server of an instance. With a `serverFactory` Fastify has only one, also for a host with several addresses. */
const nodeServers = new WeakMap<FastifyInstance, NodeServer>();

/** Replaces certificate and key for new connections. Only for a server that was built with `tls`. */
export function setTlsPair(app: FastifyInstance, pair: TlsPair): void {
  nodeServers.get(app)?.setTlsPair(pair);
}

/** From now on every response has `Connection: close`, so that clients send their next request elsewhere. */
export function endKeepAlive(app: FastifyInstance): void {
  nodeServers.get(app)?.endKeepAlive();
}

/**
 * Stops listening, closes idle connections, and waits for responses in progress, also to requests that have arrived but
 * are not read yet. After `graceMs` the remaining connections are destroyed, so that their clients see an error and not a
 * complete response.
 */
export async function closeServer(app: FastifyInstance, graceMs: number): Promise<void> {
  await nodeServers.get(app)?.readArrived();
  const timer = setTimeout(() => nodeServers.get(app)?.destroyConnections(), graceMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
