import {
  byTime,
  type FileReport,
  type Observation,
  type ObservationInput,
  type StatusObservation,
  toObservation,
} from '../core/observation.ts';
import { normalizeUrl } from '../core/url/normalize.ts';
import { FUTURE_MAX_SECONDS } from './observation-json.ts';
import type { Item } from './sources/format.ts';
import type { Reject } from './store.ts';

/** Rows that are written together. */
export type Batch = {
  /** Input rows, rejected ones included. */
  rows: number;
  observations: Observation[];
  files: FileReport[];
  rejects: Reject[];
  /** URLs that the rows report as online. Filled for a complete listing only. */
  listed: ListedUrl[];
  /** The newest time in the source so far; null if there is none. */
  newestTs: number | null;
  /** The last row was rejected. This is typical of a truncated file. */
  endsInReject: boolean;
};

export type ListedUrl = Pick<Observation, 'url' | 'host'>;

/** The AS number of an address; null if unknown. */
export type LookupAsn = (ip: Uint8Array) => number | null;

type BatcherOptions = {
  nowTs: number;
  lookupAsn: LookupAsn | undefined;
  /** The source is a complete listing. */
  isListing: boolean;
};

/** Collects the rows of a source; `take` returns the collected batch and starts the next one. */
export function createBatcher({ nowTs, lookupAsn, isListing }: BatcherOptions) {
  const normalize = createNormalizer();
  let batch = emptyBatch();
  const returned = { rows: 0, rejected: 0 };

  function add(item: Item): void {
    if (item.kind === 'time') {
      recordTime(item.ts);
      return;
    }
    batch.rows++;
    const reason = addRow(item);
    batch.endsInReject = reason !== null;
    if (reason !== null) batch.rejects.push({ line: item.line, reason, text: storableText(item.text) });
  }

  /** Returns the reason if the row is rejected. A row is rejected as a whole. */
  function addRow(item: Exclude<Item, { kind: 'time' }>): string | null {
    if (item.kind === 'reject') return item.reason;
    if (item.kind === 'observations') return addInputs(item.inputs);
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
      batch.observations.push(observation);
      recordTime(observation.ts);
    }
    if (isListing) batch.listed.push(...onlineUrls(observations));
    return null;
  }

  function recordTime(ts: number): void {
    if (batch.newestTs === null || ts > batch.newestTs) batch.newestTs = ts;
  }

  return {
    add,
    /** Number of records to write. */
    size: () => batch.observations.length + batch.files.length + batch.rejects.length,
    /** Counts since the start of the import. */
    totals: () => ({ rows: returned.rows + batch.rows, rejected: returned.rejected + batch.rejects.length }),
    take(): Batch {
      const full = batch;
      returned.rows += full.rows;
      returned.rejected += full.rejects.length;
      batch = { ...emptyBatch(), newestTs: full.newestTs, endsInReject: full.endsInReject };
      return full;
    },
  };
}

function emptyBatch(): Batch {
  return { rows: 0, observations: [], files: [], rejects: [], listed: [], newestTs: null, endsInReject: false };
}

/** Caches the last result: a row often has two or three observations of one URL. This doubles the read rate. */
function createNormalizer() {
  let last = { text: '', normalized: normalizeUrl('') };
  return (text: string) => {
    if (text !== last.text) last = { text, normalized: normalizeUrl(text) };
    return last.normalized;
  };
}

/** Returns why a time is invalid, or null. */
export function timeFault(ts: number, nowTs: number): string | null {
  if (!Number.isSafeInteger(ts) || ts < 0) return 'ts: must be Unix seconds, a whole number from 0';
  return ts > nowTs + FUTURE_MAX_SECONDS ? 'ts: more than a day in the future' : null;
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

/** PostgreSQL rejects NUL and lone surrogates in text. */
function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
