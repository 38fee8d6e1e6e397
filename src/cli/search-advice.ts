import { URL_ERRORS, type UrlError } from '../core/url/errors.ts';
import { refangHost } from '../core/url/refang.ts';
import { parseSearchKey } from '../urls/search-key.ts';
import { quoted } from './output.ts';

const SCHEME = /^[a-z*]+s?[[(]?:[\])]?\/\//i;

/** What to type instead of `search VALUE`, by what the value looks like. */
export function keyAdvice(value: string): string {
  const flag = keyFlag(value);
  if (SCHEME.test(value) || (value.includes('/') && flag !== 'ip'))
    return `A URL is looked up with: urlwarden lookup ${quoted(value)}`;
  return `The kind of value is missing. Try: urlwarden search --${flag} ${quoted(bareHost(value))}`;
}

/** Why a text is no URL. For a host or an address alone, what to type instead. */
export function refusalText(input: string, error: UrlError): string {
  const host = bareHost(input);
  const flag = keyFlag(host);
  if (error !== 'missing_scheme' || (flag !== 'ip' && flag !== 'host')) return URL_ERRORS[error];
  const what = flag === 'ip' ? 'an address' : 'a host name';
  return `This is ${what}, not a URL. To find its URLs: urlwarden search --${flag} ${quoted(host)}`;
}

/** Without the brackets that an IPv6 address has in a URL. */
function bareHost(text: string): string {
  const host = refangHost(text.trim());
  return /^\[(.+:.+)\]$/.exec(host)?.[1] ?? host;
}

/** The flag of `search` for a value. A word that is nothing else may be a malware family. */
function keyFlag(value: string): 'ip' | 'host' | 'asn' | 'sha256' | 'family' {
  const host = bareHost(value);
  if (parseSearchKey('sha256', value).ok) return 'sha256';
  if (parseSearchKey('asn', value).ok) return 'asn';
  if (parseSearchKey('ip', host).ok) return 'ip';
  return host.includes('.') && parseSearchKey('host', host).ok ? 'host' : 'family';
}
