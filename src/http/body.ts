import type { FastifyReply, FastifyRequest, FastifySchemaValidationError, HookHandlerDoneFunction } from 'fastify';
import type { TSchema } from 'typebox';
import { AppError } from '../core/errors.ts';

export const MAX_BODY_BYTES = 64 * 1024;

/** A body is JSON whatever its type says: clients send `curl -d`, or none at all. Fastify would refuse a malformed one. */
export function anyContentType(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void {
  request.raw.headers['content-type'] = 'application/json';
  done();
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** JSON in strict UTF-8: a replacement character would turn two different questions into one. */
export function parseJson(
  _request: FastifyRequest,
  bytes: Buffer,
  done: (error: Error | null, body?: unknown) => void,
): void {
  let body: unknown;
  let fault: AppError | null = null;
  try {
    body = JSON.parse(UTF8.decode(bytes));
  } catch (error) {
    fault = new AppError('bad_request', faultOf(bytes, error));
  }
  done(fault, body);
}

function faultOf(bytes: Buffer, error: unknown): string {
  if (bytes.length === 0) return 'The body is empty; send a JSON object';
  return `The body is not valid ${error instanceof SyntaxError ? 'JSON' : 'UTF-8'}`;
}

/**
 * The formatter of validation errors for one body schema: one sentence that names the key. Fastify validates with Ajv; these
 * are the keywords that our schemas use.
 */
export function validationMessage(body: TSchema) {
  const keys = Object.keys((body as { properties?: object }).properties ?? {});
  return ([fault]: FastifySchemaValidationError[]): Error =>
    new Error(fault === undefined ? 'The body is not what is expected' : sentenceOf(fault, keys));
}

function sentenceOf(fault: FastifySchemaValidationError, keys: readonly string[]): string {
  const { keyword, instancePath, params, message } = fault;
  const key = instancePath.slice(1);
  switch (keyword) {
    case 'type':
      return key === '' ? 'The body must be a JSON object' : `"${key}" must be ${[params.type].flat().join(' or ')}`;
    case 'required':
      return `"${params.missingProperty}" is missing`;
    case 'additionalProperties':
      return `Unknown key ${JSON.stringify(params.additionalProperty)}`;
    case 'minProperties':
    case 'maxProperties':
      return `Send exactly one of ${keys.join(', ')}`;
    case 'maxLength':
      return `"${key}" must have at most ${params.limit} characters`;
    default:
      return `"${key}" ${message ?? 'is not what is expected'}`;
  }
}
