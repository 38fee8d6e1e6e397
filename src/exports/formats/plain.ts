import type { UrlEntry } from '../content.ts';
import { type Format, linesOf, TEXT_FORMAT } from './format.ts';
import type { Profile } from './profiles.ts';
import { hostKey, isUrl, networkKey, urlParts } from './values.ts';

const asLines = (keys: Iterable<string>): Iterable<string> => keys;

export const TXT: Format = {
  ...TEXT_FORMAT,
  name: 'txt',
  summary: 'firewalls, proxies, scripts: one URL, name or network per line',
  takesProfile: true,
  urls: { key: urlLine, isUnique: (profile) => profile?.urls.hasScheme ?? true, lines: asLines },
  hosts: { key: hostKey, isUnique: () => true, lines: asLines },
  addresses: { key: networkKey, lines: asLines },
};

/** A name without those below it: a hosts file has no wildcards. */
export const HOSTS: Format = {
  ...TEXT_FORMAT,
  name: 'hosts',
  summary: 'Pi-hole, AdGuard Home, /etc/hosts',
  hosts: { key: hostKey, lines: (keys) => linesOf([], keys, (host) => `0.0.0.0 ${host}`) },
};

function urlLine({ url }: UrlEntry, profile: Profile | null): string | null {
  if (profile === null) return isUrl(url) ? url : null;
  const parts = urlParts(url);
  if (parts === null) return null;
  const { hasScheme, maxLength, wildcards } = profile.urls;
  const line = hasScheme ? url : `${parts.host}${parts.port}${parts.path}`;
  const isTooLong = maxLength !== null && line.length > maxLength;
  return isTooLong || wildcards.test(line) ? null : line;
}
