import { IP_BYTES } from '../../core/ip/address.ts';
import {
  formatKeyNetwork,
  IPV4_OFFSET,
  isIpv4Network,
  KEY_BITS,
  type KeyNetwork,
  networkAt,
} from '../../core/ip/key-network.ts';
import type { AddressEntry, HostEntry } from '../content.ts';

// Which values may be written into a file at all. Stored values are normalized (docs/url-rules.md) and pass; these checks
// hold even if one is not, because a single bad line can make a program refuse the whole file, or block something else.

/**
 * At least two labels: one alone would block a top-level domain, or `localhost`. The last one begins with a letter, so that
 * no address passes.
 */
const HOST_NAME = /^(?:[a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{0,62}$/;
/** RFC 1035 section 2.3.4: 255 bytes with the lengths of the labels, which are 253 characters. */
const HOST_NAME_MAX_LENGTH = 253;

const isHostName = (host: string): boolean => host.length <= HOST_NAME_MAX_LENGTH && HOST_NAME.test(host);

export const hostKey = ({ host }: HostEntry): string | null => (isHostName(host) ? host : null);

/** No credentials, no fragment, and nothing but visible ASCII: no space, no line break. */
const URL_PARTS = /^(https?|ftp):\/\/(\[[0-9a-f:.]{2,45}\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(:[0-9]{1,5})?(\/[!"$-~]*)$/;
/** Rule N1. */
const URL_MAX_LENGTH = 8_192;

/** `port` has its colon, and is empty for the default port. `path` has the query. */
export type UrlParts = { scheme: string; host: string; port: string; path: string };

export const isUrl = (url: string): boolean => url.length <= URL_MAX_LENGTH && URL_PARTS.test(url);

export function urlParts(url: string): UrlParts | null {
  const found = url.length <= URL_MAX_LENGTH ? URL_PARTS.exec(url) : null;
  if (found === null) return null;
  const [, scheme = '', host = '', port = '', path = ''] = found;
  return { scheme, host, port, path };
}

/** Null also for networks of all addresses of a family: such a list would block everything. */
export function networkKey({ network }: Pick<AddressEntry, 'network'>): string | null {
  const { ip, prefix } = network;
  if (ip.length !== IP_BYTES || !Number.isInteger(prefix) || prefix < 1 || prefix > KEY_BITS) return null;
  const cleared: KeyNetwork = networkAt(ip, prefix);
  return prefix === IPV4_OFFSET && isIpv4Network(cleared) ? null : formatKeyNetwork(cleared);
}

/** What some program takes for the end of a line, and other characters that are not text. */
const NO_TEXT = /[\p{Cc}\u2028\u2029]+/gu;

/** Text of others on one line. */
export const oneLine = (text: string): string => text.toWellFormed().replace(NO_TEXT, ' ');

/** The name of a list as it was defined, and nothing else. */
export const listName = (name: string): string => name.replace(/[^a-z0-9-]/g, '').slice(0, 64) || 'list';
