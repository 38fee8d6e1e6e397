import { ADDRESS_DATASETS } from '../core/evidence.ts';
import {
  CHANGE_KINDS,
  CHANGE_OPERATIONS,
  type ChangeKind,
  type ChangeOperation,
  type ChangeSubject,
} from '../database/changes.ts';
import type { AskedChanges, BadCursor, Change, ChangePage, UrlState } from './store.ts';

// What both engines do with the rows of `changes`.

/** Rows that one statement reads: with at most 200 subjects each, some hundred kilobytes. */
export const ROWS_AT_ONCE = 50;

export type StoredRow = [seq: number, count: number, ts: number, op: number, kind: number | null, subjects: string];

type CursorState = {
  newest: number;
  /** Whether a row ends with the number of the cursor. */
  isEndOfRow: boolean;
  /** The first row after the cursor. */
  first: StoredRow | undefined;
};

/**
 * Null if no change after the cursor is missing. Numbers follow each other without a gap, except where some were skipped
 * after a failover or a restore: there the last number before the gap is a good cursor, and one inside of it is not. Old rows
 * are deleted from the beginning.
 */
export function cursorFault(after: number, { newest, isEndOfRow, first }: CursorState): BadCursor | null {
  if (after > newest) return 'unknown';
  if (after === newest || isEndOfRow) return null;
  return first !== undefined && first[0] - first[1] <= after ? null : 'gone';
}

type PickedChange = { seq: number; ts: number; op: ChangeOperation; kind: ChangeKind; subject: ChangeSubject };

/** The first subjects of rows that are asked for, and the cursor after them. */
export function pickChanges(
  rows: readonly StoredRow[],
  after: number,
  asked: AskedChanges,
  limit: number,
): { picked: PickedChange[]; lastSeq: number } {
  const picked: PickedChange[] = [];
  let lastSeq = after;
  for (const [seq, count, ts, opCode, kindCode, subjects] of rows) {
    const kind = kindCode === null ? undefined : CHANGE_KINDS[kindCode];
    if (kind !== undefined && isAskedKind(kind, asked)) {
      const op = CHANGE_OPERATIONS[opCode] ?? 'update';
      const firstSeq = seq - count + 1;
      for (const [i, subject] of (JSON.parse(subjects) as ChangeSubject[]).entries()) {
        if (firstSeq + i <= after || !isAsked(kind, subject, asked)) continue;
        if (picked.length === limit) return { picked, lastSeq };
        picked.push({ seq: firstSeq + i, ts, op, kind, subject });
        lastSeq = firstSeq + i;
      }
    }
    lastSeq = seq;
  }
  return { picked, lastSeq };
}

function isAskedKind(kind: ChangeKind, { urls, datasets, domains }: AskedChanges): boolean {
  if (kind === 'url') return urls;
  return kind === 'domain' ? domains : datasets.length > 0;
}

/** An address whose listing follows from URLs is in XBL. */
function isAsked(kind: ChangeKind, subject: ChangeSubject, { datasets }: AskedChanges): boolean {
  if (kind !== 'listing') return true;
  const dataset = ADDRESS_DATASETS[Array.isArray(subject) ? subject[2] : 0];
  return dataset !== undefined && datasets.includes(dataset);
}

/** The ids of the URLs of a page. */
export function urlIdsOf(picked: readonly PickedChange[]): number[] {
  return [...new Set(picked.flatMap(({ kind, subject }) => (kind === 'url' ? [subject as number] : [])))];
}

/** The ids of the hosts whose addresses are listed because of URLs. */
export function hostIdsOf(picked: readonly PickedChange[]): number[] {
  const isHost = ({ kind, subject }: PickedChange) => kind === 'listing' && typeof subject === 'number';
  return [...new Set(picked.filter(isHost).map(({ subject }) => subject as number))];
}

/** The address in hexadecimal. */
export type HostRow = [id: number, ip: string];

export type UrlStateRow = [
  id: number,
  url: string,
  eventTs: number | null,
  eventKind: number | null,
  removal: string | null,
  reporter: string | null,
  payloadTs: number | null,
  sha256: string | null,
  family: string | null,
];

/** A page with the state of its URLs. Left out is a URL without a row, in a damaged database, and a host that is no address. */
export function pageOf(
  { picked, lastSeq }: ReturnType<typeof pickChanges>,
  rows: readonly UrlStateRow[],
  hosts: readonly HostRow[],
): ChangePage {
  const addresses = new Map(hosts);
  const urls = new Map(rows.map((row) => [row[0], toUrlState(row)]));
  const changes = picked.flatMap(({ subject, kind, ...change }): Change[] => {
    if (kind === 'domain') return [{ ...change, kind, domain: subject as string }];
    if (kind === 'listing') {
      const listing = typeof subject === 'number' ? addresses.get(subject) : subject;
      return listing === undefined ? [] : [{ ...change, kind, listing }];
    }
    const url = urls.get(subject as number);
    return url === undefined ? [] : [{ ...change, kind, url }];
  });
  return { changes, lastSeq };
}

function toUrlState(row: UrlStateRow): UrlState {
  const [id, url, eventTs, kind, removal, reporter, payloadTs, sha256, family] = row;
  const hasStatus = eventTs !== null && kind !== null;
  return {
    id,
    url,
    status: hasStatus ? { ts: eventTs, kind, removal: removal ?? '', reporter: reporter ?? '' } : null,
    payload: payloadTs === null ? null : { ts: payloadTs, sha256, family },
  };
}

/** Of the oldest rows, the number of the last one before the first that is not older. Null if there is none to delete. */
export function lastOldSeq(rows: readonly [seq: number, ts: number][], beforeTs: number): number | null {
  let last: number | null = null;
  for (const [seq, ts] of rows) {
    if (ts >= beforeTs) break;
    last = seq;
  }
  return last;
}
