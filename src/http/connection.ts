import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { AppError, badRequest } from '../core/errors.ts';
import { http } from '../core/node-http.ts';
import { bodyTooLarge, JSON_TYPE, unknownPath, wireError, wireErrorBytes } from './errors.ts';
import { batchRequests } from './request-batching.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';
import { TLS_RULES, type TlsPair, trackHandshakes } from './tls.ts';

/**
 * The layer below Fastify. It answers requests that Node's parser refuses, that never arrive completely, or that Node
 * would respond to with an empty body. The error body is the same as in every other layer.
 */

/** Request line and headers together. */
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * How long a connection is still read after its last response was sent. A close with unread bytes in the kernel sends
 * RST, and the client may then lose a response that it has not read yet (RFC 9112 §9.6).
 */
const LINGER_MS = 1_000;

/** How many connections the kernel keeps until they are accepted: the default of Node's `listen`. */
const BACKLOG = 511;

export type ConnectionTimes = {
  /** Until a request has arrived completely. */
  requestTimeoutMs: number;
  /** Until its headers have arrived; not longer than `requestTimeoutMs`. */
  headersTimeoutMs: number;
  /** How often Node checks for late requests. Node's default is 30 s. */
  connectionsCheckMs: number;
  keepAliveTimeoutMs: number;
};

export const DEFAULT_CONNECTION_TIMES: ConnectionTimes = {
  requestTimeoutMs: 30_000,
  headersTimeoutMs: 15_000,
  connectionsCheckMs: 1_000,
  keepAliveTimeoutMs: 72_000, // longer than the usual 60 s of load balancers, so that they close first
};

type ConnectionOptions = {
  /** If given, the server uses HTTPS, otherwise HTTP. */
  tls?: TlsPair | undefined;
  /** Called for every request that is refused here and does not reach the handler. */
  onUnreadable?: ((status: number, requestId: string) => void) | undefined;
  /** Called for every connection that closed before its response was complete. */
  onAborted?: (() => void) | undefined;
};

/** The newest request of a connection and its response. */
type RequestAndResponse = { request: IncomingMessage; response: ServerResponse };

export type NodeServer = {
  server: Server;
  /** From now on every response has `Connection: close`. Connections and requests are still accepted. */
  endKeepAlive(): void;
  /** Resolves when the connections and requests that the kernel has by now are read. A close would reset them. */
  readArrived(): Promise<void>;
  /** Closes busy connections after their response. Node's `close` closes only those that are idle at that time. */
  closeAfterResponses(): void;
  /** Closes all connections immediately, also in the middle of a response. */
  destroyConnections(): void;
  /** Replaces certificate and key for new connections. Open connections keep theirs. */
  setTlsPair(tls: TlsPair): void;
};

export function createNodeServer(
  handler: RequestListener,
  times: ConnectionTimes,
  { tls, onUnreadable = () => {}, onAborted = () => {} }: ConnectionOptions = {},
): NodeServer {
  /** Sockets that can send a response: with TLS, only after the handshake. */
  const established = new WeakSet<Duplex>();
  const newestOf = new Map<Duplex, RequestAndResponse>();
  const refused = new WeakSet<Duplex>();
  const closing = new WeakSet<Duplex>();
  const refuseConnection = (socket: Duplex, error: AppError, requestId: string) => {
    if (!refused.has(socket)) onUnreadable(wireError(error).status, requestId);
    refused.add(socket);
    const newest = newestOf.get(socket);
    if (!isInProgress(newest)) closeWithError(socket, newest, error, requestId);
    else if (!closing.has(socket)) {
      closing.add(socket);
      newest.response.once('finish', () => closeWithError(socket, newestOf.get(socket), error, requestId));
    }
  };
  const refuseRequest = (response: ServerResponse, error: AppError) => {
    const requestId = requestIdOf(response.req);
    onUnreadable(wireError(error).status, requestId);
    sendError(response, error, requestId);
  };
  const server = createListener(times, tls);
  const closeHandshakes = tls === undefined ? () => {} : trackHandshakes(server);
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    established.add(socket);
    socket.setMaxListeners(0); // every stream listens for 'close', and a connection may have many pipelined streams
    socket.once('close', () => {
      if (newestOf.get(socket)?.response.writableFinished === false) onAborted();
      newestOf.delete(socket);
    });
  });
  let isEnding = false;
  // When keep-alive ends, a pipelined request must arrive before the one ahead of it is answered: see `endKeepAlive`.
  const batched = batchRequests(handler, () => isEnding);
  const onRequest: RequestListener = (request, response) => {
    newestOf.set(request.socket, { request, response });
    const coding = request.headers['transfer-encoding'];
    if (!hasOneHost(request)) refuseRequest(response, badRequest('The request must have exactly one Host header'));
    else if (coding === undefined || coding.toLowerCase() === 'chunked') batched(request, response);
    else {
      // Node reads `gzip, chunked` as chunked alone. A proxy may see another body, and so another next request.
      response.setHeader('Connection', 'close');
      refuseRequest(response, badRequest('The only supported Transfer-Encoding is chunked'));
    }
  };
  server.on('request', onRequest);
  // `prepareBody` sends the 100 when the body is about to be read. Without it Node closes the connection after the response.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', (request, response) => {
    newestOf.set(request.socket, { request, response });
    // The client may send no body after this, and the next request would be read as the body.
    response.setHeader('Connection', 'close');
    refuseRequest(response, new AppError('expectation_failed', 'The only supported expectation is 100-continue'));
  });
  server.on('connect', (request, socket) => refuseConnection(socket, unknownPath(), requestIdOf(request)));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isLongBody(newestOf.get(socket)?.request)) return;
    if (error.code === 'ECONNRESET' || !established.has(socket)) socket.destroy();
    else refuseConnection(socket, parserRefusal(error), idOfFaulty(newestOf.get(socket)));
  });
  const endKeepAlive = () => {
    isEnding = true;
    for (const { response } of newestOf.values()) response.shouldKeepAlive = false; // no effect once its headers are sent
    // Separate listeners, so that a server that is not stopping does no extra work for a request.
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      server.prependListener(event, (request: IncomingMessage, response: ServerResponse) => {
        // The client would lose this response if the one before it, of a pipelined request, closed the connection.
        const previous = newestOf.get(request.socket)?.response;
        if (previous !== undefined) previous.shouldKeepAlive = true;
        response.shouldKeepAlive = false;
      });
    }
  };
  const readArrived = async () => {
    let accepted = 0;
    const count = () => {
      accepted += 1;
    };
    server.on('connection', count);
    await nextIteration(); // the current iteration of the event loop may have polled already
    // libuv accepts one connection in an iteration. Those that arrive meanwhile must not prolong this for ever.
    for (let before = -1; before < accepted && accepted < BACKLOG; ) {
      before = accepted;
      await nextIteration();
    }
    await nextIteration(); // reads the request on the last connection
    server.off('connection', count);
  };
  const closeAfterResponses = () => {
    closeHandshakes();
    for (const [socket, { response }] of newestOf) {
      if (response.writableFinished) continue;
      // If a newer request has arrived, its own response has `Connection: close` and closes the connection.
      response.once('finish', () => newestOf.get(socket)?.response === response && (socket as Socket).destroySoon());
    }
  };
  const destroyConnections = () => {
    closeHandshakes();
    server.closeAllConnections();
  };
  const setTlsPair = (pair: TlsPair) => (server as TlsServer).setSecureContext({ ...TLS_RULES, ...pair });
  return { server, endKeepAlive, readArrived, closeAfterResponses, destroyConnections, setTlsPair };
}

function createListener(times: ConnectionTimes, tls: TlsPair | undefined): Server {
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    optimizeEmptyRequests: true, // a request without a body needs no stream: 3 µs of CPU time less, from Node 24.12 on
    requireHostHeader: false, // Node would send 400 with an empty body
    requestTimeout: times.requestTimeoutMs,
    headersTimeout: times.headersTimeoutMs,
    connectionsCheckingInterval: times.connectionsCheckMs,
    keepAliveTimeout: times.keepAliveTimeoutMs,
  };
  const handshakeTimeout = times.headersTimeoutMs; // the timeout for headers starts after the handshake
  const server =
    tls === undefined
      ? http.createServer(options)
      : createTlsServer({ ...options, ...TLS_RULES, ...tls, handshakeTimeout, allowHalfOpen: true });
  // Some clients close their side after the last request and read on. Node would close the other side without a response.
  return Object.assign(server, { httpAllowHalfOpen: true });
}

const longBodies = new WeakSet<IncomingMessage>();

/** `requestTimeoutMs` does not limit this request, such as an upload. Its reader must end when no bytes arrive. */
export const allowLongBody = (request: IncomingMessage): void => void longBodies.add(request);

export const isLongBody = (request: IncomingMessage | undefined): boolean =>
  request !== undefined && longBodies.has(request);

/** RFC 9112 §3.2: no Host in HTTP/1.1, or several in any version, is 400. Node silently uses the first of several. */
function hasOneHost(request: IncomingMessage): boolean {
  let hosts = 0;
  const { rawHeaders } = request;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && request.httpVersion === '1.0');
}

/** Sends an error on a response that Fastify has not seen or could not route. */
export function sendError(
  response: ServerResponse,
  error: unknown,
  requestId: string = requestIdOf(response.req),
): void {
  closeAfterBody(response);
  const { status, headers, body } = wireError(error);
  const json = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    [REQUEST_ID_HEADER]: requestId,
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(json),
  });
  response.end(json);
}

/**
 * For a response with `Connection: close` that is sent before its request has arrived completely: the client wants the
 * connection closed, or the server is stopping. Node would close immediately, and one such client in ten lost the
 * response to a broken pipe (curl, 20 MB). Instead the rest of the body is discarded first, as on a connection that
 * stays open. `requestTimeoutMs` limits that time.
 */
export function closeAfterBody(response: ServerResponse): void {
  const { req: request } = response;
  if (request.complete || response.shouldKeepAlive || response.hasHeader('connection')) return;
  if (request.headers.expect !== undefined) return; // the client waits for a 100 and sends no body
  const { socket } = request;
  const close = socket.destroySoon.bind(socket);
  socket.destroySoon = () => (request.complete ? close() : request.once('close', close)); // Node calls it after the response
}

function parserRefusal(error: NodeJS.ErrnoException): AppError {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('timed_out', 'The request did not arrive completely in time');
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large', 'The headers are larger than 16 KiB');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return bodyTooLarge();
    default:
      return badRequest('The request is not valid HTTP/1.1');
  }
}

/** Of a request that did not arrive completely, its own id. Of bytes that are no request, a new one. */
function idOfFaulty(newest: RequestAndResponse | undefined): string {
  return requestIdOf(newest?.request.complete === false ? newest.request : { headers: {} });
}

/** Whether a complete request before the faulty bytes still waits for its response, which must be sent first. */
function isInProgress(newest: RequestAndResponse | undefined): newest is RequestAndResponse {
  return newest?.request.complete === true && !newest.response.writableFinished;
}

/** Sends the error if possible, and closes the connection. Node may call it again for each further chunk of bytes. */
function closeWithError(
  socket: Duplex,
  newest: RequestAndResponse | undefined,
  error: AppError,
  requestId: string,
): void {
  if (!socket.writable) return;
  socket.on('error', () => {}); // an unfinished response may still write to the closed socket
  if (maySendError(newest)) socket.end(wireErrorBytes(error, requestId));
  else socket.end();
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/**
 * Whether the client would read an error, sent now, as the response to the faulty bytes. It would not if the incomplete
 * request already has a response, or waits for the response to an earlier request.
 */
function maySendError(newest: RequestAndResponse | undefined): boolean {
  if (newest === undefined) return true;
  const { request, response } = newest;
  return response.headersSent ? request.complete : response.socket !== null;
}
