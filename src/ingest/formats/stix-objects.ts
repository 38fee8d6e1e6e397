import type { DomainKind } from '../../core/evidence.ts';
import { isObject } from '../../core/json-object.ts';
import type { FileReport } from '../../core/observation.ts';
import { type JsonFind, jsonText, objectsOf } from '../sources/json.ts';
import { MAX_PATTERN_VALUES, valuesOfPattern } from './stix-pattern.ts';
import { kindOf, parseIsoTime, toSha256, toText } from './values.ts';

/** Position in the bundle, for rejects. */
type Position = { id: string; line: number; text: string };

/** A `url` observable, or an `indicator` with the URLs of its pattern. */
export type StixUrls = Position & { urls: string[]; fromTs: number | null; creator: string; labels: unknown };
/** Addresses and names: an observable, or those in the pattern of an indicator. */
export type StixHosts = Position & {
  addresses: string[];
  names: string[];
  fromTs: number | null;
  /** 1 to 100. */
  confidence?: number | undefined;
  /** By its labels. */
  kind: DomainKind;
};
export type StixFile = Position & { file: FileReport };
/** `observed-data`: these objects were seen between these times. */
export type StixObserved = {
  id: string;
  refs: string[];
  firstTs: number | null;
  lastTs: number | null;
  creator: string;
};
type StixRelation = { from: string; to: string; ts: number | null };

/** Objects of a bundle, collected until all relationships are read. */
export type StixObjects = {
  urls: StixUrls[];
  hosts: StixHosts[];
  /** `resolves_to_refs`: ids of addresses by the id of their name. */
  resolutions: Map<string, string[]>;
  /** The addresses in `resolutions`. */
  resolved: Set<string>;
  /** The value of each observable address. */
  addresses: Map<string, string>;
  /** Where the traffic came from, by `network-traffic`: mostly the victim. */
  origins: Set<string>;
  /** Ports of destinations. */
  ports: Map<string, number>;
  /** Ids of indicators: those of the type `benign`, and all others. */
  indicators: { benign: Set<string>; other: Set<string> };
  /**
   * What the labels of an object say about what it is related to, by id. Not the labels: one object may have a hundred
   * thousand, and as many relations.
   */
  kinds: Map<string, DomainKind>;
  files: StixFile[];
  observed: StixObserved[];
  relations: StixRelation[];
  /** `malware` and `identity` objects: names by id. */
  malware: Map<string, string>;
  identities: Map<string, string>;
};

export function noStixObjects(): StixObjects {
  return {
    urls: [],
    hosts: [],
    resolutions: new Map(),
    resolved: new Set(),
    addresses: new Map(),
    origins: new Set(),
    ports: new Map(),
    indicators: { benign: new Set(), other: new Set() },
    kinds: new Map(),
    files: [],
    observed: [],
    relations: [],
    malware: new Map(),
    identities: new Map(),
  };
}

/** Adds an object if its type is about URLs, hosts or files. Returns why it is rejected, or null. */
export function addStixObject(objects: StixObjects, { value, line }: JsonFind): string | null {
  if (!isObject(value) || typeof value.type !== 'string' || typeof value.id !== 'string') {
    return 'must be an object with a type and an id';
  }
  if (value.revoked === true) return null;
  const position: Position = { id: value.id, line, text: jsonText(value) };
  return Object.hasOwn(ADD, value.type) ? (ADD[value.type]?.(objects, value, position) ?? null) : null;
}

type Add = (objects: StixObjects, value: Record<string, unknown>, position: Position) => string | null;

const ADD: Partial<Record<string, Add>> = {
  url(objects, value, position) {
    if (typeof value.value !== 'string') return 'value: missing';
    objects.urls.push({ ...position, urls: [value.value], fromTs: null, creator: '', labels: value.labels });
    return null;
  },
  indicator(objects, value, position) {
    const { pattern, pattern_type: language = 'stix' } = value;
    const labels = labelsOf(value);
    const isBenign = labels.includes(BENIGN);
    objects.indicators[isBenign ? 'benign' : 'other'].add(position.id);
    if (typeof pattern !== 'string' || language !== 'stix') return null;
    const values = valuesOfPattern(pattern);
    if (values === null)
      return `pattern: only = comparisons joined by OR are supported, up to ${MAX_PATTERN_VALUES} values`;
    objects.kinds.set(position.id, kindOf(labels));
    if (values.length === 0 || isBenign) return null;
    const fromTs = parseIsoTime(value.valid_from) ?? parseIsoTime(value.created);
    if (fromTs === null) return 'valid_from: must be a time such as 2025-07-02T00:00:00Z';
    const valuesOf = (...properties: string[]) =>
      values.filter(({ property }) => properties.includes(property)).map((found) => found.value);
    const urls = valuesOf('url:value');
    if (urls.length > 0) {
      const creator = idOf(value.created_by_ref);
      objects.urls.push({ ...position, urls, fromTs, creator, labels: value.labels });
    }
    const [addresses, names] = [valuesOf('ipv4-addr:value', 'ipv6-addr:value'), valuesOf('domain-name:value')];
    if (addresses.length + names.length > 0)
      objects.hosts.push({
        ...position,
        addresses,
        names,
        fromTs,
        confidence: toConfidence(value.confidence),
        kind: kindOf(labels),
      });
    return null;
  },
  'ipv4-addr': addAddress,
  'ipv6-addr': addAddress,
  'domain-name'(objects, value, position) {
    if (typeof value.value !== 'string') return 'value: missing';
    const refs = idsOf(value.resolves_to_refs);
    objects.resolutions.set(position.id, refs);
    for (const ref of refs) objects.resolved.add(ref);
    objects.hosts.push({
      ...position,
      addresses: [],
      names: [value.value],
      fromTs: null,
      kind: kindOf(labelsOf(value)),
    });
    return null;
  },
  'network-traffic'(objects, value) {
    objects.origins.add(idOf(value.src_ref));
    if (Number.isInteger(value.dst_port)) objects.ports.set(idOf(value.dst_ref), Number(value.dst_port));
    return null;
  },
  infrastructure(objects, value, { id }) {
    objects.kinds.set(id, kindOf(labelsOf(value)));
    return null;
  },
  file(objects, value, position) {
    const sha256 = toSha256(isObject(value.hashes) ? value.hashes['SHA-256'] : null);
    if (sha256 === undefined) return 'SHA-256: must be 64 hexadecimal digits';
    if (sha256 === null) return null;
    const file = {
      sha256,
      mimeType: toText(value.mime_type),
      fileType: null,
      fileExt: null,
      fileSize: Number.isSafeInteger(value.size) && Number(value.size) >= 0 ? Number(value.size) : null,
      fileName: toText(value.name),
      family: null,
    };
    objects.files.push({ ...position, file });
    return null;
  },
  malware(objects, value, { id }) {
    const name = toText(value.name);
    if (name !== null) objects.malware.set(id, name);
    for (const sample of idsOf(value.sample_refs)) objects.relations.push({ from: id, to: sample, ts: null });
    return null;
  },
  relationship(objects, value) {
    const ts = parseIsoTime(value.start_time) ?? parseIsoTime(value.created);
    objects.relations.push({ from: idOf(value.source_ref), to: idOf(value.target_ref), ts });
    return null;
  },
  'observed-data'(objects, value, { id }) {
    objects.observed.push({
      id,
      refs: idsOf(value.object_refs),
      firstTs: parseIsoTime(value.first_observed),
      lastTs: parseIsoTime(value.last_observed),
      creator: idOf(value.created_by_ref),
    });
    return null;
  },
  identity(objects, value, { id }) {
    const name = toText(value.name);
    if (name !== null) objects.identities.set(id, name);
    return null;
  },
};

function addAddress(objects: StixObjects, value: Record<string, unknown>, position: Position): string | null {
  if (typeof value.value !== 'string') return 'value: missing';
  objects.addresses.set(position.id, value.value);
  objects.hosts.push({ ...position, addresses: [value.value], names: [], fromTs: null, kind: kindOf(labelsOf(value)) });
  return null;
}

/** An indicator of this type says that its values are harmless. */
const BENIGN = 'benign';

/** Words that say what an object is. */
function labelsOf({
  labels,
  indicator_types,
  infrastructure_types,
  kill_chain_phases,
}: Record<string, unknown>): string[] {
  const phases = objectsOf(kill_chain_phases).map(({ phase_name }) => idOf(phase_name));
  return [...idsOf(labels), ...idsOf(indicator_types), ...idsOf(infrastructure_types), ...phases];
}

/** 0 means that nothing is known about the confidence (STIX 2.1 appendix A). */
function toConfidence(value: unknown): number | undefined {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100 ? Number(value) : undefined;
}

function idOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function idsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : [];
}
