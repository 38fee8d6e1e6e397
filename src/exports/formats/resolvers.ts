import type { HostEntry } from '../content.ts';
import { type Format, linesOf, TEXT_FORMAT } from './format.ts';
import { hostKey } from './values.ts';

/**
 * A name of 255 bytes has room for `*.`, this name and a zone name of up to 63 characters (RFC 1035 section 3.1: one byte more
 * than characters for each part, and one at the end): 255 − 2 − 64 − 1 − 1. A longer one would make the server refuse the zone.
 */
const RPZ_NAME_MAX_LENGTH = 187;
/** `rpz-ip`, `rpz-nsdname` and others: names below them are rules of another kind. */
const RPZ_RULE = /\.rpz-[a-z0-9-]*$/;

/** Unbound fetches the zone again after the refresh time. Five minutes, then each minute; the last copy is used for a week. */
const SOA_TIMES = '300 60 604800 60';
const TTL_SECONDS = 60;
/** The serial of a zone has 32 bits (RFC 1982). */
const SERIALS = 2 ** 32;

/** All names are relative, so that the zone can have any name. */
export const RPZ: Format = {
  ...TEXT_FORMAT,
  name: 'rpz',
  summary: 'BIND, Unbound, Knot Resolver, PowerDNS: a response policy zone, answers NXDOMAIN',
  contentType: 'text/dns; charset=utf-8', // RFC 4027
  comment: ';',
  hosts: {
    key: rpzName,
    coversSubdomains: true,
    lines(keys, { serial }) {
      const soa = `@ IN SOA localhost. hostmaster.localhost. ${serial % SERIALS} ${SOA_TIMES}`;
      const first = [`$TTL ${TTL_SECONDS}`, soa, '@ IN NS localhost.'];
      return linesOf(first, keys, (host) => `${host} IN CNAME .\n*.${host} IN CNAME .`);
    },
  },
};

function rpzName(entry: HostEntry): string | null {
  const host = hostKey(entry);
  return host === null || host.length > RPZ_NAME_MAX_LENGTH || RPZ_RULE.test(host) ? null : host;
}

export const UNBOUND: Format = {
  ...TEXT_FORMAT,
  name: 'unbound',
  summary: 'Unbound: a file to include, answers NXDOMAIN',
  hosts: {
    key: hostKey,
    coversSubdomains: true,
    lines: (keys) => linesOf(['server:'], keys, (host) => `    local-zone: "${host}." always_nxdomain`),
  },
};

export const DNSMASQ: Format = {
  ...TEXT_FORMAT,
  name: 'dnsmasq',
  summary: 'dnsmasq: a configuration file, answers NXDOMAIN',
  hosts: { key: hostKey, coversSubdomains: true, lines: (keys) => linesOf([], keys, (host) => `local=/${host}/`) },
};
