import type { DomainEvidence, DomainFact, ListEntry, ListingEvidence } from '../core/evidence.ts';
import {
  byTime,
  type FileReport,
  NO_DETAILS,
  NO_TAGS,
  type Observation,
  type ObservationInput,
  type StatusObservation,
  toObservation,
} from '../core/observation.ts';
import { flatText, foldFamily } from '../core/text.ts';
import { normalizeUrl } from '../core/url/normalize.ts';
import { createUrlBatcher, type UrlBatch } from '../urls/store.ts';
import {
  type EvidenceInput,
  type EvidenceRules,
  toDomainEvidence,
  toFact,
  toListEntry,
  toListing,
} from './evidence.ts';
import { timeFault } from './json-checks.ts';
import type { Item } from './sources/format.ts';
import type { Reject } from './store.ts';
import type { FamiliesOfTags } from './tag-families.ts';

/** Rows that are written together. */
export type Batch = {
  /** Input rows, rejected ones included. */
  rows: number;
  urls: UrlBatch;
  /** Of the URLs, without the payloads that tags name. */
  observations: ObservationCounts;
  files: FileReport[];
  listings: ListingEvidence[];
  domains: DomainEvidence[];
  facts: DomainFact[];
  entries: ListEntry[];
  rejects: Reject[];
  /** URLs that the rows report as online. Filled for a complete listing only. */
  listed: ListedUrl[];
  /** The newest time in the source so far; null if there is none. */
  newestTs: number | null;
  /** The last row was rejected. This is typical of a truncated file. */
  endsInReject: boolean;
  /** The end of a list was read. */
  listEnd: Extract<Item, { kind: 'list_end' }> | null;
};

type ObservationCounts = {
  all: number;
  online: number;
  /** With another status. */
  other: number;
  /** The newest time of a status; null if there is none. */
  newestTs: number | null;
};

/** The batch that is collected. Its URLs are in groups of a `createUrlBatcher`, which take less memory than observations. */
type OpenBatch = Omit<Batch, 'urls'> & {
  fromTags: TagFamily[];
};

/**
 * A family that a tag of an observation names: a payload with nothing else. Not counted in the size of a batch: which
 * rows are in one batch must not depend on the families that are known.
 */
type TagFamily = Pick<Observation, 'ts' | 'url' | 'host'> & { family: string };

export type ListedUrl = Pick<Observation, 'url' | 'host'>;

/** The AS number of an address; null if unknown. */
export type LookupAsn = (ip: Uint8Array) => number | null;

type BatcherOptions = {
  /** `nowTs` is also the clock of observations. */
  rules: EvidenceRules;
  lookupAsn: LookupAsn | undefined;
  /** The source is a complete listing. */
  isListing: boolean;
  /** Nothing is written: URLs are only counted, which takes half the time. */
  isDryRun?: boolean;
  /** Absent: tags give no families. */
  familiesOf?: FamiliesOfTags | undefined;
};

/** Collects the rows of a source; `take` returns the collected batch and starts the next one. */
export function createBatcher(options: BatcherOptions) {
  const { rules, lookupAsn, isListing, isDryRun = false, familiesOf } = options;
  const { nowTs } = rules;
  const normalize = createNormalizer();
  const urls = createUrlBatcher();
  let batch = emptyBatch();
  const returned = { rows: 0, rejected: 0 };

  function add(item: Item): void {
    if (item.kind === 'time') {
      recordTime(item.ts);
      return;
    }
    if (item.kind === 'list_end') {
      batch.listEnd = item;
      return;
    }
    batch.rows++;
    const reason = addRow(item);
    batch.endsInReject = reason !== null;
    if (reason !== null)
      batch.rejects.push({ line: item.line, reason: shortened(reason), text: storableText(item.text) });
  }

  /** Returns the reason if the row is rejected. A row is rejected as a whole. */
  function addRow(item: Exclude<Item, { kind: 'time' | 'list_end' }>): string | null {
    if (item.kind === 'reject') return item.reason;
    if (item.kind === 'observations') return addInputs(item.inputs);
    if (item.kind === 'evidence') return addEvidence(item.inputs);
    batch.files.push(item.file);
    return null;
  }

  function addInputs(inputs: readonly ObservationInput[]): string | null {
    const observations: Observation[] = [];
    for (const input of inputs) {
      const fault = timeFault(input.ts, nowTs) ?? timeFault(input.payload?.ts ?? input.ts, nowTs);
      if (fault !== null) return fault;
      const parsed = toObservation(input, normalize(input.url));
      if (!parsed.ok) return parsed.reason;
      observations.push(parsed.observation);
      if (lookupAsn !== undefined)
        for (const address of parsed.observation.addresses) address.asn ??= lookupAsn(address.ip);
    }
    for (const observation of observations) {
      if (!isDryRun) urls.add(observation);
      countObservation(batch.observations, observation);
      recordTime(observation.ts);
    }
    if (familiesOf !== undefined && !isDryRun) addTagFamilies(batch.fromTags, observations, familiesOf);
    if (isListing) batch.listed.push(...onlineUrls(observations));
    return null;
  }

  function addEvidence(inputs: readonly EvidenceInput[]): string | null {
    const lengths = EVIDENCE.map((name) => batch[name].length);
    for (const input of inputs) {
      const reason = addPiece(batch, input, rules);
      if (reason === null) continue;
      for (const [i, name] of EVIDENCE.entries()) batch[name].length = lengths[i] ?? 0;
      return reason;
    }
    return null;
  }

  function recordTime(ts: number): void {
    if (batch.newestTs === null || ts > batch.newestTs) batch.newestTs = ts;
  }

  return {
    add,
    /** Number of records to write. */
    size: () => batch.observations.all + batch.files.length + batch.rejects.length + evidenceOf(batch),
    isOnlyUrls: () => isOnlyUrls(batch),
    /** Counts since the start of the import. */
    totals: () => ({ rows: returned.rows + batch.rows, rejected: returned.rejected + batch.rejects.length }),
    take(): Batch {
      const { fromTags, ...full } = batch;
      for (const family of fromTags) urls.add(toFamilyPayload(family));
      returned.rows += full.rows;
      returned.rejected += full.rejects.length;
      const { newestTs, endsInReject, listEnd } = full;
      batch = { ...emptyBatch(), newestTs, endsInReject, listEnd };
      return { ...full, urls: urls.take() };
    },
  };
}

function emptyBatch(): OpenBatch {
  return {
    rows: 0,
    observations: { all: 0, online: 0, other: 0, newestTs: null },
    fromTags: [],
    files: [],
    listings: [],
    domains: [],
    facts: [],
    entries: [],
    rejects: [],
    listed: [],
    newestTs: null,
    endsInReject: false,
    listEnd: null,
  };
}

const EVIDENCE = ['listings', 'domains', 'facts', 'entries'] as const;

type EvidenceOfBatch = Pick<Batch, (typeof EVIDENCE)[number]>;

/** The number of pieces of evidence, facts and entries. */
export function evidenceOf({ listings, domains, facts, entries }: EvidenceOfBatch): number {
  return listings.length + domains.length + facts.length + entries.length;
}

/** Whether nothing is to be written but observations, and rejects. */
export function isOnlyUrls(batch: Omit<Batch, 'urls'>): boolean {
  return batch.files.length + evidenceOf(batch) === 0;
}

/** The sources of the evidence; most facts have none. */
export function sourcesOf({ listings, domains, facts, entries }: EvidenceOfBatch): Set<string> {
  const names = new Set<string>();
  for (const list of [listings, domains, entries]) for (const { source } of list) names.add(source);
  for (const fact of facts) if (fact.kind === 'rank') names.add(fact.source);
  return names;
}

function countObservation(counts: ObservationCounts, { ts, status }: Observation): void {
  counts.all++;
  if (status === null) return;
  counts[status === 'online' ? 'online' : 'other']++;
  if (counts.newestTs === null || ts > counts.newestTs) counts.newestTs = ts;
}

/** Returns why it is refused, or null. */
function addPiece(batch: EvidenceOfBatch, input: EvidenceInput, rules: EvidenceRules): string | null {
  switch (input.type) {
    case 'listing':
      return addOr(batch.listings, toListing(input, rules));
    case 'domain':
      return addOr(batch.domains, toDomainEvidence(input, rules));
    case 'fact':
      return addOr(batch.facts, toFact(input, rules));
    case 'list':
      return addOr(batch.entries, toListEntry(input, rules));
  }
}

function addOr<T>(list: T[], value: T | string): string | null {
  if (typeof value === 'string') return value;
  list.push(value);
  return null;
}

/** Adds each family that the tags of a row name, at the time of the observation, unless a payload of the row has it. */
function addTagFamilies(families: TagFamily[], row: readonly Observation[], familiesOf: FamiliesOfTags): void {
  let stated: Set<string> | null = null;
  for (const { ts, url, host, tags } of row) {
    if (tags.length === 0) continue;
    for (const family of familiesOf(tags)) {
      stated ??= statedFamilies(row);
      if (!stated.has(statedKey(url, family))) families.push({ ts, url, host, family });
    }
  }
}

function toFamilyPayload({ ts, url, host, family }: TagFamily): Observation {
  const payload = { ...NO_DETAILS, ts, sha256: null, family };
  return { ts, url, host, status: null, removal: '', reporter: '', addresses: [], payload, tags: NO_TAGS };
}

/** The families that payloads of a row have. Read once per row: one of MISP may have tens of thousands of URLs. */
function statedFamilies(row: readonly Observation[]): Set<string> {
  const stated = new Set<string>();
  for (const { url, payload } of row) if (payload?.family) stated.add(statedKey(url, payload.family));
  return stated;
}

/** A URL has no blank. */
const statedKey = (url: string, family: string) => `${url} ${foldFamily(family)}`;

/** Caches the last result: a row often has two or three observations of one URL. This doubles the read rate. */
function createNormalizer() {
  let last = { text: '', normalized: normalizeUrl('') };
  return (text: string) => {
    if (text !== last.text) last = { text, normalized: toNormalized(text) };
    return last.normalized;
  };
}

/** The host is a part of the normalized URL: a part of the row would keep the whole row in memory. */
function toNormalized(text: string): ReturnType<typeof normalizeUrl> {
  const normalized = normalizeUrl(text);
  if (!normalized.ok) return normalized;
  const { url, host } = normalized;
  const at = url.indexOf(host);
  return { ...normalized, host: url.slice(at, at + host.length) };
}

/** The URLs of a row whose newest status in that row is online. */
function onlineUrls(observations: readonly Observation[]): ListedUrl[] {
  const newest = new Map<string, Observation & StatusObservation>();
  for (const observation of observations) {
    if (!hasStatus(observation)) continue;
    const previous = newest.get(observation.url);
    if (previous === undefined || byTime(previous, observation) <= 0) newest.set(observation.url, observation);
  }
  return [...newest.values()].filter(({ status }) => status === 'online').map(({ url, host }) => ({ url, host }));
}

function hasStatus(observation: Observation): observation is Observation & StatusObservation {
  return observation.status !== null;
}

/** PostgreSQL rejects NUL and lone surrogates in text. The text is part of a row, which may have a megabyte. */
function storableText(text: string): string {
  return flatText(text.toWellFormed().replaceAll('\0', '\ufffd'));
}

/** Characters of a reason that are stored. A reason may quote a value of any length, and ends with what is wrong with it. */
const REASON_MAX_LENGTH = 1_024;

function shortened(reason: string): string {
  if (reason.length <= REASON_MAX_LENGTH) return flatText(reason);
  const half = REASON_MAX_LENGTH / 2;
  return storableText(`${reason.slice(0, half - 1)}…${reason.slice(-half)}`);
}
