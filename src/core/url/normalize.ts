import type { UrlError } from './errors.ts';
import { escapePath, normalizeQuery } from './escape.ts';
import { normalizeHost } from './host.ts';
import { defaultPort, splitAuthority, splitUrl, stripUrl } from './split.ts';

/** `url` is the normalized URL, the key of all stored data; the other fields are its parts. */
export type NormalizedUrl = {
  ok: true;
  url: string;
  scheme: string;
  host: string;
  /** The address key if the host is an address; else null. */
  ip: Uint8Array | null;
  /** null for the default port of the scheme. */
  port: number | null;
  path: string;
  /** Without the `?`; null without a query, an empty string for an empty query. */
  query: string | null;
};

export type UrlRefusal = { ok: false; error: UrlError };

/** In UTF-16 units, before and after normalization. RFC 9110 section 4.1 recommends at least 8,000. */
export const URL_MAX_LENGTH = 8192;
const PORT_MAX = 65_535;

const DIGITS = /^[0-9]+$/;

/**
 * Normalizes a URL by rules N1 to N15 (`docs/url-rules.md`), checked in that order; the first failure is returned.
 * Accepts any value, never throws, and is idempotent.
 *
 *     HTTP://user:pw@Example.COM:80/A/../b?x=%7e#top   becomes   http://example.com/A/../b?x=~
 */
export function normalizeUrl(input: unknown): NormalizedUrl | UrlRefusal {
  if (typeof input !== 'string') return refusal('invalid_type');
  if (input.length > URL_MAX_LENGTH) return refusal('too_long');
  if (!input.isWellFormed()) return refusal('invalid_unicode');
  const text = stripUrl(input);
  if (text === '') return refusal('empty');
  const parts = splitUrl(text);
  if (!parts.ok) return parts;
  const authority = splitAuthority(parts.authority);
  if (authority.host === '') return refusal('missing_host');
  const host = normalizeHost(authority.host);
  if (!host.ok) return refusal('invalid_host');
  const { scheme } = parts;
  const port = normalizePort(authority.port ?? '', scheme);
  if (port === undefined) return refusal('invalid_port');
  const path = escapePath(parts.path) || '/';
  const query = parts.query === null ? null : normalizeQuery(parts.query);
  const url = `${scheme}://${host.host}${port === null ? '' : `:${port}`}${path}${query === null ? '' : `?${query}`}`;
  if (url.length > URL_MAX_LENGTH) return refusal('too_long');
  return { ok: true, url, scheme, host: host.host, ip: host.ip, port, path, query };
}

/** Rule N11: null for the default port of the scheme, undefined if invalid. Leading zeros are allowed: `:00080` is `:80`. */
function normalizePort(digits: string, scheme: string): number | null | undefined {
  if (digits === '') return null;
  if (!DIGITS.test(digits)) return undefined;
  const port = Number(digits);
  if (port > PORT_MAX) return undefined;
  return port === defaultPort(scheme) ? null : port;
}

function refusal(error: UrlError): UrlRefusal {
  return { ok: false, error };
}

const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const QUAD = String.raw`${OCTET}\.${OCTET}\.${OCTET}\.${OCTET}`;
/** The last label begins with a letter, so the name is not a number form of an address (rule N9). */
const PLAIN_NAME = String.raw`(?=[^/:]{1,253}[/:])(?:[a-z0-9_-]{1,63}\.)*[a-z][a-z0-9_-]{0,62}`;
/** 1 to 65535, without the default ports of the schemes. */
const PLAIN_PORT = String.raw`(?!(?:21|80|443)/)(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])`;
/** Path and query of characters that need no escape; `%` is excluded, because escapes may need normalization. */
const PLAIN_TARGET = "/[!$&'()*+,\\-./0-9:;=?@A-Z_a-z~]*";

const PLAIN_URL = new RegExp(`^(?:https?|ftp)://(?:${QUAD}|${PLAIN_NAME})(?::${PLAIN_PORT})?${PLAIN_TARGET}$`);

/**
 * A fast check that `normalizeUrl` would return the text unchanged: 0.3 µs instead of 2 µs, and true for most requests.
 * It returns false for forms that it does not check: escapes, IPv6, `:0`.
 */
export function isPlainUrl(text: string): boolean {
  return text.length <= URL_MAX_LENGTH && PLAIN_URL.test(text);
}
