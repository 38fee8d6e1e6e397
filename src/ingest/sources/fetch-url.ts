import { validateHeaderName, validateHeaderValue } from 'node:http';
import { AppError } from '../../core/errors.ts';

/** By name. Values may be keys: they are never shown. */
export type FetchHeaders = Readonly<Record<string, string>>;

/** {Auth-Key}: RFC 9110 section 5.6.2 says what a name may have. */
const PLACEHOLDER = /\{([A-Za-z0-9!#$&'*+.^_`|~-]+)\}/g;

/** Ours to say, in lower case: what else they said would break the download or its checks. */
const OUR_HEADERS: ReadonlySet<string> = new Set([
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

/** The URL to ask, its placeholders filled in. */
export function readFetchUrl(text: string, headers: FetchHeaders): URL {
  const authority = /^[a-z]+:[/\\]*[^/\\?#]*/i.exec(text)?.[0] ?? '';
  const url = URL.parse(
    authority + text.slice(authority.length).replace(PLACEHOLDER, (_, name) => filled(name, headers)),
  );
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new AppError('bad_request', `${shownUrl(text)} is no http or https URL`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new AppError('bad_request', 'A URL with a password in it is not taken: put it into a header, Authorization');
  }
  return url;
}

/** A key would stand in the query or at a placeholder; the one is left out, the other has no value yet. */
export function shownUrl(text: string): string {
  return text.replace(/\/\/[^/?#]*@/, '//…@').replace(/[?#].*$/s, '?…');
}

/** `Auth-Key: 0123…` as name and value; throws an AppError that tells nothing of the value. */
export function parseHeaderLine(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(0, colon)).trim();
  const value = line.slice(colon + 1).trim();
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw new AppError('bad_request', 'A header must be written as Name: value, in plain characters');
  }
  if (value === '') throw new AppError('bad_request', `The header ${name} has no value`);
  if (OUR_HEADERS.has(name.toLowerCase())) throw new AppError('bad_request', `The header ${name} is not yours to set`);
  return [name, value];
}

function filled(name: string, headers: FetchHeaders): string {
  const found = Object.entries(headers).find(([header]) => header.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return encodeURIComponent(found[1]);
  throw new AppError('bad_request', `The URL has {${name}} in it, but there is no header of that name: add it`);
}
