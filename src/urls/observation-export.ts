import { setImmediate } from 'node:timers/promises';
import type { Awaitable } from '../core/awaitable.ts';
import { formatIp } from '../core/ip/address.ts';
import { MAX_TAGS, type ObservationInput } from '../core/observation.ts';
import { PAGE_ROWS, rowPages } from '../database/pages.ts';
import { hostAddress } from './resolution-rules.ts';
import { comparePayloadRows, type EntryKey, type PayloadKey, type PayloadRow, toPayload } from './rows.ts';
import type { ExportedUrl, ExportFilter, UrlStore } from './store.ts';
import { type EntryRow, toEntry } from './stored-timeline.ts';
import { type Entry, type Run, runsWithImplied } from './timeline.ts';

export type ResolutionRow = [ip: Uint8Array, day: number, ts: number, asn: number | null];

export type ResolutionKey = [ip: Uint8Array, day: number];

export type ReadPage<Row, Key> = (urlId: number, after: Key) => Awaitable<Row[]>;

/** The stored rows of one URL, in pages by key: the next `PAGE_ROWS` after `after`. */
export type UrlRows = {
  entries: ReadPage<EntryRow, EntryKey>;
  resolutions: ReadPage<ResolutionRow, ResolutionKey>;
  payloads: ReadPage<PayloadRow, PayloadKey>;
};

/** Keys before all others. */
export const FIRST_ENTRY: EntryKey = [-1, 0];
export const FIRST_RESOLUTION: ResolutionKey = [new Uint8Array(0), 0];
export const FIRST_PAYLOAD: PayloadKey = [-1, 0];

type Observations = AsyncGenerator<ObservationInput[], void, void>;

/**
 * For each URL, in order of key: its timeline, its resolutions by address and day, its payloads by time and file key. The
 * first one has the tags: an observation of its own would need a time, and would add a resolution to a URL at an address.
 * At most the timeline of one URL and its payloads of one second are in memory. `rowsOf` gets the URLs of the next page.
 */
export function createObservationExport(
  exportUrls: UrlStore['exportUrls'],
  rowsOf: (urls: readonly ExportedUrl[]) => Awaitable<UrlRows>,
): UrlStore['exportObservations'] {
  return async function* exportObservations(filter: ExportFilter): Observations {
    let page: ObservationInput[] = [];
    for await (const urls of exportUrls(filter)) {
      const rows = await rowsOf(urls);
      for (const exported of urls) {
        let { tags } = exported;
        for await (const observations of observationsOf(exported, rows)) {
          const [first] = observations;
          if (tags.length > 0 && first !== undefined) {
            page.push(...withTags(first, tags));
            observations.shift();
            tags = [];
          }
          for (const one of observations) page.push(one);
          if (page.length < PAGE_ROWS) continue;
          yield page;
          page = [];
          await setImmediate();
        }
      }
    }
    if (page.length > 0) yield page;
  };
}

async function* observationsOf(exported: ExportedUrl, rows: UrlRows): Observations {
  const { url, event, payload: last } = exported;
  if (event !== null) yield* statusesOf(exported, rows);
  // For a URL at an address every observation adds a resolution of its time. So its payloads are exported with the time
  // of a resolution that exists.
  const hostIp = last === null ? null : hostAddress(url);
  const hostText = hostIp === null ? null : formatIp(hostIp);
  let hostTs: number | null = null;
  let hasData = event !== null || last !== null;
  for await (const observations of resolutionsOf(exported, rows)) {
    hasData = true;
    if (hostText !== null) hostTs ??= observations.find(({ ip }) => ip === hostText)?.ts ?? null;
    yield observations;
  }
  if (last !== null) yield* payloadsOf(exported, rows, hostTs);
  // A URL without any data: the time of the observation does not matter.
  if (!hasData) yield [{ ts: 0, url, status: null }];
}

/** Repeats the observation if there are more tags than one may have. */
function withTags(observation: ObservationInput, tags: readonly string[]): ObservationInput[] {
  const repeated: ObservationInput[] = [];
  for (let i = 0; i < tags.length; i += MAX_TAGS) repeated.push({ ...observation, tags: tags.slice(i, i + MAX_TAGS) });
  return repeated;
}

async function* statusesOf({ id, url }: ExportedUrl, { entries }: UrlRows): Observations {
  const timeline: Entry[] = [];
  const pages = rowPages(
    (after) => entries(id, after),
    FIRST_ENTRY,
    ([ts, kind]): EntryKey => [ts, kind],
  );
  for await (const rows of pages) for (const row of rows) timeline.push(toEntry(row));
  yield runsWithImplied(timeline).flatMap((run) => runEnds(url, run));
}

async function* resolutionsOf({ id, url }: ExportedUrl, { resolutions }: UrlRows): Observations {
  const pages = rowPages(
    (after) => resolutions(id, after),
    FIRST_RESOLUTION,
    ([ip, day]): ResolutionKey => [ip, day],
  );
  for await (const rows of pages) yield rows.map((row) => resolution(url, row));
}

async function* payloadsOf({ id, url }: ExportedUrl, { payloads }: UrlRows, hostTs: number | null): Observations {
  let ofNewestTs: PayloadRow[] = [];
  const pages = rowPages(
    (after) => payloads(id, after),
    FIRST_PAYLOAD,
    ([ts, fileId]): PayloadKey => [ts, fileId],
  );
  for await (const rows of pages) {
    const [newest] = rows.at(-1) as PayloadRow;
    const all = [...ofNewestTs, ...rows];
    ofNewestTs = all.filter(([ts]) => ts === newest);
    const older = all.filter(([ts]) => ts !== newest).sort(comparePayloadRows);
    yield older.map((row) => payload(url, hostTs, row));
  }
  yield ofNewestTs.sort(comparePayloadRows).map((row) => payload(url, hostTs, row));
}

function runEnds(url: string, { ts, status, removal, reporter, confirmedTs }: Run): ObservationInput[] {
  const first = { ts, url, status, ...(removal && { removal }), ...(reporter && { reporter }) };
  return confirmedTs === ts ? [first] : [first, { ...first, ts: confirmedTs }];
}

function resolution(url: string, [ip, , ts, asn]: ResolutionRow): ObservationInput {
  return { ts, url, status: null, ip: formatIp(ip), ...(asn !== null && { asn }) };
}

function payload(url: string, hostTs: number | null, row: PayloadRow): ObservationInput {
  const values = Object.entries(toPayload(row)).filter(([, value]) => value !== null);
  return { ts: hostTs ?? row[0], url, status: null, payload: Object.fromEntries(values) };
}
