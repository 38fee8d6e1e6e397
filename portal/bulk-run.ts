import type { BulkEndLine, BulkFaultLine, BulkFoundLine, BulkUnknownLine } from '../src/urls/schemas.ts';
import { ApiError, LIMIT_REACHED, records, tightestLimit } from './api.ts';
import { type BulkRow, type InputKind, newReading, type Reading, readBlob, sentText } from './bulk-read.ts';
import { counted, numberText } from './format.ts';
import { LIMIT_WORDS, readMonth } from './limits.ts';
import { toApiError } from './load.ts';
import { signal } from './signal.ts';

// The list that is being looked up. It outlives its page: whoever looks at a URL and goes back pays only once.

/** Why it is not complete. `cut`: the connection ended before the end of the response. */
type Stop = { how: 'cancelled' | 'cut' } | { how: 'failed'; error: ApiError };

export type Bulk = {
  owner: string;
  /** Of the file; empty for a text. */
  name: string;
  blob: Blob;
  kind: InputKind;
  reading: Reading;
  phase: 'reading' | 'read' | 'running' | 'stopped' | 'done';
  /** How much of the file is read, from 0 to 1. */
  part: number;
  /** There are more URLs than a page can have. */
  isFull: boolean;
  answered: number;
  found: number;
  unknown: number;
  charged: number;
  /** The first row without a result. */
  next: number;
  stop: Stop | null;
  /** The results so far were downloaded. */
  isSaved: boolean;
  /** What the table shows. Another choice is another object, with a scroll position of its own. */
  view: { filter: Filter };
};

export const bulk = signal<Bulk | null>(null);

const PATH = '/api/intel/v2/byobject/url/bulk';
/** The bounds of a request. */
const MAX_LINES = 10_000;
const MAX_BYTES = 8 * 2 ** 20;
/** A UTF-16 unit is at most three bytes of UTF-8. */
const BYTES_PER_UNIT = 3;
/** The page is drawn at most this often while results arrive. */
const DRAW_MS = 80;

let abort = new AbortController();

/** Nothing happens if another list was chosen meanwhile. */
function change(reading: Reading, changed: Partial<Bulk>): void {
  if (bulk.value?.reading === reading) bulk.value = { ...bulk.value, ...changed };
}

export function forgetBulk(): void {
  abort.abort();
  bulk.value = null;
}

/** Reads a text or a file again whenever it or its kind changes. Nothing is sent. */
export async function readInput(blob: Blob, name: string, owner: string, kind: InputKind | null): Promise<void> {
  abort.abort();
  abort = new AbortController();
  const { signal } = abort;
  const reading = newReading();
  const view = bulk.value?.view ?? { filter: 'all' };
  bulk.value = {
    owner,
    name,
    blob,
    kind: kind ?? 'text',
    reading,
    phase: 'reading',
    part: 0,
    isFull: false,
    answered: 0,
    found: 0,
    unknown: 0,
    charged: 0,
    next: 0,
    stop: null,
    isSaved: false,
    view,
  };
  try {
    const onPiece = (part: number, found: InputKind) => change(reading, { part, kind: found });
    const isWhole = await readBlob(blob, reading, { name, kind, onPiece, signal });
    change(reading, { phase: 'read', isFull: !isWhole });
  } catch (error) {
    if (signal.aborted) return; // another input was chosen
    const unreadable = new ApiError(-1, `The file could not be read: ${toApiError(error).message}`);
    change(reading, { phase: 'read', stop: { how: 'failed', error: unreadable } });
  }
}

export function chooseFilter(filter: Filter): void {
  if (bulk.value !== null) bulk.value = { ...bulk.value, view: { filter } };
}

/** After a download. */
export function markSaved({ reading }: Bulk): void {
  change(reading, { isSaved: true });
}

/** Somebody who closes or reloads the page would pay for these results again. */
export const isUnsaved = (current: Bulk | null): boolean =>
  current !== null && !current.isSaved && (current.phase === 'running' || current.answered > 0);

/** The browser asks before it leaves the page. */
function askBeforeLeaving(event: Event): void {
  if (isUnsaved(bulk.value)) event.preventDefault();
}

export const cancelBulk = (): void => abort.abort();

/** Begins, or goes on with the first URL that has no result. */
export async function lookUp(): Promise<void> {
  const started = bulk.value;
  if (started === null || started.phase === 'running') return;
  const { reading } = started;
  abort = new AbortController();
  addEventListener('beforeunload', askBeforeLeaving); // the same listener is added once
  change(reading, { phase: 'running', stop: null, isSaved: false });
  const stop = await askAll(started, abort.signal);
  change(reading, { phase: stop === null ? 'done' : 'stopped', stop });
  tightestLimit.value = null;
  void readMonth();
}

async function askAll({ reading, next: from }: Bulk, signal: AbortSignal): Promise<Stop | null> {
  for (let next = from; ; ) {
    const batch = nextBatch(reading.rows, next);
    if (batch.rows.length === 0) return null;
    const { answered, stop } = await askBatch(batch, reading, signal);
    if (stop !== null) return stop;
    next = batch.indexes[answered] ?? (batch.indexes.at(-1) ?? 0) + 1;
  }
}

type Batch = { rows: BulkRow[]; indexes: number[]; body: string };

/** The next valid URLs that fit into one request. */
export function nextBatch(rows: readonly BulkRow[], from: number): Batch {
  const batch: Batch = { rows: [], indexes: [], body: '' };
  const lines: string[] = [];
  let bytes = 0;
  for (let i = from; i < rows.length && batch.rows.length < MAX_LINES; i++) {
    const row = rows[i];
    if (row === undefined || row.url === null) continue;
    const line = `${sentText(row)}\n`;
    bytes += line.length * BYTES_PER_UNIT;
    if (bytes > MAX_BYTES) break;
    lines.push(line);
    batch.rows.push(row);
    batch.indexes.push(i);
  }
  batch.body = lines.join('');
  return batch;
}

type Line = BulkFoundLine | BulkUnknownLine | BulkFaultLine | BulkEndLine;

type Outcome = { answered: number; stop: Stop | null };

/** `stop` is null if all of it is answered, or as much as one request may have. */
async function askBatch({ rows, indexes, body }: Batch, reading: Reading, signal: AbortSignal): Promise<Outcome> {
  const { answered = 0, found = 0, unknown = 0, charged = 0 } = bulk.value ?? {};
  const sums = { found, unknown, charged };
  let end: BulkEndLine | null = null;
  let count = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const draw = () => {
    clearTimeout(timer);
    timer = undefined;
    const next = indexes[count] ?? (indexes.at(-1) ?? 0) + 1;
    change(reading, { ...sums, answered: answered + count, next });
  };
  try {
    for await (const group of records<Line>(PATH, body, signal)) {
      for (const line of group) {
        const row = rows[count];
        if ('end' in line) end = line;
        else if (row !== undefined) {
          count++;
          if ('error' in line) reading.invalid++;
          else if (line.found) sums.found++;
          else sums.unknown++;
          setResult(row, line);
        }
      }
      timer ??= setTimeout(draw, DRAW_MS);
    }
  } catch (error) {
    draw();
    if (signal.aborted) return { answered: count, stop: { how: 'cancelled' } };
    return { answered: count, stop: error instanceof ApiError ? { how: 'failed', error } : { how: 'cut' } };
  }
  sums.charged += end?.charged ?? 0;
  draw();
  return { answered: count, stop: stopOf(end, count, rows.length) };
}

function setResult(row: BulkRow, line: Exclude<Line, BulkEndLine>): void {
  if ('error' in line) row.error = line.error.message;
  else row.found = line.found ? line : null;
}

/** `count` lines of `wanted` are answered. */
export function stopOf(end: BulkEndLine | null, count: number, wanted: number): Stop | null {
  if (end === null) return { how: 'cut' };
  if (end.stopped_at === undefined) return count === wanted ? null : { how: 'cut' };
  if (end.stopped_at !== count + 1) return { how: 'cut' };
  const { limit = '', retry_after: retryAfterSeconds = 0 } = end;
  // A bound of the request: the rest is sent in another one.
  if (limit === 'lines' || limit === 'bytes') return count > 0 ? null : { how: 'cut' };
  const message = `Your limit is used up ${LIMIT_WORDS[limit] ?? limit}. The results so far are kept.`;
  return { how: 'failed', error: new ApiError(LIMIT_REACHED, message, retryAfterSeconds) };
}

/** Valid URLs that have no result yet. */
export const unanswered = ({ reading, answered }: Bulk): number => reading.valid - answered;

/** Why a result is not the whole one; null if it is. */
export function incompleteText(current: Bulk): string | null {
  const left = unanswered(current);
  if (left === 0) return null;
  return `Incomplete: ${counted(left, 'URL')} of ${numberText(current.reading.valid)} ${left === 1 ? 'was' : 'were'} not looked up.`;
}

export type Filter = 'all' | 'found' | 'unknown' | 'invalid' | 'defanged';

const FILTERS: Record<Filter, (row: BulkRow) => boolean> = {
  all: () => true,
  found: ({ found }) => Boolean(found),
  unknown: ({ found }) => found === null,
  invalid: ({ error }) => error !== null,
  defanged: ({ isDefanged }) => isDefanged,
};

export const filtered = (rows: readonly BulkRow[], filter: Filter): readonly BulkRow[] =>
  filter === 'all' ? rows : rows.filter(FILTERS[filter]);
