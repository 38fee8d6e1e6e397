import { detailsText } from '../core/evidence.ts';
import { formatIp, parseIp } from '../core/ip/address.ts';
import { ASN_MAX } from '../core/ip/network.ts';
import { textFault } from '../core/text.ts';

/** Keys of a listing that are not part of its identity. All of them are optional; null means unknown. */
export type ListingDetails = Readonly<Record<string, unknown>>;

/** Why a value is refused. */
export type Fault = { fault: string };

export const PORT_MAX = 65_535;
export const PORT_REASON = `must be a port from 0 to ${PORT_MAX}`;
/** RFC 5321 section 4.5.3.1.2: the maximum length of a domain, as HELO gives it. */
const HELO_MAX_LENGTH = 255;
const HEURISTIC = /^[A-Z0-9][A-Z0-9_-]{0,31}$/;
const TEXT_REASON = 'must be a string';

type ToDetail = (value: unknown) => unknown | Fault;

const fault = (reason: string): Fault => ({ fault: reason });
const toText: ToDetail = (value) =>
  typeof value === 'string' ? (textFault(value) === null ? value : fault(`${textFault(value)}`)) : fault(TEXT_REASON);
const toIp: ToDetail = (value) => {
  const ip = typeof value === 'string' ? parseIp(value) : null;
  return ip === null ? fault('must be an IP address') : formatIp(ip);
};
const toBoolean: ToDetail = (value) => (typeof value === 'boolean' ? value : fault('must be true or false'));
const toNumber =
  (max: number): ToDetail =>
  (value) =>
    typeof value === 'number' && Math.abs(value) <= max ? value : fault(`must be a number from -${max} to ${max}`);

/** The details of a listing, in the order of the record. */
const DETAILS: Readonly<Record<string, ToDetail>> = {
  heuristic(value) {
    const word = typeof value === 'string' ? value.toUpperCase() : '';
    return HEURISTIC.test(word) ? word : fault('must be a word of up to 32 letters, digits, - and _');
  },
  asn(value) {
    const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
    return isInteger(number, 0, ASN_MAX) ? String(number) : fault(`must be an AS number from 0 to ${ASN_MAX}`);
  },
  cc(value) {
    return typeof value === 'string' && /^[A-Za-z]{2}$/.test(value)
      ? value.toUpperCase()
      : fault('must be the two letters of a country');
  },
  lat: toNumber(90),
  lon: toNumber(180),
  dstip: toIp,
  srcip: toIp,
  srcport: (value) => (isInteger(value, 0, PORT_MAX) ? value : fault(PORT_REASON)),
  protocol: toText,
  helo: (value) => {
    const reason = typeof value === 'string' ? heloFault(value) : TEXT_REASON;
    return reason === null ? value : fault(reason);
  },
  subject: toText,
  domain: toText,
  detection: toText,
  abused: toBoolean,
  shared: toBoolean,
};

export const DETAIL_KEYS: readonly string[] = Object.keys(DETAILS);

/** JSON with sorted keys; empty without any. */
export function toDetails(details: ListingDetails): string | Fault {
  const checked: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(details)) {
    if (value === null || value === undefined) continue;
    const toDetail = Object.hasOwn(DETAILS, key) ? DETAILS[key] : undefined;
    if (toDetail === undefined) return fault(`unknown key ${JSON.stringify(key)}`);
    const detail = toDetail(value);
    if (isFault(detail)) return fault(`${key}: ${detail.fault}`);
    checked[key] = detail;
  }
  return detailsText(checked);
}

function isFault(value: unknown): value is Fault {
  return typeof value === 'object' && value !== null && 'fault' in value;
}

export function heloFault(helo: string): string | null {
  if (helo.length > HELO_MAX_LENGTH) return `at most ${HELO_MAX_LENGTH} characters`;
  return textFault(helo);
}

export function isInteger(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}
