import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Caller } from '../../accounts/caller.ts';
import { AppError } from '../../core/errors.ts';
import { URL_DATASET } from '../../core/tier.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; null on routes that need no token. */
    caller: Caller | null;
  }
}

/** Says who sent an Authorization header, or refuses by throwing `unauthorized`, `forbidden` or `unavailable`. */
export type Authenticate = (authorization: string | undefined) => Caller | Promise<Caller>;

/** In `onRequest`, that is before a byte of the body is read. Does not wait where the answer is known. */
export function authenticateHook(authenticate: Authenticate, access: 'account' | 'dataset'): onRequestHookHandler {
  const admit = (request: FastifyRequest, caller: Caller) => {
    if (access === 'dataset' && !caller.limits.ads.includes(URL_DATASET)) {
      throw new AppError('forbidden', `The dataset ${URL_DATASET} is not part of this subscription`);
    }
    request.caller = caller;
  };
  return (request, _reply, done) => {
    try {
      const caller = authenticate(request.headers.authorization);
      if (!(caller instanceof Promise)) admit(request, caller);
      else return void caller.then((known) => admit(request, known)).then(() => done(), done);
    } catch (error) {
      return done(error as Error);
    }
    done();
  };
}

export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error(`${request.routeOptions.url} asks for an account, but needs no token`);
  return request.caller;
}
