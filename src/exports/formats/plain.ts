import type { UrlEntry } from '../content.ts';
import { type Format, TEXT_FORMAT } from './format.ts';
import type { Profile } from './profiles.ts';
import { hostKey, networkKey, urlParts } from './values.ts';

const asLines = (keys: readonly string[]): string[] => [...keys];

export const TXT: Format = {
  ...TEXT_FORMAT,
  name: 'txt',
  summary: 'firewalls, proxies, scripts: one URL, name or network per line',
  takesProfile: true,
  urls: { key: urlLine, lines: asLines },
  hosts: { key: hostKey, lines: asLines },
  addresses: { key: networkKey, lines: asLines },
};

/** A name without those below it: a hosts file has no wildcards. */
export const HOSTS: Format = {
  ...TEXT_FORMAT,
  name: 'hosts',
  summary: 'Pi-hole, AdGuard Home, /etc/hosts',
  hosts: { key: hostKey, lines: (keys) => keys.map((host) => `0.0.0.0 ${host}`) },
};

function urlLine({ url }: UrlEntry, profile: Profile | null): string | null {
  const parts = urlParts(url);
  if (parts === null || profile === null) return parts && url;
  const { hasScheme, maxLength, wildcards } = profile.urls;
  const line = hasScheme ? url : `${parts.host}${parts.port}${parts.path}`;
  const isTooLong = maxLength !== null && line.length > maxLength;
  return isTooLong || wildcards.test(line) ? null : line;
}
