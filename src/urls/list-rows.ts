import { setImmediate } from 'node:timers/promises';
import { CONFIRMED_COLUMN } from './rows.ts';
import { FIRST_OFFLINE_KIND, type ListedUrl, type ListedUrlFilter, type UrlStore } from './store.ts';
import { isOnline } from './stored-timeline.ts';

// The URLs of lists for devices, as both engines read them.

export const SEEN_COLUMN = `coalesce(${CONFIRMED_COLUMN}, u.event_ts)`;

// A family that became known later is copied from the file to its payloads, so the row of the file is not asked for it.
export const PAYLOAD_JOIN =
  'left join payloads p on p.url_id = u.id and p.ts = u.payload_ts and p.file_id = u.payload_file_id';

/** Other payloads of the same time, with a family. */
export const OTHER_PAYLOADS =
  'payloads o where o.url_id = u.id and o.ts = u.payload_ts and o.file_id <> u.payload_file_id and o.family_id is not null';

export const IS_ONLINE = `u.event_kind < ${FIRST_OFFLINE_KIND}`;

export function statusOf(kind: number): ListedUrl['status'] {
  return isOnline(kind) ? 'online' : 'offline';
}

/** The host of a normalized URL, which has no user name. To parse the URL takes ten times as long. */
export function hostOf(url: string): string {
  const from = url.indexOf('://') + 3;
  const slash = url.indexOf('/', from);
  const end = slash === -1 ? url.length : slash;
  // An IPv6 address is in brackets, and has colons itself.
  const colon = url.indexOf(':', url[from] === '[' ? url.indexOf(']', from) : from);
  return url.slice(from, colon === -1 || colon > end ? end : colon);
}

export const NO_TAGS: readonly string[] = [];

type ListedReads = {
  lastId(): number | Promise<number>;
  /** The URLs of the ids after `afterId` up to `lastId` that fit. */
  ofIds(filter: ListedUrlFilter, afterId: number, lastId: number): ListedUrl[] | Promise<ListedUrl[]>;
  /** The URLs of one host; at most `MAX_HOST_URLS`. */
  ofHost(host: string): ListedUrl[] | Promise<ListedUrl[]>;
};

/** URLs of one host that are read to explain why it is not on a list. */
export const MAX_HOST_URLS = 10_000;

/** Reads ranges of ids. Between two of them no transaction is open, so that a checkpoint can empty the write-ahead log. */
export function createUrlsForList(reads: ListedReads, idsPerRead: number): UrlStore['urlsForList'] {
  return async function* urlsForList(filter) {
    if (filter.host !== undefined) {
      const urls = (await reads.ofHost(filter.host)).filter((url) => fits(url, filter));
      if (urls.length > 0) yield urls;
      return;
    }
    const lastId = await reads.lastId();
    for (let afterId = 0; afterId < lastId; afterId += idsPerRead) {
      const urls = await reads.ofIds(filter, afterId, afterId + idsPerRead);
      if (urls.length > 0) yield urls;
      await setImmediate();
    }
  };
}

function fits({ status, seenTs }: ListedUrl, filter: ListedUrlFilter): boolean {
  return (filter.status === 'any' || filter.status === status) && seenTs >= filter.seenSinceTs;
}
