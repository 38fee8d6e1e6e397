import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import { AppError, badRequest } from '../core/errors.ts';
import type { AskedChanges, Change, ChangeStore } from './store.ts';
import { type ChangeViews, changeLine } from './wire.ts';

export type FeedServices = {
  store: Pick<ChangeStore, 'newestChange' | 'oldestCursor' | 'changesAfter'>;
  views: ChangeViews;
  /** Streams end, so that the server need not wait for them. */
  isStopping(): boolean;
};

/** Where a reader is, and what it may see. `after` null: before the oldest change that is kept. */
export type FeedQuery = { after: number | null; asked: AskedChanges };

/** The same for a stream: what its reader may see is asked before every page. Null if it may no longer see anything. */
export type StreamQuery = { after: number | null; asked(): Promise<AskedChanges | null> };

/** A line and its number. */
type NumberedLine = { seq: number; line: string };
type LinePage = { lines: NumberedLine[]; lastSeq: number };

/** Changes in one step of a response. The state of a domain takes up to some milliseconds. */
const PAGE_CHANGES = 200;

/** Lines whose state is read at the same time on PostgreSQL, and before other requests are handled on SQLite. */
const LINES_AT_ONCE = 10;

const STREAM_TIMES = {
  /** How often a stream looks for changes. All streams of a thread share one look. */
  pollMs: 1_000,
  heartbeatMs: 15_000,
  /** A stream ends after this time. Its client connects again, perhaps to a server that was added meanwhile. */
  maxMs: 3_600_000,
};

/** The pages of the change feed as text. */
export function createFeed({ store, views, isStopping }: FeedServices, times = STREAM_TIMES) {
  const { pollMs, heartbeatMs, maxMs } = times;
  const newest = createSharedPoll(store.newestChange);

  async function readPage(after: number, asked: AskedChanges, limit: number): Promise<LinePage> {
    await nextIteration(); // SQLite answers at once: other requests are handled in between
    const page = await store.changesAfter(after, asked, limit);
    if (page === 'unknown') throw cursorUnknown(after);
    if (page === 'gone') throw await cursorGone();
    return { lines: await toLines(page.changes), lastSeq: page.lastSeq };
  }

  async function cursorGone(): Promise<AppError> {
    const now = await store.newestChange();
    return new AppError('gone', `Changes after this number are not kept: load a full list, then continue after ${now}`);
  }

  async function toLines(changes: readonly Change[]): Promise<NumberedLine[]> {
    const viewListing = await views.listings();
    const lines: NumberedLine[] = [];
    for (let at = 0; at < changes.length; at += LINES_AT_ONCE) {
      const some = changes.slice(at, at + LINES_AT_ONCE);
      const texts = await Promise.all(some.map((change) => changeLine(change, viewListing, views.domain)));
      for (const [i, line] of texts.entries()) if (line !== null) lines.push({ seq: some[i]?.seq ?? 0, line });
      if (at + LINES_AT_ONCE < changes.length) await nextIteration();
    }
    return lines;
  }

  return {
    /** Throws if no change has this number yet. One that is not above a number that was read before needs no read. */
    async checkCursor(after: number): Promise<void> {
      if (after > (await newest(Number.POSITIVE_INFINITY)) && after > (await newest(0))) throw cursorUnknown(after);
    },

    /** All up to the newest change, but at most `limit`. */
    async *lines({ after, asked }: FeedQuery, limit: number, signal: AbortSignal): AsyncGenerator<string> {
      let cursor = after ?? (await store.oldestCursor());
      const last = await store.newestChange();
      for (let left = limit; left > 0; ) {
        signal.throwIfAborted();
        const page = await readPage(cursor, asked, Math.min(left, PAGE_CHANGES));
        if (page.lines.length > 0) yield page.lines.map(({ line }) => `${line}\n`).join('');
        left -= page.lines.length;
        cursor = page.lastSeq;
        if (cursor >= last) return;
      }
    },

    /** Server-sent events, without an end of their own. A comment first, so that the reader gets its response at once. */
    async *events({ after, asked: askNow }: StreamQuery, signal: AbortSignal): AsyncGenerator<string> {
      let cursor = after ?? (await store.oldestCursor());
      let writtenMs = Number.NEGATIVE_INFINITY;
      const isHeartbeatDue = () => performance.now() - writtenMs >= heartbeatMs;
      const endMs = performance.now() + maxMs;
      for (;;) {
        signal.throwIfAborted();
        const asked = await askNow();
        if (asked === null) return;
        const page = await readPage(cursor, asked, PAGE_CHANGES);
        const isLast = page.lastSeq === cursor || page.lastSeq >= (await newest(0));
        cursor = page.lastSeq;
        const events = page.lines.map(({ seq, line }) => `id: ${seq}\ndata: ${line}\n\n`).join('');
        if (events !== '' || isHeartbeatDue()) {
          yield events || `:\nid: ${cursor}\n\n`;
          writtenMs = performance.now();
        }
        if (!isLast) continue;
        do {
          if (isStopping() || performance.now() >= endMs) return;
          await sleep(pollMs, undefined, { signal });
        } while ((await newest(pollMs)) === cursor && !isHeartbeatDue());
      }
    },
  };
}

function cursorUnknown(after: number): AppError {
  return badRequest(`No change has the number ${after} yet`);
}

/** Returns a function that asks at most once in the given time, whoever calls it. */
function createSharedPoll(ask: ChangeStore['newestChange']): (maxAgeMs: number) => Promise<number> {
  let newest: Promise<number> | null = null;
  let askedMs = 0;
  return (maxAgeMs) => {
    if (newest === null || performance.now() - askedMs >= maxAgeMs) {
      askedMs = performance.now();
      newest = Promise.resolve(ask());
      newest.catch(() => {
        newest = null;
      });
    }
    return newest;
  };
}
