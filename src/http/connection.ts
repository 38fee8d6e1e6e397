import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '../core/errors.ts';
import { bodyTooLarge, unknownPath, wireError, wireErrorBytes } from './errors.ts';
import { MIN_TLS_VERSION, type TlsPair, trackHandshakes } from './tls.ts';

/**
 * What happens below Fastify: requests that Node's parser refuses, that never arrive whole, or that Node would
 * answer by itself with an empty body. Each of them gets the error body that every other layer sends.
 */

/** Request line and headers together. */
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * How long a connection stays open for reading after its last words. Closing with unread bytes in the kernel makes it
 * send RST, and the client may then lose the answer it was about to read (RFC 9112 §9.6).
 */
const LINGER_MS = 1_000;

export type ConnectionTimes = {
  /** Until a request has arrived whole. */
  requestTimeoutMs: number;
  /** Until its headers have arrived; not longer than `requestTimeoutMs`. */
  headersTimeoutMs: number;
  /** How often Node looks for requests that are late: without it a slow body is noticed after 30 s at best. */
  connectionsCheckMs: number;
  keepAliveTimeoutMs: number;
};

export const DEFAULT_CONNECTION_TIMES: ConnectionTimes = {
  requestTimeoutMs: 30_000,
  headersTimeoutMs: 15_000,
  connectionsCheckMs: 1_000,
  keepAliveTimeoutMs: 72_000, // longer than the usual 60 s of load balancers, so that it is they who close
};

export type ConnectionOptions = {
  /** With it the server speaks HTTPS, without it HTTP. */
  tls?: TlsPair | undefined;
  /** Told of every request that is answered here and never reaches the handler. */
  onUnreadable?: ((status: number) => void) | undefined;
  /** Told of every connection that ended while an answer was under way. */
  onAborted?: (() => void) | undefined;
};

/** The newest request of a connection and its response. */
type RequestAndResponse = { request: IncomingMessage; response: ServerResponse };

export type NodeServer = {
  server: Server;
  /** Closes every connection that has an answer under way when that is out. Node closes only those idle by then. */
  closeWhenAnswered(): void;
  /** Ends every connection now. */
  cutOff(): void;
  /** For connections from now on; those that are open keep what they began with. */
  setTlsPair(tls: TlsPair): void;
};

export function createNodeServer(
  handler: RequestListener,
  times: ConnectionTimes,
  { tls, onUnreadable = () => {}, onAborted = () => {} }: ConnectionOptions = {},
): NodeServer {
  /** Those that can be spoken on: with TLS, after the handshake. */
  const ready = new WeakSet<Duplex>();
  const newest = new Map<Duplex, RequestAndResponse>();
  const waiting = new WeakSet<Duplex>();
  const refused = new WeakSet<Duplex>();
  const refuse = (socket: Duplex, error: AppError) => {
    if (!refused.has(socket)) onUnreadable(wireError(error).status);
    refused.add(socket);
    const exchange = newest.get(socket);
    if (!isUnderWay(exchange)) lastWords(socket, exchange, error);
    else if (!waiting.has(socket)) {
      waiting.add(socket);
      exchange.response.once('finish', () => lastWords(socket, newest.get(socket), error));
    }
  };
  const answerHere = (response: ServerResponse, error: AppError) => {
    onUnreadable(wireError(error).status);
    answerError(response, error);
  };
  const server = listenerOf(times, tls);
  const endHandshakes = tls === undefined ? () => {} : trackHandshakes(server);
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    ready.add(socket);
    socket.setMaxListeners(0); // every stream listens for its end, and many may wait on one connection
    socket.once('close', () => {
      if (newest.get(socket)?.response.writableFinished === false) onAborted();
      newest.delete(socket);
    });
  });
  server.on('request', (request, response) => {
    newest.set(request.socket, { request, response });
    if (hasOneHost(request)) return handler(request, response);
    answerHere(response, new AppError('bad_request', 'The request must have exactly one Host header'));
  });
  server.on('checkExpectation', (request, response) => {
    newest.set(request.socket, { request, response });
    answerHere(response, new AppError('expectation_failed', 'The only expectation that can be met is 100-continue'));
  });
  server.on('connect', (_request, socket) => refuse(socket, unknownPath()));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !ready.has(socket)) socket.destroy();
    else refuse(socket, parserRefusal(error));
  });
  const closeWhenAnswered = () => {
    endHandshakes();
    for (const [socket, { response }] of newest) {
      if (response.writableFinished) continue;
      // A request that came after this one has been told that the connection closes with its own answer.
      response.once('finish', () => newest.get(socket)?.response === response && (socket as Socket).destroySoon());
    }
  };
  const cutOff = () => {
    endHandshakes();
    server.closeAllConnections();
  };
  const setTlsPair = (pair: TlsPair) =>
    (server as TlsServer).setSecureContext({ ...pair, minVersion: MIN_TLS_VERSION });
  return { server, closeWhenAnswered, cutOff, setTlsPair };
}

function listenerOf(times: ConnectionTimes, tls: TlsPair | undefined): Server {
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    requireHostHeader: false, // Node would answer 400 with an empty body
    requestTimeout: times.requestTimeoutMs,
    headersTimeout: times.headersTimeoutMs,
    connectionsCheckingInterval: times.connectionsCheckMs,
    keepAliveTimeout: times.keepAliveTimeoutMs,
  };
  if (tls === undefined) return createServer(options);
  const handshakeTimeout = times.headersTimeoutMs; // the headers are not awaited before it is done
  return createTlsServer({ ...options, ...tls, minVersion: MIN_TLS_VERSION, handshakeTimeout });
}

/** RFC 9112 §3.2: none in HTTP/1.1, or several in any version, is 400. Node keeps the first of several silently. */
function hasOneHost(request: IncomingMessage): boolean {
  let hosts = 0;
  const { rawHeaders } = request;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && request.httpVersion === '1.0');
}

/** An error on a response that Fastify has not seen, or could not route. */
export function answerError(response: ServerResponse, error: unknown): void {
  closeAfterBody(response);
  const { status, headers, body } = wireError(error);
  const json = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(json),
  });
  response.end(json);
}

/**
 * For an answer that goes out before its request has arrived whole, to a client that wants the connection closed: Node
 * would close at once, and one such client in ten lost its answer to a broken pipe (curl, 20 MB). The rest of the
 * body is read away first, as on a connection that stays open; `requestTimeoutMs` bounds that.
 */
export function closeAfterBody(response: ServerResponse): void {
  const { req: request } = response;
  if (request.complete || response.shouldKeepAlive || response.hasHeader('connection')) return;
  const close = () => request.socket.destroySoon();
  response.shouldKeepAlive = true;
  response.removeHeader('connection');
  response.once('finish', () => (request.complete ? close() : request.once('close', close)));
}

function parserRefusal(error: NodeJS.ErrnoException): AppError {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('timed_out', 'The request did not arrive whole in time');
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large', 'The headers are larger than 16 KiB');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return bodyTooLarge();
    default:
      return new AppError('bad_request', 'The request is not valid HTTP/1.1');
  }
}

/** Whether what went wrong came behind a good request that has not had its whole answer: that one goes first. */
function isUnderWay(exchange: RequestAndResponse | undefined): exchange is RequestAndResponse {
  return exchange?.request.complete === true && !exchange.response.writableFinished;
}

/** Says what is wrong, if it is this connection's turn to speak, and closes it. Comes again for every further byte. */
function lastWords(socket: Duplex, exchange: RequestAndResponse | undefined, error: AppError): void {
  if (!socket.writable) return;
  socket.on('error', () => {}); // a response still in the making may write to the closed socket
  if (mayAnswer(exchange)) socket.end(wireErrorBytes(error));
  else socket.end();
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/**
 * Whether the next bytes on this connection are the answer to what went wrong. They are not when the request that
 * broke half way has its answer already, or waits behind another: a client would take them for the answer to that.
 */
function mayAnswer(exchange: RequestAndResponse | undefined): boolean {
  if (exchange === undefined) return true;
  const { request, response } = exchange;
  return response.headersSent ? request.complete : response.socket !== null;
}
