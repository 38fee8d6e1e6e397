import { refangHost } from '../core/url/refang.ts';
import { parseSearchKey } from '../urls/search-key.ts';
import { quoted } from './output.ts';

const SCHEME = /^[a-z*]+s?[[(]?:[\])]?\/\//i;

/** What to type instead of `search VALUE`, by what the value looks like. */
export function keyAdvice(value: string): string {
  const flag = keyFlag(value);
  if (SCHEME.test(value) || (value.includes('/') && flag !== 'ip'))
    return `A URL is looked up with: urlwarden lookup ${quoted(value)}`;
  return `The kind of value is missing. Try: urlwarden search --${flag} ${quoted(refangHost(value))}`;
}

/** The flag of `search` for a value. A word that is nothing else may be a malware family. */
export function keyFlag(value: string): 'ip' | 'host' | 'asn' | 'sha256' | 'family' {
  const host = refangHost(value);
  if (parseSearchKey('sha256', value).ok) return 'sha256';
  if (parseSearchKey('asn', value).ok) return 'asn';
  if (parseSearchKey('ip', host).ok) return 'ip';
  return host.includes('.') && parseSearchKey('host', host).ok ? 'host' : 'family';
}
