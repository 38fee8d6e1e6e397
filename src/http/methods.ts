import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { AppError } from '../core/errors.ts';
import type { Parameter } from './endpoint.ts';
import { unknownPath } from './errors.ts';

const ALLOW_ANY = 'GET, HEAD, POST, OPTIONS';

/** The router knows these methods only. The last one stands for all that no path supports, and for OPTIONS. */
export const ROUTED_METHODS = ['GET', 'HEAD', 'POST', 'DELETE'] as const;
const UNSUPPORTED = 'DELETE';
const SUPPORTED: ReadonlySet<string> = new Set(ROUTED_METHODS.filter((method) => method !== UNSUPPORTED));

const sentMethods = new WeakMap<IncomingMessage, string>();

/**
 * Before the route is found: all methods that no path supports become one, with OPTIONS. A route for each of the 35 methods
 * that Node accepts, on every path, took 5 MB and 60 ms at the start of each thread.
 */
export function joinUnsupportedMethods(request: IncomingMessage): void {
  const { method = '' } = request;
  if (SUPPORTED.has(method)) return;
  sentMethods.set(request, method);
  request.method = UNSUPPORTED;
}

/** The method that the client has sent. */
export function sentMethod({ raw, method }: FastifyRequest): string {
  return method === UNSUPPORTED ? (sentMethods.get(raw) ?? method) : method;
}

/** The `Allow` header of a path with these methods. RFC 9110 §9.1: HEAD is supported wherever GET is. */
export function allowOf(methods: readonly ('GET' | 'POST')[]): string {
  const read = methods.includes('GET') ? ['GET', 'HEAD'] : [];
  const change = methods.includes('POST') ? ['POST'] : [];
  return [...read, ...change, 'OPTIONS'].join(', ');
}

/**
 * For all methods that a path does not support, and for OPTIONS. Runs in `onRequest`, so that a wrong method is refused
 * before the token is checked and the body is read.
 */
export function respondToOtherMethods(allow: string) {
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    reply.header('allow', allow);
    if (sentMethod(request) === 'OPTIONS') reply.code(204).send();
    else done(new AppError('method_not_allowed', `This path supports only ${allow}`));
  };
}

/** The first check, before the body is read. */
export function refuseUnknownPath(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  if (request.is404 && request.originalUrl === '*' && sentMethod(request) === 'OPTIONS') {
    reply.code(204).header('allow', ALLOW_ANY).send(); // RFC 9110 §9.3.7: the options of the server as a whole
  } else done(request.is404 ? unknownPath() : undefined);
}

/** A path whose parameters have impossible values does not exist. The message names the first one, and its values. */
export function refuseBadParameters(parameters: readonly Parameter[] = []) {
  const checked = parameters.filter((parameter) => parameter.isValid !== undefined);
  return (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const values = request.params as Record<string, string>;
    const bad = checked.find(({ name, isValid }) => !isValid?.(values[name] ?? ''));
    done(bad === undefined ? undefined : unknownPath(expectationOf(bad)));
  };
}

/** `mode must be listed or listings`. */
function expectationOf({ name, schema }: Parameter): string | undefined {
  const { enum: words } = schema as { enum?: readonly string[] };
  return words === undefined ? undefined : `${name} must be ${words.join(' or ')}`;
}
