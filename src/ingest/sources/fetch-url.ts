import { badRequest } from '../../core/errors.ts';
import { http } from '../../core/node-http.ts';

/** Values by header name. Values may be API keys, so they are never shown. */
export type FetchHeaders = Readonly<Record<string, string>>;

/** {Auth-Key}; RFC 9110 section 5.6.2 defines the characters of a header name. */
const PLACEHOLDER = /\{([A-Za-z0-9!#$&'*+.^_`|~-]+)\}/g;

/** Headers that Urlwarden sets, in lower case. Other values would break the download or its checks. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'if-modified-since',
  'if-none-match',
  'keep-alive',
  'range',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const FEED_SENDS = 'A feed can send a password: urlwarden feed add NAME … --header Authorization';

/** Parses the URL of a download and replaces its placeholders. */
export function readFetchUrl(text: string, headers: FetchHeaders): URL {
  const authority = /^[a-z]+:[/\\]*[^/\\?#]*/i.exec(text)?.[0] ?? '';
  const url = URL.parse(
    authority + text.slice(authority.length).replace(PLACEHOLDER, (_, name) => encodedHeader(name, headers)),
  );
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw badRequest(`${shownUrl(text)} is not an http or https URL`);
  }
  if (url.username !== '' || url.password !== '') {
    throw badRequest(`The URL contains a user name or a password: leave it out. ${FEED_SENDS}`);
  }
  return url;
}

/** The URL without its query and password, which may contain a key. Placeholders are not replaced. */
export function shownUrl(text: string): string {
  return text.replace(/\/\/[^/?#]*@/, '//…@').replace(/[?#].*$/s, '?…');
}

/** Splits `Auth-Key: 0123…` into name and value. Throws an AppError that does not contain the value. */
export function parseHeaderLine(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return checkHeader(line.slice(0, Math.max(0, colon)).trim(), line.slice(colon + 1).trim());
}

/** The same for a name and a value that are separate already. */
export function checkHeader(name: string, value: string): [name: string, value: string] {
  try {
    http.validateHeaderName(name);
    http.validateHeaderValue(name, value);
  } catch {
    throw badRequest('A header must have the form Name: value, without special characters');
  }
  if (value === '') throw badRequest(`The header ${name} has no value: enter one`);
  if (RESERVED_HEADERS.has(name.toLowerCase()))
    throw badRequest(`The header ${name} is set by Urlwarden: leave it out`);
  return [name, value];
}

function encodedHeader(name: string, headers: FetchHeaders): string {
  const found = Object.entries(headers).find(([header]) => header.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return encodeURIComponent(found[1]);
  throw badRequest(`The URL contains {${name}}, but there is no header of that name: add it with --header ${name}`);
}
