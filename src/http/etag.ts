import { createHash } from 'node:crypto';
import type { Exchange } from './endpoint.ts';

/** A response body that stays the same, and the hash that identifies it. */
export type TaggedText = { text: string; etag: string };

export function withEtag(text: string): TaggedText {
  return { text, etag: `"${createHash('sha256').update(text).digest('hex')}"` };
}

/** Answers 304 if the client has this text already. */
export function sendTagged({ request, reply }: Exchange, { text, etag }: TaggedText): string {
  reply.header('etag', etag);
  if (!matchesEtag(request.headers['if-none-match'], etag)) return text;
  reply.code(304);
  return '';
}

/** Whether an If-None-Match names this tag. RFC 9110 section 13.1.2: a weak tag matches too. */
export function matchesEtag(sent: string | undefined, etag: string): boolean {
  const known = sent?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return known !== undefined && (known.includes(etag) || known.includes('*'));
}
