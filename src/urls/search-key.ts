import { ASN_MAX, type Network, parseNetwork } from '../core/ip/network.ts';
import { foldFamily } from '../core/text.ts';
import { parseHostKey } from '../core/url/host.ts';
import { URL_MAX_LENGTH } from '../core/url/normalize.ts';

/** What a search looks for, normalized as in the store. */
export type SearchKey =
  | { by: 'ip'; network: Network }
  | { by: 'host'; host: string }
  | { by: 'asn'; asn: number }
  | { by: 'family'; folded: string }
  | { by: 'sha256'; sha256: string };

export type SearchKeyName = 'ip' | 'host' | 'asn' | 'malware_family' | 'sha256';

/** `reason` begins with the name of the key and says what is accepted. */
type ParsedSearchKey = { ok: true; key: SearchKey } | { ok: false; reason: string };

const FAMILY_MAX_LENGTH = 128;

const ASN = /^(?:as)?(0|[1-9][0-9]{0,9})$/i;
const SHA256 = /^[0-9a-f]{64}$/i;

/** Only `asn` may be a number; nothing else is coerced. */
export function parseSearchKey(name: SearchKeyName, value: string | number): ParsedSearchKey {
  if (name === 'asn') return parseAsn(value);
  if (typeof value !== 'string') return refused(`${name} must be a string`);
  switch (name) {
    case 'ip':
      return parseIpKey(value);
    case 'host':
      return parseHost(value);
    case 'malware_family':
      return parseFamily(value);
    case 'sha256':
      return parseSha256(value);
  }
}

/** How many queries a search counts as: a network by its size (rule C7), everything else one. */
export function searchCost(key: SearchKey): number {
  return key.by === 'ip' ? key.network.cost : 1;
}

function parseIpKey(value: string): ParsedSearchKey {
  const parsed = parseNetwork(value);
  return parsed.ok ? accepted({ by: 'ip', network: parsed.network }) : parsed;
}

/** Checks for well-formed Unicode first: IDNA drops a soft hyphen, and two half surrogates around it would join. */
function parseHost(value: string): ParsedSearchKey {
  const parsed = value.length <= URL_MAX_LENGTH && value.isWellFormed() ? parseHostKey(value) : null;
  if (parsed?.ok) return accepted({ by: 'host', host: parsed.host });
  return refused(
    'host must be one DNS name, IPv4 address or IPv6 address (with or without brackets), ' +
      'without scheme, port, path or credentials: example.com, 192.0.2.1, 2001:db8::1',
  );
}

/** `64500`, `"64500"`, `"AS64500"`. JSON has -0, which is not the same key as 0 for every store. */
function parseAsn(value: string | number): ParsedSearchKey {
  const asn = typeof value === 'number' ? value : Number(ASN.exec(value)?.[1] ?? Number.NaN);
  if (Number.isInteger(asn) && asn >= 0 && asn <= ASN_MAX) return accepted({ by: 'asn', asn: Math.abs(asn) });
  return refused(
    `asn must be an integer from 0 to ${ASN_MAX}, or the same as a string, with or without AS: 64500, "AS64500"`,
  );
}

function parseFamily(value: string): ParsedSearchKey {
  if (value !== '' && [...value].length <= FAMILY_MAX_LENGTH && value.isWellFormed()) {
    return accepted({ by: 'family', folded: foldFamily(value) });
  }
  return refused(`malware_family must be 1 to ${FAMILY_MAX_LENGTH} characters of well-formed Unicode: Mirai`);
}

function parseSha256(value: string): ParsedSearchKey {
  if (SHA256.test(value)) return accepted({ by: 'sha256', sha256: value.toLowerCase() });
  return refused('sha256 must be 64 hexadecimal digits');
}

function accepted(key: SearchKey): ParsedSearchKey {
  return { ok: true, key };
}

function refused(reason: string): ParsedSearchKey {
  return { ok: false, reason };
}
