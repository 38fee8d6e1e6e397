import type { FastifyBaseLogger, FastifyReply, FastifyRequest, onResponseHookHandler } from 'fastify';
import type { Route } from './endpoint.ts';
import { statusOf } from './errors.ts';
import { sentMethod } from './methods.ts';

/** The route, in logs and metrics, of requests to a path that does not exist. */
export const UNKNOWN_ROUTE = 'unknown';
/** The route, in logs, of requests that were refused before their path was known. */
const UNREADABLE = 'unreadable';

/**
 * What a log line says about a request. The path, the query, the body and the headers are left out: they contain what was
 * asked for, or secrets.
 */
export function requestFields(request: FastifyRequest, status: number) {
  const { id, caller, is404, routeOptions } = request;
  const route = is404 ? UNKNOWN_ROUTE : routeOptions.url;
  return { requestId: id, sub: caller?.account.sub, method: sentMethod(request), route, status };
}

export type AccessLogOptions = {
  /** The share of requests that are logged, from 0 to 1. Failures of the server are always logged, unless it is 0. */
  sample: number;
  /** Whether a line has what was asked for. */
  hasQueries: boolean;
};

type AccessLog = {
  responded: onResponseHookHandler;
  /** For a request that was refused before its path was known. */
  refused(status: number, requestId: string): void;
};

/** One line for each sampled request. Null if nothing is sampled, so that a request costs nothing more. */
export function createAccessLog(
  log: FastifyBaseLogger,
  routes: readonly Route[],
  { sample, hasQueries }: AccessLogOptions,
): AccessLog | null {
  if (sample === 0) return null;
  // Whoever switches it on wants to see it: its lines do not depend on the level of the other lines.
  const lines = log.child({}, { level: 'info' });
  const isSampled = (status: number) => status >= 500 || Math.random() < sample;
  const asked = new Set(routes.filter(({ charge }) => charge === 'query').map(({ endpoint }) => endpoint.path));
  const queryOf = (request: FastifyRequest, status: number) =>
    hasQueries && asked.has(`${request.routeOptions.url}`) && isUnderstood(request, status)
      ? { query: { ...(request.params as object), ...(request.body as object | undefined) } }
      : null;
  return {
    responded(request, reply, done) {
      const { statusCode: status } = reply;
      if (isSampled(status)) {
        const ms = Number(reply.elapsedTime.toFixed(3));
        lines.info(
          { ...requestFields(request, status), ms, ...bytesOf(request, reply), ...queryOf(request, status) },
          'request',
        );
      }
      done();
    },
    refused(status, requestId) {
      if (isSampled(status)) lines.info({ requestId, route: UNREADABLE, status }, 'request');
    },
  };
}

/** Of queries alone: the body of a login is a password. A body that was refused may be anything. */
const isUnderstood = ({ caller }: FastifyRequest, status: number): boolean =>
  caller !== null && status !== statusOf('bad_request');

/** The length of the body. Unknown for a stream, which is not counted while it is sent. A 304 has none. */
function bytesOf({ method }: FastifyRequest, reply: FastifyReply): { bytes: number } | null {
  const length = reply.getHeader('content-length');
  return length === undefined || method === 'HEAD' ? null : { bytes: Number(length) };
}
