import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';

/**
 * Browsers accept a cookie with the prefix `__Host-` only with these attributes and without a domain, so no other host,
 * and nobody on a connection without TLS, can set it (RFC 6265bis §4.1.3.2).
 */
export const SESSION_COOKIE = '__Host-urlwarden';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

const COOKIE = new RegExp(`(?:^|; *)${SESSION_COOKIE}=([^;]*)`);

/** The value of the session cookie in a Cookie header, valid or not. */
export function sessionCookie(header: string): string | null {
  return COOKIE.exec(header)?.[1] ?? null;
}

export function setSessionCookie(reply: FastifyReply, value: string, lifeSeconds: number): void {
  reply.header('set-cookie', `${SESSION_COOKIE}=${value}; ${ATTRIBUTES}; Max-Age=${lifeSeconds}`);
}

export function clearSessionCookie(reply: FastifyReply): void {
  setSessionCookie(reply, '', 0);
}

/**
 * Throws `forbidden` unless a request with the cookie comes from a page of this server: other sites can make a browser
 * send requests with it. Browsers that send neither header are old; they send Origin with every POST.
 */
export function requireSameOrigin(request: FastifyRequest): void {
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  if (!(isSameOrigin(request) ?? isReading)) throw otherOrigin();
}

/** For a login, which has no cookie yet. A program that sends neither header is accepted. */
export function refuseOtherOrigin(request: FastifyRequest): void {
  if (isSameOrigin(request) === false) throw otherOrigin();
}

/** Null if the request does not say where it comes from. */
function isSameOrigin(request: FastifyRequest): boolean | null {
  const { 'sec-fetch-site': site, origin } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  return origin === undefined ? null : origin === `${request.protocol}://${request.host}`;
}

function otherOrigin(): AppError {
  return new AppError(
    'forbidden',
    'A session works only from the pages of this server; send a token in the header Authorization instead',
  );
}

const LOOPBACK_HOST = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/** Whether browsers keep a `Secure` cookie of this request: with TLS, and of loopback names. */
export function keepsSecureCookies(request: FastifyRequest): boolean {
  return request.protocol === 'https' || LOOPBACK_HOST.test(request.host.replace(/:\d+$/, ''));
}
