import { METHODS } from 'node:http';
import { type FastifyInstance, type FastifyServerOptions, fastify, LogController } from 'fastify';
import { ErrorBody } from '../contract/error.ts';
import { anyContentType, describeFault, MAX_BODY_BYTES, parseJson } from './body.ts';
import { answerError, type ConnectionTimes, closeAfterBody, createNodeServer, type NodeServer } from './connection.ts';
import type { EndpointContext, Services } from './endpoint.ts';
import { wireError } from './errors.ts';
import { authenticateHook } from './hooks/authenticate.ts';
import { knownPath } from './hooks/known-path.ts';
import { allowOf, answerOptions, refuseMethod } from './hooks/methods.ts';
import type { NdjsonTimes } from './ndjson.ts';
import { openapiDocument } from './openapi.ts';
import { type Route, routes } from './routes.ts';

export type { Services } from './endpoint.ts';

export type ServerOptions = Partial<ConnectionTimes & NdjsonTimes> & {
  logger?: Exclude<FastifyServerOptions['logger'], undefined>;
};

const DEFAULT_TIMES: ConnectionTimes & NdjsonTimes = {
  requestTimeoutMs: 30_000,
  headersTimeoutMs: 15_000,
  connectionsCheckMs: 1_000,
  keepAliveTimeoutMs: 72_000, // longer than the usual 60 s of load balancers, so that it is they who close
  queryBudgetMs: 10_000,
  stallMs: 60_000,
};

/** One HTTP server over services that are opened and closed elsewhere. It keeps no state outside itself. */
export function buildServer(services: Services, options: ServerOptions = {}): FastifyInstance {
  const { logger = false, ...given } = options;
  const times = { ...DEFAULT_TIMES, ...given };
  const nodes: NodeServer[] = [];
  const app = fastify({
    logger,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (parent) => parent, // a child for every request costs more than the request id is worth
    serverFactory: (handler) => {
      const node = createNodeServer(handler, times);
      nodes.push(node);
      return node.server;
    },
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { ignoreTrailingSlash: true },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allowUnionTypes: true } },
    schemaErrorFormatter: describeFault,
    return503OnClosing: false, // a request that came in time is answered, and its connection closed
    frameworkErrors: (error, _request, reply) => answerError(reply.raw, error), // the target is no readable path
  });
  answerErrors(app);
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
  const context = { services, times, openapi: openapiDocument(routes) };
  for (const route of routes) addRoute(app, route, context);
  return app;
}

function addRoute(app: FastifyInstance, { access, endpoint }: Route, context: EndpointContext): void {
  const { method, path: url, body, response } = endpoint;
  const onRequest = [];
  if (access === 'token') onRequest.push(authenticateHook(context.services.authenticate));
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
    handler: endpoint.handler(context),
  });
  addOtherMethods(app, method, url);
}

/** Every other method of the path, so that it is refused as such and not as an unknown path. */
function addOtherMethods(app: FastifyInstance, method: 'GET' | 'POST', url: string): void {
  const allow = allowOf(method);
  const handler = () => {
    throw new Error('onRequest answers');
  };
  const others = app.supportedMethods.filter((name) => !allow.split(', ').includes(name));
  app.route({ method: others, url, onRequest: refuseMethod(allow), handler });
  app.route({ method: 'OPTIONS', url, onRequest: answerOptions(allow), handler });
}

/** Whatever is thrown, anywhere above the socket. Only what is our fault is logged: a healthy server logs no error. */
function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const { status, headers, body } = wireError(error);
    if (status >= 500) {
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

/**
 * Stops listening, closes idle connections, and lets running answers finish. What still runs after `graceMs` is cut
 * off, so that its reader sees an error and not an end.
 */
export async function closeServer(app: FastifyInstance, graceMs: number): Promise<void> {
  const servers = nodeServers.get(app)?.map(({ server }) => server) ?? [];
  const cutOff = () => {
    for (const server of servers) server.closeAllConnections();
  };
  const timer = setTimeout(cutOff, graceMs);
  // Fastify closes the further ones only after the first, and waits for none of them.
  const further = servers.filter((server) => server !== app.server && server.listening);
  try {
    await Promise.all([app.close(), ...further.map((server) => new Promise((resolve) => server.close(resolve)))]);
  } finally {
    clearTimeout(timer);
  }
}
