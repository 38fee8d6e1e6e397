import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const REQUEST_ID_HEADER = 'X-Request-Id';

/** Only characters that are harmless in a header, a log line and a shell. */
const ACCEPTED = /^[A-Za-z0-9._-]{8,128}$/;

/** A random UUID of this process, whose last twelve digits count requests. A new one for each takes three times as long. */
const COUNTER_DIGITS = 12;
const PREFIX = randomUUID().slice(0, -COUNTER_DIGITS);
let counter = 0;

function newId(): string {
  counter++;
  return PREFIX + counter.toString(16).padStart(COUNTER_DIGITS, '0');
}

/** The caller's id if it is acceptable, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED.test(given) ? given : newId();
}
