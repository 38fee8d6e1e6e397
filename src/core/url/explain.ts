import { percentDecoded } from '../text.ts';
import { escapePath } from './escape.ts';
import { asciiName, withoutTrailingDot } from './host.ts';
import type { NormalizedUrl } from './normalize.ts';
import { type AuthorityParts, splitAuthority, splitUrl, stripUrl, type UrlParts } from './split.ts';

/** One change that normalization made to a URL, with the number of its rule. */
type UrlChange = { rule: string; text: string };

/** Separate from `normalizeUrl`, whose callers mostly need no explanation. */
export function explainUrl(input: string, normal: NormalizedUrl): UrlChange[] {
  const text = stripUrl(input);
  const parts = splitUrl(text);
  if (!parts.ok) return [];
  const authority = splitAuthority(parts.authority);
  return [
    ...change(text !== input, 'N3', 'leading and trailing blanks, tabs and line breaks removed'),
    ...change(!text.startsWith(normal.scheme), 'N4', 'scheme written in lower case'),
    ...change(authority.credentials !== null, 'N6', 'credentials removed'),
    ...explainHost(authority.host, normal.host),
    ...explainPort(authority, normal),
    ...explainTail(parts, normal),
  ];
}

function explainHost(raw: string, host: string): UrlChange[] {
  if (raw.startsWith('[')) return change(raw !== host, 'N10', 'IPv6 address written in its shortest form');
  const decoded = percentDecoded(raw) ?? raw;
  const ascii = asciiName(raw) ?? host;
  const name = withoutTrailingDot(ascii);
  return [
    ...change(decoded !== raw, 'N7', 'escapes in the host decoded'),
    ...change(ascii !== decoded, 'N7', isCaseOnly(decoded, ascii) ? 'host written in lower case' : IDNA_TEXT),
    ...change(name !== ascii, 'N8', 'trailing dot of the host removed'),
    ...change(host !== name, 'N9', 'IPv4 address written as four decimal numbers'),
  ];
}

const IDNA_TEXT = 'international host name written in ASCII';

function isCaseOnly(decoded: string, ascii: string): boolean {
  return decoded.length === ascii.length && /^\p{ASCII}*$/u.test(decoded);
}

function explainPort(authority: AuthorityParts, normal: NormalizedUrl): UrlChange[] {
  if (authority.port === null) return [];
  if (authority.port === '') return change(true, 'N11', 'empty port removed');
  if (normal.port === null) return change(true, 'N11', `default port of ${normal.scheme} removed`);
  return change(authority.port !== String(normal.port), 'N11', 'leading zeros of the port removed');
}

function explainTail(parts: UrlParts, normal: NormalizedUrl): UrlChange[] {
  const isPathEmpty = parts.path === '';
  return [
    ...change(isPathEmpty, 'N12', 'empty path written as /'),
    ...change(!isPathEmpty && parts.path !== normal.path, 'N12', 'characters not allowed in a path escaped'),
    ...explainQuery(parts.query ?? '', normal.query ?? ''),
    ...change(parts.fragment !== null, 'N14', 'fragment removed'),
  ];
}

/** The characters that are not allowed are the same in a path and in a query. */
function explainQuery(raw: string, query: string): UrlChange[] {
  const escaped = escapePath(raw);
  return [
    ...change(escaped !== raw, 'N13', 'characters not allowed in a query escaped'),
    ...change(query !== escaped, 'N13', 'escapes in the query normalized'),
  ];
}

function change(happened: boolean, rule: string, text: string): UrlChange[] {
  return happened ? [{ rule, text }] : [];
}
