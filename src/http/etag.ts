import { createHash } from 'node:crypto';
import type { Exchange } from './endpoint.ts';

/** A response body that stays the same, and the hash that identifies it. */
export type TaggedText = { text: string; etag: string };

export function withEtag(text: string): TaggedText {
  return { text, etag: `"${createHash('sha256').update(text).digest('hex')}"` };
}

/** Answers 304 if the client has this text already. RFC 9110 section 13.1.2: a weak tag matches too. */
export function sendTagged({ request, reply }: Exchange, { text, etag }: TaggedText): string {
  reply.header('etag', etag);
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known === undefined || !(known.includes(etag) || known.includes('*'))) return text;
  reply.code(304);
  return '';
}
