import { ASN_MAX } from '../core/ip/network.ts';
import { isObject, parseJson } from '../core/json-object.ts';
import { MAX_TAGS, type ObservationInput, tagFault } from '../core/observation.ts';
import { PAYLOAD } from '../urls/wire.ts';
import {
  type Check,
  checkAddresses,
  checkInteger,
  checkOneOf,
  checkText,
  checkTime,
  keyFault,
  missingKey,
  orNull,
} from './json-checks.ts';

export const SHA256_PATTERN = '^[0-9A-Fa-f]{64}$';

const SHA256 = new RegExp(SHA256_PATTERN);

const checkSha256: Check = (value) =>
  typeof value === 'string' && SHA256.test(value) ? null : 'must be 64 hexadecimal digits';

type PayloadName = keyof typeof PAYLOAD;

const PAYLOAD_KEYS = Object.entries(PAYLOAD) as [name: PayloadName, key: string][];

const PAYLOAD_VALUE_CHECKS: Record<PayloadName, Check> = {
  ts: checkTime,
  mimeType: orNull(checkText),
  fileType: orNull(checkText),
  fileExt: orNull(checkText),
  fileSize: orNull(checkInteger(Number.MAX_SAFE_INTEGER)),
  fileName: orNull(checkText),
  sha256: orNull(checkSha256),
  family: orNull(checkText),
};
/** By JSON key. */
const PAYLOAD_CHECKS: Record<string, Check> = Object.fromEntries(
  PAYLOAD_KEYS.map(([name, key]) => [key, PAYLOAD_VALUE_CHECKS[name]]),
);

const checkTags: Check = (value) => {
  if (!Array.isArray(value) || !value.every((tag) => typeof tag === 'string')) return 'must be a list of strings';
  if (value.length > MAX_TAGS) return `at most ${MAX_TAGS} tags`;
  return value.map(tagFault).find((fault) => fault !== null) ?? null;
};

/** `normalizeUrl` checks the URL itself; a URL may be longer than other texts. */
const CHECKS: Record<string, Check> = {
  ts: checkTime,
  url: (value) => (typeof value === 'string' ? null : 'must be a string'),
  status: checkOneOf('online', 'offline', 'removed', null),
  removal: checkText,
  reporter: checkText,
  ip: checkAddresses,
  asn: checkInteger(ASN_MAX),
  tags: checkTags,
  payload: (value, nowTs) => {
    if (!isObject(value)) return 'must be an object';
    return Object.keys(value).length === 0 ? 'must have at least one key' : keyFault(value, PAYLOAD_CHECKS, nowTs);
  },
};

/**
 * Parses an observation in JSON: a line of text, or the parsed value. Returns why it is refused as a string.
 *
 *     {"ts":1731628800,"url":"http://203.0.113.7/a.sh","ip":"203.0.113.7","asn":64500,"payload":{"file_ext":"sh"}}
 *
 * Unknown keys are refused: a typo must not lose data silently. `toObservation` checks addresses and the URL.
 */
export function parseObservation(line: unknown, nowTs: number): ObservationInput | string {
  const value = typeof line === 'string' ? parseJson(line) : line;
  if (!isObject(value)) return 'must be a JSON object';
  return keyFault(value, CHECKS, nowTs) ?? missingKey(value, ['ts', 'url']) ?? contradiction(value) ?? toInput(value);
}

/** One line without a line feed. Absent keys stay absent; the order of keys is fixed. */
export function printObservation(input: ObservationInput): string {
  const { ts, url, status, removal, reporter, ip, asn, tags, payload } = input;
  const printed = payload && Object.fromEntries(PAYLOAD_KEYS.map(([name, key]) => [key, payload[name]]));
  return JSON.stringify({ ts, url, status, removal, reporter, ip, asn, tags, payload: printed });
}

/** Checks combinations of keys; the types of the values are already checked. */
function contradiction({ status, removal = '', ip, asn }: Record<string, unknown>): string | null {
  if (removal !== '' && status !== 'removed') return 'removal is allowed only with status "removed"';
  const isSingle = typeof ip === 'string' || (Array.isArray(ip) && ip.length === 1);
  return asn === undefined || isSingle ? null : 'asn is allowed only with a single ip';
}

function toInput({ payload, ...rest }: Record<string, unknown>): ObservationInput {
  if (!isObject(payload)) return rest as ObservationInput;
  const given = PAYLOAD_KEYS.filter(([, key]) => Object.hasOwn(payload, key));
  return { ...rest, payload: Object.fromEntries(given.map(([name, key]) => [name, payload[key]])) } as ObservationInput;
}
