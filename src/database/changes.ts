import { toHex } from '../core/byte-text.ts';

// What a transaction records for the change feed, on both engines. Writers name subjects only; their state is read when somebody
// asks for the feed.

/** In the order of the codes in the database. */
export const CHANGE_OPERATIONS = ['add', 'update', 'remove'] as const;
export type ChangeOperation = (typeof CHANGE_OPERATIONS)[number];
export const CHANGE_KINDS = ['url', 'listing', 'domain'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** A listing of a source. The codes of dataset and prefix are those of the table `episodes`. */
export type ListingSubject = [
  ip: string,
  prefix: number,
  dataset: number,
  source: string,
  family: string | null,
  port: number | null,
];

/**
 * The id of a URL; the name of a domain; a listing of a source, or the address whose listing follows from URLs: in hexadecimal,
 * or as the id of the host that it is.
 */
export type ChangeSubject = number | string | ListingSubject;

/** A row of the table `changes` without its number. `kind` null: nothing that the feed reports. */
type ChangeRow = { count: number; op: number; kind: number | null; subjects: string };

/** Subjects in one row: some kilobytes, so that a reader may read several rows at once. */
export const MAX_SUBJECTS = 200;

/** A transaction that changed something else: lists for devices have to be compared with the data again. */
const TOUCH: ChangeRow = { count: 1, op: CHANGE_OPERATIONS.indexOf('update'), kind: null, subjects: '[]' };

/** Collects the changes of one transaction. */
export type ChangeRecorder = {
  url(id: number, op: ChangeOperation): void;
  domain(name: string, op: ChangeOperation): void;
  /** The listing that follows from URLs whose host is this address. */
  address(ip: Uint8Array, op: ChangeOperation): void;
  /** The same by the host of the URLs, if it is an address. Imports do not parse it again. */
  addressHost(hostId: number, op: ChangeOperation): void;
  listing(listing: Listing, op: ChangeOperation): void;
  isEmpty(): boolean;
  clear(): void;
  /** The rows to write; without any change one that only raises the newest number. */
  rows(): ChangeRow[];
};

type Listing = {
  ip: Uint8Array;
  prefix: number;
  dataset: number;
  source: string;
  family: string | null;
  port: number | null;
};

export function createChangeRecorder(): ChangeRecorder {
  const urls: Record<ChangeOperation, Set<number>> = { add: new Set(), update: new Set(), remove: new Set() };
  const addressHosts: Record<ChangeOperation, Set<number>> = { add: new Set(), update: new Set(), remove: new Set() };
  const domains = new Map<string, ChangeOperation>();
  /** By the JSON of the subject. */
  const listings = new Map<string, ChangeOperation>();

  return {
    url: (id, op) => void urls[op].add(id),
    domain: (name, op) => set(domains, name, op),
    address: (ip, op) => set(listings, `"${toHex(ip)}"`, op),
    addressHost: (hostId, op) => void addressHosts[op].add(hostId),
    listing({ ip, prefix, dataset, source, family, port }, op) {
      const subject: ListingSubject = [toHex(ip), prefix, dataset, source, family, port];
      set(listings, JSON.stringify(subject), op);
    },
    isEmpty: () =>
      domains.size + listings.size === 0 &&
      CHANGE_OPERATIONS.every((op) => urls[op].size + addressHosts[op].size === 0),
    clear() {
      for (const op of CHANGE_OPERATIONS) {
        urls[op].clear();
        addressHosts[op].clear();
      }
      domains.clear();
      listings.clear();
    },
    rows() {
      const rows = [
        ...CHANGE_OPERATIONS.flatMap((op) => rowsOf('url', op, [...urls[op]])),
        ...CHANGE_OPERATIONS.flatMap((op) => rowsOf('listing', op, [...addressHosts[op]])),
        ...rowsByOperation('listing', listings, (json) => json),
        ...rowsByOperation('domain', domains, (name) => JSON.stringify(name)),
      ];
      return rows.length === 0 ? [TOUCH] : rows;
    },
  };
}

/** What was added in this transaction stays so. */
function set<Key>(changes: Map<Key, ChangeOperation>, key: Key, op: ChangeOperation): void {
  if (op === 'add' || changes.get(key) !== 'add') changes.set(key, op);
}

function rowsByOperation(
  kind: ChangeKind,
  changes: ReadonlyMap<string, ChangeOperation>,
  toJson: (key: string) => string,
): ChangeRow[] {
  if (changes.size === 0) return [];
  const subjects: Record<ChangeOperation, string[]> = { add: [], update: [], remove: [] };
  for (const [key, op] of changes) subjects[op].push(toJson(key));
  return CHANGE_OPERATIONS.flatMap((op) => rowsOf(kind, op, subjects[op]));
}

function rowsOf(kind: ChangeKind, op: ChangeOperation, subjects: readonly (string | number)[]): ChangeRow[] {
  const rows: ChangeRow[] = [];
  const codes = { op: CHANGE_OPERATIONS.indexOf(op), kind: CHANGE_KINDS.indexOf(kind) };
  for (let at = 0; at < subjects.length; at += MAX_SUBJECTS) {
    const part = subjects.slice(at, at + MAX_SUBJECTS);
    rows.push({ ...codes, count: part.length, subjects: `[${part.join()}]` });
  }
  return rows;
}

/** Seconds that an end may move before it is recorded again. */
const RECORDED_SECONDS = 3_600;

/**
 * Whether the end of a span that began at `fromTs` is recorded again: when it is in another hour since the beginning. So
 * what was recorded last is never more than an hour away, and nothing has to be stored for it.
 */
export function isRecordedAgain(fromTs: number, oldTs: number, newTs: number): boolean {
  const hourOf = (ts: number) => Math.floor((ts - fromTs) / RECORDED_SECONDS);
  return hourOf(oldTs) !== hourOf(newTs);
}
