import type { Payload, StatusEvent } from '../core/records.ts';
import { FIRST_HIDDEN_KIND } from './entry-kind.ts';
import { pageOf, readPages } from './pages.ts';
import { type EventRow, type PayloadRow, toEvent, toPayload } from './record-rows.ts';
import type { Store } from './store.ts';

export type EventKey = [ts: number, kind: number];
export type PayloadKey = [ts: number, fileId: number];

/** What an engine reads of one URL: pages of `PAGE_ROWS` from the newest end, hidden entries included. */
export type StreamReads = {
  statuses(id: number, since: number, before: EventKey, signal: AbortSignal): EventRow[] | Promise<EventRow[]>;
  payloads(id: number, before: PayloadKey, signal: AbortSignal): PayloadRow[] | Promise<PayloadRow[]>;
};

/** The newest records of one URL, page by page. */
export function createUrlStreams(reads: StreamReads): Pick<Store, 'statuses' | 'payloads'> {
  return {
    statuses(id, { since, until }, bounds) {
      return readPages<StatusEvent, EventKey>([until + 1, 0], bounds, async (key) => {
        const rows = await reads.statuses(id, since, key, bounds.signal);
        const page = pageOf(rows, toEvent, ([ts, kind]): EventKey => [ts, kind]);
        return { ...page, items: page.items.filter((_, i) => (rows[i]?.[1] ?? 0) < FIRST_HIDDEN_KIND) };
      });
    },

    payloads(id, bounds) {
      return readPages<Payload, PayloadKey>([Number.MAX_SAFE_INTEGER, 0], bounds, async (key) =>
        pageOf(await reads.payloads(id, key, bounds.signal), toPayload, ([ts, fileId]): PayloadKey => [ts, fileId]),
      );
    },
  };
}
