import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Exchange } from './endpoint.ts';

/** A response body that stays the same, and the hash that identifies it. */
type TaggedText = { text: string; etag: string };

export function withEtag(text: string): TaggedText {
  return { text, etag: `"${createHash('sha256').update(text).digest('hex')}"` };
}

/** Responds with 304 if the client has this text already. */
export function sendTagged({ request, reply }: Exchange, { text, etag }: TaggedText): string | FastifyReply {
  reply.headers({ etag, 'cache-control': 'private, no-cache' }); // a client may keep it, but has to ask again
  return matchesEtag(request.headers['if-none-match'], etag) ? sendNotModified(reply) : text;
}

/**
 * Responds with 304. RFC 9110 section 8.6: a Content-Length would have to be that of the 200. Fastify always adds one of 0 to a
 * response to HEAD that has no body.
 */
export function sendNotModified(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(304, reply.getHeaders() as OutgoingHttpHeaders);
  reply.raw.end();
  return reply;
}

/** Whether an If-None-Match names this tag. RFC 9110 section 13.1.2: a weak tag matches too. */
export function matchesEtag(sent: string | undefined, etag: string): boolean {
  const known = sent?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return known !== undefined && (known.includes(etag) || known.includes('*'));
}
