import type { UrlEntry } from '../content.ts';
import { type Format, linesOf, TEXT_FORMAT } from './format.ts';
import { hostKey, urlParts } from './values.ts';

/** `*`, `^` and `|` are wildcards and anchors, `\` escapes, and there is no way to write them as themselves. */
const SPECIAL = /[*^|\\]/;
/** The default of programs is days. */
const EXPIRES = '! Expires: 1 hours';

export const ADBLOCK: Format = {
  ...TEXT_FORMAT,
  name: 'adblock',
  summary: 'uBlock Origin, AdGuard, AdGuard Home',
  comment: '!',
  hosts: { key: hostKey, coversSubdomains: true, lines: (keys) => linesOf([EXPIRES], keys, (host) => `||${host}^`) },
  urls: { key: urlFilter, lines: (keys) => linesOf([EXPIRES], keys, (filter) => filter) },
};

/** Filters of browsers are for http and https. `||` cannot be followed by a bracket. */
function urlFilter({ url }: UrlEntry): string | null {
  const parts = urlParts(url);
  if (parts === null || parts.scheme === 'ftp' || parts.host.startsWith('[') || SPECIAL.test(url)) return null;
  return `||${parts.host}${parts.port}${parts.path}^$all`;
}
