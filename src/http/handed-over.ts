import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyRequest, onRequestHookHandler, preParsingHookHandler } from 'fastify';
import type { Caller } from '../accounts/caller.ts';
import type { LimitHeaders } from './limit-headers.ts';

/** What is known of a request that goes on to Fastify: whatever was taken from it cannot be taken again. */
export type HandedOver = {
  caller?: Promise<Caller>;
  refusal?: { error: Error; headers: LimitHeaders };
  body?: Buffer;
};

const handedOver = new WeakMap<IncomingMessage, HandedOver>();

export const handOver = (request: IncomingMessage, known: HandedOver): void => void handedOver.set(request, known);

/** Before all other hooks. */
export const refuseHandedOver: onRequestHookHandler = (request, reply, done) => {
  const refusal = handedOver.get(request.raw)?.refusal;
  if (refusal === undefined) return done();
  reply.headers(refusal.headers);
  done(refusal.error);
};

/** The body where it has been read already. */
export const bodyHandedOver: preParsingHookHandler = (request, _reply, payload, done) => {
  const body = handedOver.get(request.raw)?.body;
  done(null, body === undefined ? payload : Readable.from([body], { objectMode: false }));
};

/** Whom the token is being verified for, where that has begun. */
export const callerHandedOver = (request: FastifyRequest): Promise<Caller> | undefined =>
  handedOver.get(request.raw)?.caller;
