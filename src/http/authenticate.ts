import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { AppError } from '../core/errors.ts';
import type { Caller, Route } from './endpoint.ts';
import { requireSameOrigin, sessionCookie } from './session-cookie.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent the request; null on routes that need no token. */
    caller: Caller | null;
  }
}

/** Finds the caller of an Authorization header, or throws `unauthorized`, `forbidden` or `unavailable`. */
export type Authenticate = (authorization: string | undefined) => Caller | Promise<Caller>;

/** The same for the value of the session cookie. */
export type AuthenticateSession = (cookie: string) => Promise<Caller>;

/** Finds the caller of a request. No promise for a token that was seen before. */
export type FindCaller = (request: FastifyRequest) => Caller | Promise<Caller>;

const BEARER = /^bearer\b/i;

/** A token is used also if there is a cookie. A browser sends the password of a proxy (Basic) to this server too. */
export function createFindCaller(authenticate: Authenticate, authenticateSession: AuthenticateSession): FindCaller {
  return (request) => {
    const { authorization = '', cookie = '' } = request.headers;
    const session = BEARER.test(authorization) ? null : sessionCookie(cookie);
    if (session === null) return authenticate(request.headers.authorization);
    requireSameOrigin(request);
    return authenticateSession(session);
  };
}

/** Runs in `onRequest`, before the body is read. */
export function authenticateHook(
  findByHeaders: FindCaller,
  access: Exclude<Route['access'], 'open'>,
  findOwn?: Route['findCaller'],
): onRequestHookHandler {
  const findCaller: FindCaller = (request) => findOwn?.(request) ?? findByHeaders(request);
  const refuse = refusalOf(access);
  const admit = (request: FastifyRequest, caller: Caller) => {
    refuse(caller);
    request.caller = caller;
  };
  return (request, _reply, done) => {
    try {
      const caller = findCaller(request);
      if (!(caller instanceof Promise)) admit(request, caller);
      else return void caller.then((found) => admit(request, found)).then(() => done(), done);
    } catch (error) {
      return done(error as Error);
    }
    done();
  };
}

/** Throws `forbidden` unless the caller may use the route. */
function refusalOf(access: Exclude<Route['access'], 'open'>): (caller: Caller) => void {
  if (access === 'account') return () => {};
  if (access === 'administrator') {
    return ({ account }) => {
      if (!account.isAdmin) throw new AppError('forbidden', 'This needs an administrator; ask one, or the operator');
    };
  }
  const { dataset } = access;
  return ({ limits }) => {
    if (limits.ads.includes(dataset)) return;
    throw new AppError('forbidden', `The dataset ${dataset} is not part of this subscription`);
  };
}

export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error(`${request.routeOptions.url} needs an account, but is an open route`);
  return request.caller;
}
