import type { UrlError } from './errors.ts';

/** The parts of a URL, not yet normalized, except that the scheme is in lower case. */
export type UrlParts = {
  ok: true;
  scheme: string;
  authority: string;
  path: string;
  query: string | null;
  fragment: string | null;
};

export type AuthorityParts = { credentials: string | null; host: string; port: string | null };

/** The accepted schemes. RFC 9110 sections 4.2.1 and 4.2.2, RFC 1738 section 3.2. */
const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
  ['ftp', 21],
]);

const LAST_BLANK = 0x20;
const BREAKS = /[\t\r\n]/g;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;
const AUTHORITY_END = /[/?#]/;

export function defaultPort(scheme: string): number | undefined {
  return DEFAULT_PORTS.get(scheme);
}

/** Rule N3: removes U+0000 to U+0020 at both ends, then every TAB, CR and LF. Not `trim()`, which also removes NBSP and BOM. */
export function stripUrl(input: string): string {
  let start = 0;
  let end = input.length;
  while (start < end && input.charCodeAt(start) <= LAST_BLANK) start++;
  while (end > start && input.charCodeAt(end - 1) <= LAST_BLANK) end--;
  return input.slice(start, end).replace(BREAKS, '');
}

/**
 * Rules N4 and N5: `HTTP://u@a:1/p?q#f` is `http`, `u@a:1`, `/p`, `q`, `f`. `new URL` is not used, because it adds missing
 * slashes, removes dot segments and converts `\` to `/`.
 */
export function splitUrl(text: string): UrlParts | { ok: false; error: UrlError } {
  const colon = text.indexOf(':');
  const prefix = text.slice(0, Math.max(0, colon));
  if (!SCHEME.test(prefix)) return { ok: false, error: 'missing_scheme' };
  const scheme = prefix.toLowerCase();
  if (!DEFAULT_PORTS.has(scheme)) return { ok: false, error: 'unsupported_scheme' };
  if (!text.startsWith('//', colon + 1)) return { ok: false, error: 'missing_host' };
  const rest = text.slice(colon + 3);
  const length = rest.search(AUTHORITY_END);
  const authority = length === -1 ? rest : rest.slice(0, length);
  // Browsers read `a\@b` as host a, RFC 3986 as host b.
  if (authority.includes('\\')) return { ok: false, error: 'invalid_host' };
  const [target, fragment] = cut(rest.slice(authority.length), '#');
  const [path, query] = cut(target, '?');
  return { ok: true, scheme, authority, path, query, fragment };
}

/**
 * Rule N6: the last `@` ends the credentials, as in browsers and curl. The first colon after the host, or after its
 * closing bracket, begins the port. Other text after the bracket stays in the host, which is then refused.
 */
export function splitAuthority(authority: string): AuthorityParts {
  const at = authority.lastIndexOf('@');
  const hostPort = authority.slice(at + 1);
  const colon = hostPort.indexOf(':', hostPort.startsWith('[') ? hostPort.indexOf(']') : 0);
  return {
    credentials: at === -1 ? null : authority.slice(0, at),
    host: colon === -1 ? hostPort : hostPort.slice(0, colon),
    port: colon === -1 ? null : hostPort.slice(colon + 1),
  };
}

function cut(text: string, mark: string): [before: string, after: string | null] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}
