import {
  ADDRESS_DATASETS,
  type AddressDataset,
  DOMAIN_KINDS,
  type DomainEvidence,
  type DomainFact,
  type DomainKind,
  type ListingEvidence,
} from '../core/evidence.ts';
import { formatIp } from '../core/ip/address.ts';
import { formatKeyNetwork, KEY_BITS } from '../core/ip/key-network.ts';
import { isObject } from '../core/json-object.ts';
import type { DomainInput, EvidenceInput, FactInput, ListingInput } from './evidence.ts';
import { sourceNameFault } from './import-sources.ts';
import {
  type Check,
  checkAddresses,
  checkInteger,
  checkOneOf,
  checkSeconds,
  checkText,
  checkTexts,
  checkTime,
  keyFault,
  missingKey,
  orNull,
} from './json-checks.ts';
import { DETAIL_KEYS, PORT_MAX } from './listing-details.ts';

/** A JSON object that is evidence has one of these keys; an observation of a URL has none of them. */
export function isEvidence(value: Record<string, unknown>): boolean {
  return Object.hasOwn(value, 'dataset') || Object.hasOwn(value, 'domain');
}

/**
 * Parses evidence in JSON, or returns why it is refused.
 *
 *     {"ts":1731628800,"ip":"203.0.113.7","dataset":"BCL","botname":"Mirai","dstport":443}
 *     {"ts":1731628800,"domain":"www.example.com","kind":"phishing","confidence":75}
 *     {"ts":1731628800,"domain":"www.example.com","a":["203.0.113.7"]}
 *
 * Unknown keys are refused: a typo must not lose data silently. `evidence.ts` checks addresses and names.
 */
export function parseEvidence(value: Record<string, unknown>, nowTs: number): EvidenceInput | string {
  if (Object.hasOwn(value, 'dataset')) return parseListing(value, nowTs);
  return Object.hasOwn(value, 'kind') ? parseDomain(value, nowTs) : parseFact(value, nowTs);
}

const checkFeed: Check = (value) => (typeof value === 'string' ? sourceNameFault(value) : checkText(value));
const checkBoolean = checkOneOf(true, false);
/** Values that `evidence.ts` checks. */
const anyValue: Check = () => null;

const LISTING: Record<string, Check> = {
  ts: checkTime,
  ip: (value) => (typeof value === 'string' && !value.includes('/') ? null : 'must be an IP address'),
  cidr: (value) => (typeof value === 'string' ? null : 'must be a network in CIDR notation'),
  dataset: checkOneOf(...ADDRESS_DATASETS),
  feed: checkFeed,
  listed: checkTime,
  botname: checkText,
  dstport: checkInteger(PORT_MAX),
  ...Object.fromEntries(DETAIL_KEYS.map((key) => [key, anyValue])),
};

function parseListing(value: Record<string, unknown>, nowTs: number): ListingInput | string {
  const fault = keyFault(value, LISTING, nowTs) ?? missingKey(value, ['ts']);
  if (fault !== null) return fault;
  const { ts, ip, cidr, dataset, feed, listed, botname, dstport, ...details } = value;
  if ((ip === undefined) === (cidr === undefined)) return 'exactly one of ip and cidr is needed';
  const empty = Object.entries(details).find(([, detail]) => detail === null);
  if (empty !== undefined) return `${empty[0]}: must not be null; leave the key out`;
  return {
    type: 'listing',
    ts: Number(ts),
    network: String(ip ?? cidr),
    dataset: dataset as AddressDataset,
    source: feed as string | undefined,
    listedTs: listed as number | undefined,
    botname: botname as string | undefined,
    dstport: dstport as number | undefined,
    ...(Object.keys(details).length > 0 && { details }),
  };
}

const DOMAIN: Record<string, Check> = {
  ts: checkTime,
  domain: checkText,
  kind: checkOneOf(...DOMAIN_KINDS),
  feed: checkFeed,
  confidence: anyValue,
  botname: checkText,
  abused: checkBoolean,
  tags: (value) => checkTexts(value),
};

function parseDomain(value: Record<string, unknown>, nowTs: number): DomainInput | string {
  const fault = keyFault(value, DOMAIN, nowTs) ?? missingKey(value, ['ts', 'domain']);
  if (fault !== null) return fault;
  return {
    type: 'domain',
    ts: Number(value.ts),
    domain: String(value.domain),
    kind: value.kind as DomainKind,
    source: value.feed as string | undefined,
    confidence: value.confidence as number | undefined,
    botname: value.botname as string | undefined,
    isAbused: value.abused as boolean | undefined,
    tags: value.tags as string[] | undefined,
  };
}

const checkObject =
  (checks: Record<string, Check>, required: readonly string[]): Check =>
  (value, nowTs) =>
    isObject(value) ? (keyFault(value, checks, nowTs) ?? missingKey(value, required)) : 'must be an object';

/** A fact has exactly one of them. */
const FACTS: Record<string, Check> = {
  a: checkAddresses,
  ns: checkAddresses,
  sender: checkObject({ ip: checkText, helo: checkText }, ['ip']),
  whois: checkObject({ created: orNull(checkTime), expires: orNull(checkSeconds), registrar: orNull(checkText) }, []),
  rank: anyValue,
};
const FACT: Record<string, Check> = { ts: checkTime, domain: checkText, feed: checkFeed, ...FACTS };

function parseFact(value: Record<string, unknown>, nowTs: number): FactInput | string {
  const fault = keyFault(value, FACT, nowTs) ?? missingKey(value, ['ts']);
  if (fault !== null) return fault;
  const [key, other] = Object.keys(FACTS).filter((name) => Object.hasOwn(value, name));
  if (key === undefined || other !== undefined) {
    return `with domain, exactly one of dataset, kind, ${Object.keys(FACTS).join(', ')} is needed`;
  }
  const input = { type: 'fact', ts: value.ts, domain: value.domain, source: value.feed };
  const given = key === 'a' || key === 'ns' ? [value[key]].flat() : value[key];
  return { ...input, [key]: given } as FactInput;
}

/** One line without a line feed, as all of these. Absent keys stay absent; the order of keys is fixed. */
export function printListing(evidence: ListingEvidence): string {
  const { source, network, dataset, family, port, listedTs, ts, details } = evidence;
  const text = formatKeyNetwork(network);
  return JSON.stringify({
    ts,
    ...(network.prefix === KEY_BITS ? { ip: text } : { cidr: text }),
    dataset,
    feed: source,
    listed: listedTs === ts ? undefined : listedTs,
    botname: family ?? undefined,
    dstport: port ?? undefined,
    ...(details === '' ? {} : JSON.parse(details)),
  });
}

export function printDomainEvidence(evidence: DomainEvidence): string {
  const { source, name, kind, ts, confidence, botname, isAbused, tags } = evidence;
  return JSON.stringify({
    ts,
    domain: name.hostname,
    kind,
    feed: source,
    confidence,
    botname: botname ?? undefined,
    abused: isAbused ?? undefined,
    tags: tags.length > 0 ? tags : undefined,
  });
}

export function printFact(fact: DomainFact): string {
  return JSON.stringify({ ts: fact.ts, domain: fact.name.hostname, ...printedFact(fact) });
}

function printedFact(fact: DomainFact): Record<string, unknown> {
  switch (fact.kind) {
    case 'a':
      return { a: fact.ips.map(formatIp) };
    case 'ns':
      return { ns: fact.servers.map(({ hostname }) => hostname) };
    case 'sender':
      return { sender: { ip: formatIp(fact.ip), helo: fact.helo === '' ? undefined : fact.helo } };
    case 'whois': {
      const { createdTs, expiresTs, registrar } = fact;
      const created = createdTs ?? undefined;
      return { whois: { created, expires: expiresTs ?? undefined, registrar: registrar ?? undefined } };
    }
    case 'rank':
      return { feed: fact.source, rank: fact.rank };
  }
}
