import type { IncomingHttpHeaders } from 'node:http';
import { matchesEtag } from '../http/etag.ts';

/** Whether the client may have the response already. */
export function isConditional(headers: IncomingHttpHeaders): boolean {
  return headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined;
}

/**
 * Whether the client has this response already: RFC 9110 section 13.1. `If-None-Match` decides if it is sent, otherwise
 * `If-Modified-Since`, which is exact because no two versions of a list have the same second. `modifiedTs` is null if the
 * bytes may change without a new serial.
 */
export function isUnchanged(headers: IncomingHttpHeaders, etag: string, modifiedTs: number | null): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers;
  if (tags !== undefined) return matchesEtag(tags, etag);
  return modifiedTs !== null && since !== undefined && Date.parse(since) / 1000 >= modifiedTs; // NaN for a text that is no date
}
