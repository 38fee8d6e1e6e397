import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';

/** Says who asks, or refuses by throwing an AppError `unauthorized` or `forbidden`. */
export type Authenticate = (request: FastifyRequest) => Promise<void> | void;

/** In `onRequest`, that is before a byte of the body is read. */
export function authenticateHook(authenticate: Authenticate): onRequestAsyncHookHandler {
  return async (request) => authenticate(request);
}
