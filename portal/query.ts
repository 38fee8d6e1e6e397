import { ASN_MAX, parseNetwork } from '../src/core/ip/network.ts';
import { extractUrls } from '../src/core/url/extract.ts';
import { refangHost, refangSchemeless, refangUrl } from '../src/core/url/refang.ts';
import { counted } from './format.ts';

// What a person typed into the box: where it leads, and the other pages that it could mean.

export type Suggestion = {
  kind: 'url' | 'address' | 'network' | 'domain' | 'host' | 'asn' | 'sha256' | 'family' | 'list';
  /** What is looked up, in its real form. */
  text: string;
  path: string;
  /** How many queries the page costs. */
  cost: number;
  /** Only of `list`: its lines. */
  lines?: string;
};

export const KIND_NAMES: Record<Suggestion['kind'], string> = {
  url: 'URL',
  address: 'Address',
  network: 'Network',
  domain: 'Domain',
  host: 'URLs on the host',
  asn: 'URLs in the network',
  sha256: 'URLs with the file',
  family: 'URLs with the family',
  list: 'Bulk lookup',
};

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const ASN = /^(?:asn? ?)?(\d{1,10})$/i;
const SHA256 = /^[0-9a-f]{64}$/i;
/** MD5, SHA-1 and SHA-512. */
const OTHER_HASH = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{128})$/i;
/** Labels separated by dots, letters of any script; the last one is no number. */
const HOST =
  /^(?=.{1,253}$)(?:[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_-]{0,61}[\p{L}\p{N}\p{M}_])?\.)+(?!\d+\.?$)[\p{L}\p{N}\p{M}-]{2,63}\.?$/u;
const FAMILY = /^(?=.*\p{L})[\p{L}\p{N}][\p{L}\p{N} ._+-]{0,127}$/u;
/** `1.2.3`, `999.1.1.1` */
const BROKEN_ADDRESS = /^[\d.]*\.[\d.]*$/;
/** `user@evil.example` */
const MAIL_DOMAIN = /^[^\s@/:]+@([^\s@/]+)$/;

/**
 * The best suggestion first; empty for a text that means nothing to us. A text that is valid keeps its meaning, and what it has
 * inside is offered after it. Two URLs with a blank between them are never one.
 */
export function readQuery(input: string): Suggestion[] {
  const text = input.trim();
  const exact = readExact(text);
  const inside = readInside(text).filter(({ path }) => exact.every((suggestion) => suggestion.path !== path));
  const isGuess = exact[0]?.kind === 'family' || (inside[0]?.kind === 'list' && /\s/.test(text));
  return isGuess ? [...inside, ...exact] : [...exact, ...inside];
}

/** Punctuation of the sentence or the table from which something was copied; `*.` of a list of hosts. */
const BEFORE = /^[\s"'`<({[*,;.]+/;
/** Only at its first character: from each one, 100,000 of them inside a text would take half a minute. */
const AFTER = /(?<![\s"'`>)}\]*,;.:!?])[\s"'`>)}\]*,;.:!?]+$/;

/** `GET http://203.0.113.7/bin.sh`, `http://203.0.113.7/bin.sh (Mirai)`, `(203.0.113.7),` */
function readInside(text: string): Suggestion[] {
  const urls = [...new Set(extractUrls(text))];
  if (urls.length > 1) return [listSuggestion(counted(urls.length, 'URL'), urls.join('\n'))];
  if (urls[0] !== undefined) return [urlSuggestion(refangUrl(urls[0]))];
  const bare = text.replace(BEFORE, '').replace(AFTER, '');
  return bare === text ? [] : readExact(bare).filter(({ kind }) => kind !== 'family');
}

export const listSuggestion = (text: string, lines: string): Suggestion => ({
  kind: 'list',
  text,
  path: '/bulk',
  cost: 1,
  lines,
});

function readExact(text: string): Suggestion[] {
  if (text === '') return [];
  const url = refangUrl(text);
  if (SCHEME.test(url)) return [urlSuggestion(url)];
  const host = refangHost(text);
  const network = parseNetwork(withoutBrackets(host));
  if (network.ok) return [networkSuggestion(network.network.canonical, network.network.cost)];
  const asn = ASN.exec(text)?.[1];
  if (asn !== undefined) return Number(asn) > ASN_MAX ? [] : [searchSuggestion('asn', asn, `AS${asn}`)];
  if (SHA256.test(text)) return [searchSuggestion('sha256', text.toLowerCase())];
  const mailDomain = MAIL_DOMAIN.exec(host)?.[1];
  if (mailDomain !== undefined && HOST.test(mailDomain))
    return hostSuggestions(mailDomain.toLowerCase()).filter(({ kind }) => kind !== 'family');
  if (HOST.test(host)) return hostSuggestions(host.toLowerCase().replace(/\.$/, '')); // logs of name servers have the dot
  const hasSlashes = text.startsWith('//'); // a page of either scheme can link to it
  const bare = refangSchemeless(hasSlashes ? text.slice(2) : text);
  const end = bare.replace(AFTER, '').search(/[/?#]/); // `a.example?` ends a sentence, not a URL
  const authority = end === -1 ? bare : bare.slice(0, end);
  if ((hasSlashes || authority !== bare) && isHostWithPort(authority))
    return [urlSuggestion(`http://${bare}`), urlSuggestion(`https://${bare}`)];
  if (isHostWithPort(host)) return [urlSuggestion(`http://${host}/`), ...readExact(host.replace(PORT, '')).slice(0, 1)];
  return FAMILY.test(text) && !OTHER_HASH.test(text) ? [searchSuggestion('family', text)] : [];
}

/** An IPv6 address is in brackets in a URL. */
export const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/** The address that the host of a URL is; null for a name. */
export function hostAddress(host: string): string | null {
  const parsed = parseNetwork(withoutBrackets(host));
  return parsed.ok && !parsed.network.canonical.includes('/') ? parsed.network.canonical : null;
}

/** What to say about a text that means nothing to us. */
export function refusalText(input: string): string {
  if (BROKEN_ADDRESS.test(refangHost(input.trim())))
    return 'This is not a complete address. One looks like 203.0.113.7.';
  return OTHER_HASH.test(input.trim())
    ? 'Files are looked up by their SHA-256, which has 64 digits. This is another hash.'
    : 'This is none of the things that can be looked up.';
}

const PORT = /:\d{1,5}$/;

/** `example.com:8080`, `203.0.113.7:80`, `[2001:db8::1]:80`, `203.0.113.7` before a path. */
function isHostWithPort(text: string): boolean {
  const host = text.replace(PORT, '');
  if (HOST.test(host)) return true;
  const inBrackets = /^\[(.*:.*)\]$/.exec(host)?.[1];
  return (inBrackets !== undefined || host.includes('.')) && parseNetwork(inBrackets ?? host).ok;
}

/** A half surrogate has no UTF-8: encodeURIComponent alone throws. */
export const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

export const urlPath = (url: string): string => `/url?u=${encoded(url)}`;
export const addressPath = (ip: string): string => `/address/${ip}`;
/** Of an address or a network. */
export const networkPath = (cidr: string): string => (cidr.includes('/') ? `/network/${cidr}` : addressPath(cidr));
export const domainPath = (name: string): string => `/domain/${encoded(name)}`;

export type SearchName = 'ip' | 'host' | 'asn' | 'malware_family' | 'sha256';
export const searchPath = (name: SearchName, value: string): string => `/search?${name}=${encoded(value)}`;
/** Without a limit of time: from a page that shows what was ever seen, the last twelve months may have nothing. */
export const searchAllPath = (name: SearchName, value: string): string => `${searchPath(name, value)}&since=0`;

/** The widest network with a page of its own, by version: the server refuses wider ones. */
const WIDEST_PAGE = { 4: 24, 6: 56 } as const;

/** `cidr` is canonical. */
export function hasPage(cidr: string): boolean {
  const [ip = '', mask] = cidr.split('/');
  return mask === undefined || Number(mask) >= WIDEST_PAGE[ip.includes(':') ? 6 : 4];
}

/** The page of a network, or a search for its URLs if it is too wide for a page. */
export const networkTarget = (cidr: string): string => (hasPage(cidr) ? networkPath(cidr) : searchPath('ip', cidr));

const urlSuggestion = (url: string): Suggestion => ({ kind: 'url', text: url, path: urlPath(url), cost: 1 });

const networkSuggestion = (cidr: string, cost: number): Suggestion => ({
  kind: cidr.includes('/') ? 'network' : 'address',
  text: cidr,
  path: networkTarget(cidr),
  cost,
});

function hostSuggestions(host: string): Suggestion[] {
  return [
    { kind: 'domain', text: host, path: domainPath(host), cost: 1 },
    { kind: 'host', text: host, path: searchPath('host', host), cost: 1 },
    searchSuggestion('family', host),
  ];
}

function searchSuggestion(kind: 'asn' | 'sha256' | 'family', value: string, text = value): Suggestion {
  return { kind, text, path: searchPath(kind === 'family' ? 'malware_family' : kind, value), cost: 1 };
}
