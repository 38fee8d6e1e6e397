import {
  byTime,
  type FileReport,
  type Observation,
  type ObservationInput,
  type StatusObservation,
  toObservation,
} from '../core/observation.ts';
import { normalizeUrl } from '../core/url/normalize.ts';
import type { Item } from './sources/format.ts';
import type { Reject } from './store.ts';

/** What is written at once, and what came with it. */
export type Batch = {
  /** Rows of input, the rejected ones included. */
  rows: number;
  observations: Observation[];
  files: FileReport[];
  rejects: Reject[];
  /** What was seen online, row by row: what a complete listing names. Empty where nobody asked for it. */
  listed: ListedUrl[];
  /** The newest time that the source or one of its rows has told; null when none has. */
  newestTs: number | null;
  /** Whether the last row was rejected, as the last one of a file that was cut off is. */
  endsInReject: boolean;
};

export type ListedUrl = Pick<Observation, 'url' | 'host'>;

/** The network of an address; null where none is known. */
export type LookupAsn = (ip: Uint8Array) => number | null;

/** "Not more than a day ahead": clocks differ, and dates are written in local time by mistake. */
const AHEAD_MAX_SECONDS = 86_400;

export type BatcherOptions = {
  nowTs: number;
  lookupAsn: LookupAsn | undefined;
  /** The source is a complete listing. */
  isListing: boolean;
};

/** Collects the rows of a source; `take` hands over what has been collected. */
export function createBatcher({ nowTs, lookupAsn, isListing }: BatcherOptions) {
  const normalize = createNormalizer();
  let batch = emptyBatch();
  const taken = { rows: 0, rejected: 0 };

  function add(item: Item): void {
    if (item.kind === 'time') {
      tell(item.ts);
      return;
    }
    batch.rows++;
    const reason = addRow(item);
    batch.endsInReject = reason !== null;
    if (reason !== null) batch.rejects.push({ line: item.line, reason, text: keptText(item.text) });
  }

  /** Why the row is rejected as a whole, or null. */
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
      tell(observation.ts);
    }
    if (isListing) batch.listed.push(...seenOnline(observations));
    return null;
  }

  function tell(ts: number): void {
    if (batch.newestTs === null || ts > batch.newestTs) batch.newestTs = ts;
  }

  return {
    add,
    /** Whatever costs time when it is written. */
    size: () => batch.observations.length + batch.files.length + batch.rejects.length,
    /** From the beginning on. */
    totals: () => ({ rows: taken.rows + batch.rows, rejected: taken.rejected + batch.rejects.length }),
    take(): Batch {
      const full = batch;
      taken.rows += full.rows;
      taken.rejected += full.rejects.length;
      batch = { ...emptyBatch(), newestTs: full.newestTs, endsInReject: full.endsInReject };
      return full;
    },
  };
}

function emptyBatch(): Batch {
  return { rows: 0, observations: [], files: [], rejects: [], listed: [], newestTs: null, endsInReject: false };
}

/** A row often tells two or three things of one URL, which is normalized once: that doubles the rate of reading. */
function createNormalizer() {
  let last = { text: '', normalized: normalizeUrl('') };
  return (text: string) => {
    if (text !== last.text) last = { text, normalized: normalizeUrl(text) };
    return last.normalized;
  };
}

/** Why a time cannot be one, or null. */
export function timeFault(ts: number, nowTs: number): string | null {
  if (!Number.isSafeInteger(ts) || ts < 0) return 'ts: Unix seconds are needed, a whole number from 0 on';
  return ts > nowTs + AHEAD_MAX_SECONDS ? 'ts: more than a day ahead of the clock' : null;
}

/** The URLs of a row whose newest status there is online. */
function seenOnline(observations: readonly Observation[]): ListedUrl[] {
  const newest = new Map<string, Observation & StatusObservation>();
  for (const observation of observations) {
    if (!hasStatus(observation)) continue;
    const known = newest.get(observation.url);
    if (known === undefined || byTime(known, observation) <= 0) newest.set(observation.url, observation);
  }
  return [...newest.values()].filter(({ status }) => status === 'online').map(({ url, host }) => ({ url, host }));
}

function hasStatus(observation: Observation): observation is Observation & StatusObservation {
  return observation.status !== null;
}

/** Databases do not keep NUL in a text. */
function keptText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}
