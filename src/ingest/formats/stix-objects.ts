import type { FileReport } from '../../core/observation.ts';
import { isObject, type JsonFind, jsonText } from '../sources/json.ts';
import { parseIsoTime, toSha256, toText } from './values.ts';

/** Where in the bundle it stands, for rejects. */
type Place = { id: string; line: number; text: string };

/** A `url` observable, or an `indicator` with the URLs of its pattern. */
export type StixUrls = Place & { urls: string[]; fromTs: number | null; creator: string };
export type StixFile = Place & { file: FileReport };
/** `observed-data`: these things were seen between these times. */
export type StixObserved = {
  id: string;
  refs: string[];
  firstTs: number | null;
  lastTs: number | null;
  creator: string;
};
export type StixRelation = { from: string; to: string; ts: number | null };

/** What is kept of the objects of a bundle, until its end shows how they are related. */
export type StixObjects = {
  urls: StixUrls[];
  files: StixFile[];
  observed: StixObserved[];
  relations: StixRelation[];
  /** Names by id, of `malware` and of `identity`. */
  malware: Map<string, string>;
  identities: Map<string, string>;
};

export function noStixObjects(): StixObjects {
  return { urls: [], files: [], observed: [], relations: [], malware: new Map(), identities: new Map() };
}

/** Keeps an object of a type that tells something about URLs or files; gives the reason where it cannot be read. */
export function addStixObject(objects: StixObjects, { value, line }: JsonFind): string | null {
  if (!isObject(value) || typeof value.type !== 'string' || typeof value.id !== 'string') {
    return 'an object with a type and an id is needed';
  }
  if (value.revoked === true) return null;
  const place: Place = { id: value.id, line, text: jsonText(value) };
  return Object.hasOwn(ADD, value.type) ? (ADD[value.type]?.(objects, value, place) ?? null) : null;
}

type Add = (objects: StixObjects, value: Record<string, unknown>, place: Place) => string | null;

const ADD: Partial<Record<string, Add>> = {
  url(objects, value, place) {
    if (typeof value.value !== 'string') return 'value: missing';
    objects.urls.push({ ...place, urls: [value.value], fromTs: null, creator: '' });
    return null;
  },
  indicator(objects, value, place) {
    const { pattern, pattern_type: language = 'stix' } = value;
    if (typeof pattern !== 'string' || language !== 'stix') return null;
    const urls = urlsOfPattern(pattern);
    if (urls === null) return `pattern: only equalities joined by OR are understood, up to ${MAX_PATTERN_URLS}`;
    const fromTs = parseIsoTime(value.valid_from) ?? parseIsoTime(value.created);
    if (urls.length > 0 && fromTs === null) return 'valid_from: a time is needed';
    if (urls.length > 0) objects.urls.push({ ...place, urls, fromTs, creator: idOf(value.created_by_ref) });
    return null;
  },
  file(objects, value, place) {
    const sha256 = toSha256(isObject(value.hashes) ? value.hashes['SHA-256'] : null);
    if (sha256 === undefined) return 'SHA-256: 64 hexadecimal digits are needed';
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
    objects.files.push({ ...place, file });
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

/** `file:hashes.'SHA-256' = '…'`, `url:value = '…'`: one comparison of equality with a string. */
const COMPARISON = /\s*([a-z0-9-]+:(?:'[^']*'|[^\s='])+)\s*=\s*'([^'\\]*(?:\\.[^'\\]*)*)'\s*/sy;
const URL_VALUE = 'url:value';
/** Each may be related to many files: a bound on what a single indicator can become. */
export const MAX_PATTERN_URLS = 1_000;

/**
 * The URLs of a STIX pattern that is one equality, or several joined by OR (STIX 2.1 section 9.2):
 * `[url:value = 'http://a.example/' OR url:value = 'http://b.example/']`, each also in brackets of its own. Alternatives
 * that are no URLs do not disturb. null for a pattern about URLs that says more than that.
 */
export function urlsOfPattern(pattern: string): string[] | null {
  if (!pattern.includes(URL_VALUE)) return [];
  const urls: string[] = [];
  let at = 0;
  let isOpen = false;
  const skip = (token: RegExp): boolean => {
    token.lastIndex = at;
    const isThere = token.test(pattern);
    if (isThere) at = token.lastIndex;
    return isThere;
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
