import { type DomainName, parseDomainName } from '../core/domain-name.ts';
import {
  type AddressDataset,
  DOMAIN_TAGS,
  type DomainEvidence,
  type DomainFact,
  type DomainKind,
  type DomainTag,
  type ListEntry,
  type ListingEvidence,
  NAME_LIST_KINDS,
  type NameListKind,
  NETWORK_LIST_KINDS,
  type NetworkListKind,
  OPERATOR_SOURCE,
} from '../core/evidence.ts';
import { formatIp, isIpv4, parseIp } from '../core/ip/address.ts';
import { formatKeyNetwork, IPV4_OFFSET, type KeyNetwork, parseKeyNetwork } from '../core/ip/key-network.ts';
import { isReserved } from '../core/ip/reserved.ts';
import { foldFamily, knownText, textFault } from '../core/text.ts';
import { parseHostKey } from '../core/url/host.ts';
import { timeFault } from './json-checks.ts';
import {
  type Fault,
  heloFault,
  isInteger,
  type ListingDetails,
  PORT_MAX,
  PORT_REASON,
  toDetails,
} from './listing-details.ts';

// What sources say about addresses and domains, as they give it. Texts are not normalized, unknown values are left out.

type Input = {
  ts: number;
  /** The source that it counts for; default: that of the import. */
  source?: string | undefined;
};

/** `network` was listed at `ts`, or from `listedTs` to `ts` without a gap. */
export type ListingInput = Input & {
  type: 'listing';
  network: string;
  dataset: AddressDataset;
  listedTs?: number | undefined;
  botname?: string | null | undefined;
  dstport?: number | null | undefined;
  details?: ListingDetails | undefined;
};

export type DomainInput = Input & {
  type: 'domain';
  domain: string;
  kind: DomainKind;
  /** Default: 100. */
  confidence?: number | undefined;
  botname?: string | null | undefined;
  isAbused?: boolean | null | undefined;
  tags?: readonly string[] | undefined;
};

export type FactInput = Input & { type: 'fact'; domain: string } & (
    | { a: readonly string[] }
    | { ns: readonly string[] }
    | { sender: { ip: string; helo?: string | undefined } }
    | { whois: { created?: number | null; expires?: number | null; registrar?: string | null } }
    | { rank: number }
  );

/** `entry`: an address, a network or a name; a leading dot is ignored. */
export type ListInput = Input & { type: 'list'; as: ImportedListKind; entry: string; reason?: string | undefined };

/** What an imported list says about its networks or names. Lists for devices have kinds of their own (`exports/content.ts`). */
export type ImportedListKind = NetworkListKind | NameListKind;
export const IMPORTED_LIST_KINDS: readonly ImportedListKind[] = [
  ...new Set([...NETWORK_LIST_KINDS, ...NAME_LIST_KINDS]),
];

export type EvidenceInput = ListingInput | DomainInput | FactInput | ListInput;

/** What decides whether evidence is accepted. */
export type EvidenceRules = {
  /** The source of evidence that names none. */
  source: string;
  nowTs: number;
  /** Accept private, documentation and other reserved networks. */
  allowReserved: boolean;
  /** Whether a network is inside an entry of an allow list. */
  isAllowed(network: KeyNetwork): boolean;
};

/** The widest networks that a source may list: a wider one is a mistake. */
const IPV4_PREFIX_MIN = 8;
const IPV6_PREFIX_MIN = 16;

/** More addresses or name servers of one name are a mistake of the source. */
const FACT_VALUES_MAX = 1_000;
/** `botname` of a listing whose family is not known. */
const UNKNOWN_FAMILY = 'unknown';
const DEFAULT_CONFIDENCE = 100;

/** Returns the reason of a refusal as a string, as all functions here. */
export function toListing(input: ListingInput, rules: EvidenceRules): ListingEvidence | string {
  const { ts, listedTs = ts, dataset, botname, dstport = null, details } = input;
  const fault = timeFault(ts, rules.nowTs) ?? (listedTs === ts ? null : intervalFault(listedTs, ts));
  if (fault !== null) return fault;
  const network = toNetwork(input.network);
  if (typeof network === 'string') return network;
  if (!rules.allowReserved && isReserved(network)) return RESERVED;
  if (rules.isAllowed(network)) return `${JSON.stringify(input.network)} is on an allow list`;
  const family = toFamily(botname);
  if (family !== null && 'fault' in family) return family.fault;
  if (dstport !== null && !isInteger(dstport, 0, PORT_MAX)) return `dstport: ${PORT_REASON}`;
  const checked = details === undefined ? '' : toDetails(details);
  if (typeof checked !== 'string') return checked.fault;
  return {
    source: input.source ?? rules.source,
    network,
    dataset,
    family: family?.name ?? null,
    port: dstport,
    listedTs,
    ts,
    details: checked,
  };
}

type OperatorListing = Pick<ListingInput, 'dataset' | 'botname' | 'dstport'> & {
  network: KeyNetwork;
  heuristic?: string | undefined;
  abused?: boolean | undefined;
  reason?: string | undefined;
};

/** What an operator lists from now on, checked like a row of an import. */
export function toOperatorListing(
  { network, heuristic, abused, reason, ...listed }: OperatorListing,
  nowTs: number,
  allowReserved: boolean,
): ListingEvidence | string {
  const details = { heuristic, abused: abused || undefined, detection: reason };
  const input = { type: 'listing', ts: nowTs, network: formatKeyNetwork(network), ...listed, details } as const;
  return toListing(input, { source: OPERATOR_SOURCE, nowTs, allowReserved, isAllowed: () => false });
}

const RESERVED =
  'a private, documentation, multicast or other reserved network is never listed; for tests use --allow-reserved';

export function noNetwork(text: string): string {
  return `${JSON.stringify(text)} is no IP address and no network in CIDR notation`;
}

/** An address or a network that may be on a list. */
export function toNetwork(text: string): KeyNetwork | string {
  const network = parseKeyNetwork(text);
  if (network === null) return noNetwork(text);
  const isV4 = network.prefix >= IPV4_OFFSET && isIpv4(network.ip);
  const isTooWide = isV4 ? network.prefix < IPV4_OFFSET + IPV4_PREFIX_MIN : network.prefix < IPV6_PREFIX_MIN;
  if (!isTooWide) return network;
  return `${JSON.stringify(text)} is wider than /${isV4 ? IPV4_PREFIX_MIN : IPV6_PREFIX_MIN}, which can only be a mistake`;
}

function toFamily(botname: string | null | undefined): { name: string } | Fault | null {
  const name = knownText(botname);
  if (name === null) return null;
  const fault = textFault(name);
  if (fault !== null) return { fault: `botname: ${fault}` };
  return foldFamily(name) === UNKNOWN_FAMILY ? null : { name };
}

export function toDomainEvidence(input: DomainInput, rules: EvidenceRules): DomainEvidence | string {
  const { ts, kind, confidence = DEFAULT_CONFIDENCE, botname, isAbused = null, tags = [] } = input;
  const fault = timeFault(ts, rules.nowTs);
  if (fault !== null) return fault;
  const name = toDomainName('domain', input.domain);
  if (typeof name === 'string') return name;
  if (!isInteger(confidence, 1, 100)) return 'confidence: must be an integer from 1 to 100';
  const family = toFamily(botname);
  if (family !== null && 'fault' in family) return family.fault;
  return {
    source: input.source ?? rules.source,
    name,
    kind,
    ts,
    confidence,
    botname: family?.name ?? null,
    isAbused,
    tags: [...new Set(tags.map((tag) => tag.trim().toLowerCase()).filter(isDomainTag))].sort(),
  };
}

function isDomainTag(tag: string): tag is DomainTag {
  return Object.hasOwn(DOMAIN_TAGS, tag);
}

const NAME_FAULTS = {
  not_a_name: 'is no host name',
  address: 'is an address; evidence on addresses is a listing',
  suffix: 'is a public suffix, which belongs to nobody in particular',
};

function toDomainName(key: string, text: string): DomainName | string {
  const parsed = parseDomainName(text);
  return parsed.ok ? parsed.name : `${key}: ${JSON.stringify(text)} ${NAME_FAULTS[parsed.reason]}`;
}

export function toFact(input: FactInput, rules: EvidenceRules): DomainFact | string {
  const { ts } = input;
  const fault = timeFault(ts, rules.nowTs);
  if (fault !== null) return fault;
  const name = toDomainName('domain', input.domain);
  if (typeof name === 'string') return name;
  if ('a' in input) {
    const ips = toAll('a', input.a, (text) => parseIp(text) ?? `a: ${JSON.stringify(text)} is no IP address`);
    return typeof ips === 'string' ? ips : { ts, name, kind: 'a', ips: distinct(ips, formatIp) };
  }
  if ('ns' in input) {
    const servers = toAll('ns', input.ns, (text) => toDomainName('ns', text));
    if (typeof servers === 'string') return servers;
    return { ts, name, kind: 'ns', servers: distinct(servers, ({ hostname }) => hostname) };
  }
  if ('sender' in input) {
    const { helo = '' } = input.sender;
    const ip = parseIp(input.sender.ip);
    if (ip === null) return 'sender: ip must be an IP address';
    const reason = heloFault(helo);
    return reason === null ? { ts, name, kind: 'sender', ip, helo } : `sender: helo ${reason}`;
  }
  if ('whois' in input) {
    const { created = null, expires = null } = input.whois;
    const registrar = knownText(input.whois.registrar);
    if (created === null && expires === null && registrar === null) {
      return 'whois: must have at least one of created, expires, registrar';
    }
    const reason = (created === null ? null : timeFault(created, rules.nowTs)) ?? expiryFault(expires);
    if (reason !== null) return `whois: ${reason}`;
    const unstorable = registrar === null ? null : textFault(registrar);
    if (unstorable !== null) return `whois: registrar: ${unstorable}`;
    return { ts, name, kind: 'whois', createdTs: created, expiresTs: expires, registrar };
  }
  if (!isInteger(input.rank, 1, Number.MAX_SAFE_INTEGER)) return 'rank: must be an integer from 1';
  return { ts, name, kind: 'rank', source: input.source ?? rules.source, rank: input.rank };
}

/** All values, or the first fault. */
function toAll<T>(key: string, texts: readonly string[], parse: (text: string) => T | string): T[] | string {
  if (texts.length === 0) return `${key}: must have at least one value`;
  if (texts.length > FACT_VALUES_MAX) return `${key}: at most ${FACT_VALUES_MAX} values`;
  const values: T[] = [];
  for (const text of texts) {
    const value = parse(text);
    if (typeof value === 'string') return value;
    values.push(value);
  }
  return values;
}

function distinct<T>(values: readonly T[], keyOf: (value: T) => string): T[] {
  return [...new Map(values.map((value) => [keyOf(value), value])).values()];
}

/** Registrations last at most ten years; this only refuses milliseconds. */
const EXPIRY_MAX_TS = 10_000_000_000;

function expiryFault(expires: number | null): string | null {
  return expires === null || isInteger(expires, 0, EXPIRY_MAX_TS) ? null : 'expires: must be Unix seconds';
}

/** A network may be on lists of networks only, a name on lists of names only; `shared` is both. */
export function toListEntry(input: ListInput, rules: EvidenceRules): ListEntry | string {
  const { ts, as, reason = '' } = input;
  const fault = timeFault(ts, rules.nowTs) ?? textFault(reason);
  if (fault !== null) return fault;
  const source = input.source ?? rules.source;
  const text = input.entry.trim();
  if (parseKeyNetwork(text) !== null) {
    if (!isOneOf(NETWORK_LIST_KINDS, as)) return `${JSON.stringify(text)}: only names can be on a list of ${as} sites`;
    const network = toNetwork(text);
    return typeof network === 'string' ? network : { source, ts, as, network, reason };
  }
  if (!isOneOf(NAME_LIST_KINDS, as))
    return `${JSON.stringify(text)}: only addresses and networks can be on an allow list`;
  // Lists write a leading dot or `*.` for "and everything below".
  const host = parseHostKey(text.replace(/^\*?\./, ''));
  // A top-level name is no site.
  if (!host.ok || host.ip !== null || !host.host.includes('.')) {
    return `${JSON.stringify(text)} is neither a host name nor a network`;
  }
  return { source, ts, as, name: host.host };
}

function isOneOf<Kind extends ImportedListKind>(kinds: readonly Kind[], as: ImportedListKind): as is Kind {
  return (kinds as readonly ImportedListKind[]).includes(as);
}

function intervalFault(listedTs: number, ts: number): string | null {
  return isInteger(listedTs, 0, ts) ? null : 'listed: must be Unix seconds that are not later than ts';
}
