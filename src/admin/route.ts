import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { AppError } from '../core/errors.ts';
import type { Endpoint, Parameter, Route } from '../http/endpoint.ts';
import { queryString } from '../http/query.ts';

/** A route for administrators. No cache on the way keeps an answer (RFC 9111 §5.2.2.5): it may have a new password. */
export function adminRoute<Question>(endpoint: Endpoint<Question>): Route {
  const uncached: Endpoint<Question> = {
    ...endpoint,
    answer(question, exchange, options) {
      exchange.reply.header('cache-control', 'no-store');
      return endpoint.answer(question, exchange, options);
    },
  };
  return { endpoint: uncached, access: 'administrator', charge: 'call' };
}

/** The body of a change that needs no values. */
export const Nothing = Type.Object({}, { additionalProperties: false });

export const pathParameter = (name: string, description: string): Parameter => ({
  in: 'path',
  name,
  schema: Type.String(),
  description,
});

export function pathText(request: FastifyRequest, name: string): string {
  return (request.params as Record<string, string>)[name] ?? '';
}

/** A parameter of the query string that is a text; null if it was not sent. */
export function textParameter(request: FastifyRequest, name: string): string | null {
  const sent = queryString(request)[name];
  if (sent === undefined || typeof sent === 'string') return sent ?? null;
  throw new AppError('bad_request', `"${name}" must be sent once`);
}
