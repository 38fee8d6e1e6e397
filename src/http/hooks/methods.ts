import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { AppError } from '../../core/errors.ts';

export const ALLOW_ANY = 'GET, HEAD, POST, OPTIONS';

/** `Allow` of a path whose own method is the given one: RFC 9110 §9.1 wants HEAD wherever GET is. */
export const allowOf = (method: 'GET' | 'POST'): string => (method === 'GET' ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS');

export function answerOptions(allow: string) {
  return (_request: FastifyRequest, reply: FastifyReply): void => {
    reply.code(204).header('allow', allow).send();
  };
}

/** In `onRequest`, so that a wrong method is told before a token is asked for or a body is read. */
export function refuseMethod(allow: string) {
  return (_request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    reply.header('allow', allow);
    done(new AppError('method_not_allowed', `This path answers to ${allow}`));
  };
}
