import type { IncomingHttpHeaders } from 'node:http';
import { matchesEtag } from '../http/etag.ts';
import type { Encoding } from './copies.ts';

/** Preferred in this order: zstd is smaller than gzip, and quicker to unpack. */
const COMPRESSED = ['zstd', 'gzip'] as const;

/** The encoding of a response to this Accept-Encoding (RFC 9110 section 12.5.3). */
export function bestEncoding(accepted: string | undefined): Encoding {
  if (accepted === undefined) return 'identity';
  const accepts = new Map<string, boolean>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    accepts.set(name, !parameters.some((text) => /^q=0(?:\.0*)?$/.test(text)));
  }
  return COMPRESSED.find((name) => accepts.get(name) ?? accepts.get('*') ?? false) ?? 'identity';
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
