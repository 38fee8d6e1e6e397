import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { onRequestHookHandler } from 'fastify';

export const REQUEST_ID_HEADER = 'X-Request-Id';

/** Only characters that are harmless in a header, a log line and a shell. */
const ACCEPTED = /^[A-Za-z0-9._-]{8,128}$/;

/** UUIDs are made in batches: each is then a slice of one string, not a chain of twenty strings that must be joined. */
const BATCH = 64;
const UUID_LENGTH = 36;
let batch = '';
let used = 0;

function newId(): string {
  if (used === batch.length) {
    batch = Array.from({ length: BATCH }, () => randomUUID()).join('');
    used = 0;
  }
  used += UUID_LENGTH;
  return batch.slice(used - UUID_LENGTH, used);
}

/** The caller's id if it is acceptable, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED.test(given) ? given : newId();
}

/** The first hook, so that every response of Fastify has the id, whichever step sends it. */
export const sendRequestId: onRequestHookHandler = (request, reply, done) => {
  reply.header(REQUEST_ID_HEADER, request.id);
  done();
};
