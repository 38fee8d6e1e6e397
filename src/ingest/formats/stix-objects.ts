import type { FileReport } from '../../core/observation.ts';
import { isObject, type JsonFind, jsonText } from '../sources/json.ts';
import { parseIsoTime, toSha256, toText } from './values.ts';

/** Position in the bundle, for rejects. */
type Position = { id: string; line: number; text: string };

/** A `url` observable, or an `indicator` with the URLs of its pattern. */
export type StixUrls = Position & { urls: string[]; fromTs: number | null; creator: string };
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
  files: StixFile[];
  observed: StixObserved[];
  relations: StixRelation[];
  /** `malware` and `identity` objects: names by id. */
  malware: Map<string, string>;
  identities: Map<string, string>;
};

export function noStixObjects(): StixObjects {
  return { urls: [], files: [], observed: [], relations: [], malware: new Map(), identities: new Map() };
}

/** Adds an object if its type is about URLs or files. Returns why it is rejected, or null. */
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
    objects.urls.push({ ...position, urls: [value.value], fromTs: null, creator: '' });
    return null;
  },
  indicator(objects, value, position) {
    const { pattern, pattern_type: language = 'stix' } = value;
    if (typeof pattern !== 'string' || language !== 'stix') return null;
    const urls = urlsOfPattern(pattern);
    if (urls === null) return `pattern: only = comparisons joined by OR are supported, up to ${MAX_PATTERN_URLS} URLs`;
    const fromTs = parseIsoTime(value.valid_from) ?? parseIsoTime(value.created);
    if (urls.length > 0 && fromTs === null) return 'valid_from: must be a time such as 2025-07-02T00:00:00Z';
    if (urls.length > 0) objects.urls.push({ ...position, urls, fromTs, creator: idOf(value.created_by_ref) });
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

function idOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function idsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : [];
}

/** One equality comparison with a string: `file:hashes.'SHA-256' = '…'`, `url:value = '…'`. */
const COMPARISON = /\s*([a-z0-9-]+:(?:'[^']*'|[^\s='])+)\s*=\s*'([^'\\]*(?:\\.[^'\\]*)*)'\s*/sy;
const URL_VALUE = 'url:value';
/** Each URL may be related to many files: this bounds the output of one indicator. */
const MAX_PATTERN_URLS = 1_000;

/**
 * Extracts the URLs of a STIX pattern of equality comparisons joined by OR (STIX 2.1 section 9.2):
 * `[url:value = 'http://a.example/' OR url:value = 'http://b.example/']`, in one pair of brackets or in several.
 * Comparisons of other properties are ignored. Returns null if a pattern with `url:value` uses any other operator.
 */
export function urlsOfPattern(pattern: string): string[] | null {
  if (!pattern.includes(URL_VALUE)) return [];
  const urls: string[] = [];
  let at = 0;
  let isOpen = false;
  const skip = (token: RegExp): boolean => {
    token.lastIndex = at;
    const isFound = token.test(pattern);
    if (isFound) at = token.lastIndex;
    return isFound;
  };
  do {
    if (!isOpen) isOpen = skip(/\s*\[/y);
    COMPARISON.lastIndex = at;
    const comparison = isOpen ? COMPARISON.exec(pattern) : null;
    if (comparison === null) return null;
    at = COMPARISON.lastIndex;
    const [, path, literal = ''] = comparison;
    if (path === URL_VALUE) urls.push(literal.replace(/\\(.)/gs, '$1'));
    if (skip(/\]\s*/y)) isOpen = false;
  } while (skip(/OR\b/y));
  return at === pattern.length && !isOpen && urls.length <= MAX_PATTERN_URLS ? urls : null;
}
