import { stripUrl } from './split.ts';

// Reports write malicious addresses so that nobody opens them by accident: `hxxps://www[.]example[.]com/a`. People paste
// them into commands and lists as they are. Queries of the API never call this file: rule N4 guesses nothing.

/** `hxxps[:]//`, `fxp://`, `h**p://`, `http[://]`, and the real schemes, whose host may be defanged. */
export const SCHEME_SOURCE = String.raw`(h(?:tt|xx|tx|xt|\*\*)p|f[tx]p)(s?)(?:://|\[:\]//|\(:\)//|\[://\]|\(://\))`;
const SCHEME = new RegExp(`^${SCHEME_SOURCE}`, 'i');
const REAL_SCHEME = /^(?:https?|ftp):\/\/$/i;
/** `[.]`, `(dot)`, ` {.} `, half of it, as in `bad[.example`, and `\.` of a pattern: none is possible in a host. */
const DOT = / ?[[({](?:\.|dot)[\])}] ?|[[({\\]\.|\.[\])}]/gi;
const COLON = /\[:\]|\(:\)/g;
const END_OF_AUTHORITY = /[/?#\\]/;
/** Without a scheme `\.` may be a dot of the host; with one, nobody knows whether a browser ends the host there. */
const END_OF_SCHEMELESS_AUTHORITY = /[/?#]|\\(?!\.)/;
/** What reports put around an address. */
const WRAPPED = /^(?:<(.*)>|"(.*)"|'(.*)'|`(.*)`)$/s;

/**
 * The real form of a defanged URL; any other text, and every valid URL, is returned unchanged. Credentials stay as they are.
 * After the host `[.]` may be meant: it is restored only if scheme or host are defanged, as CyberChef defangs every dot. Other
 * forms, such as `(.)`, are valid characters there.
 *
 *     <hxxps[:]//www[.]example[dot]com/a[.]b>   becomes   https://www.example.com/a.b
 */
export function refangUrl(text: string): string {
  const stripped = stripUrl(text);
  const url = unwrapped(stripped);
  const scheme = SCHEME.exec(url);
  if (scheme === null) return text;
  const [written, name = '', secure = ''] = scheme;
  const real = REAL_SCHEME.test(written) ? written : `${/^f/i.test(name) ? 'ftp' : 'http'}${secure.toLowerCase()}://`;
  const restored = real + refangedRest(url.slice(written.length), END_OF_AUTHORITY, real !== written);
  return restored === stripped ? text : restored;
}

/** The same for a URL without its scheme: `bad[.]example/a[.]sh`. */
export function refangSchemeless(text: string): string {
  return refangedRest(unwrapped(text), END_OF_SCHEMELESS_AUTHORITY, false);
}

/** What follows the scheme. */
function refangedRest(rest: string, endOfAuthority: RegExp, isSchemeDefanged: boolean): string {
  const end = rest.search(endOfAuthority);
  const authority = end === -1 ? rest : rest.slice(0, end);
  const hostAt = authority.lastIndexOf('@') + 1;
  const host = authority.slice(hostAt);
  const realHost = refanged(host);
  const tail = rest.slice(authority.length);
  const realTail = isSchemeDefanged || realHost !== host ? tail.replaceAll('[.]', '.') : tail;
  return authority.slice(0, hostAt) + realHost + realTail;
}

/** The same for a host name, a domain, an address or a network: `198[.]51[.]100[.]0/24`, `2001[:]db8[:][:]1`. */
export function refangHost(text: string): string {
  return refanged(unwrapped(text));
}

function unwrapped(text: string): string {
  return WRAPPED.exec(text)?.slice(1).join('') ?? text;
}

function refanged(host: string): string {
  return host.replace(DOT, '.').replace(COLON, ':');
}
