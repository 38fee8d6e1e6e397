import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { unknownPath } from '../errors.ts';
import { parseDecimal } from '../query.ts';
import { ALLOW_ANY, answerOptions } from './methods.ts';

/** The first check of all, before the body is read. What stands in the place of a URLID belongs to the path. */
export function knownPath(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  if (request.is404 && request.raw.url === '*' && request.method === 'OPTIONS') {
    answerOptions(ALLOW_ANY)(request, reply); // RFC 9110 §9.3.7: asks about the server as a whole
    return;
  }
  const { id } = request.params as { id?: string };
  const isUnknown = request.is404 || (id !== undefined && parseDecimal(id, 1) === null);
  done(isUnknown ? unknownPath() : undefined);
}
