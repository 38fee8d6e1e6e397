import { setImmediate } from 'node:timers/promises';
import { formatIp } from '../../core/ip.ts';
import type { ObservationInput } from '../../core/observation.ts';
import { type Entry, type Run, toldRuns } from '../../core/timeline.ts';
import { normalizeUrl } from '../../core/url.ts';
import type { ExportedUrl, ExportFilter, Store } from '../store.ts';
import { ENTRY_COLUMNS, type EntryRow, toEntry } from './apply-status.ts';
import type { Database, Params, Query } from './database.ts';
import { PAGE_ROWS } from './pages.ts';
import { EVENT_JOINS, PAYLOAD_COLUMNS, PAYLOAD_JOINS, type PayloadRow, toPayload } from './read-url.ts';

// What is known of one URL, in pages by key.

const ENTRIES = `
  select ${ENTRY_COLUMNS} from events e ${EVENT_JOINS}
  where e.url_id = ? and (e.ts, e.kind) > (?, ?) order by e.ts, e.kind limit ${PAGE_ROWS}`;

const RESOLUTIONS = `
  select ip, day, ts, asn from resolutions
  where url_id = ? and (ip, day) > (?, ?) order by ip, day limit ${PAGE_ROWS}`;

const PAYLOADS = `
  select ${PAYLOAD_COLUMNS} from payloads p ${PAYLOAD_JOINS}
  where p.url_id = ? and (p.ts, p.file_id) > (?, ?) order by p.ts, p.file_id limit ${PAGE_ROWS}`;

type ResolutionRow = [ip: Uint8Array, day: number, ts: number, asn: number | null];

type Told = AsyncGenerator<ObservationInput[], void, void>;

const NO_ADDRESS = new Uint8Array(0);

/**
 * Per URL, in order of key: its timeline, then its resolutions by address and day, then its payloads by time and file
 * key. The timeline of one URL is in memory at a time, and its payloads of one second.
 */
export function createExportObservations(db: Database, exportUrls: Store['exportUrls']) {
  const entries = db.prepare<EntryRow>(ENTRIES);
  const resolutions = db.prepare<ResolutionRow>(RESOLUTIONS);
  const payloads = db.prepare<PayloadRow>(PAYLOADS);

  async function* statusesOf({ id, url }: ExportedUrl): Told {
    const timeline: Entry[] = [];
    for await (const rows of pagesOf(entries, id, [-1, 0], ([ts, kind]) => [ts, kind])) {
      for (const row of rows) timeline.push(toEntry(row));
    }
    yield toldRuns(timeline).flatMap((run) => sightings(url, run));
  }

  async function* resolutionsOf({ id, url }: ExportedUrl): Told {
    for await (const rows of pagesOf(resolutions, id, [NO_ADDRESS, 0], ([ip, day]) => [ip, day])) {
      yield rows.map((row) => resolution(url, row));
    }
  }

  async function* payloadsOf({ id, url }: ExportedUrl, toldTs: number | null): Told {
    let together: PayloadRow[] = [];
    for await (const rows of pagesOf(payloads, id, [-1, 0], ([ts, fileId]) => [ts, fileId])) {
      const [newest] = rows.at(-1) as PayloadRow;
      const all = [...together, ...rows];
      together = all.filter(([ts]) => ts === newest);
      yield inOrder(all.filter(([ts]) => ts !== newest)).map((row) => payload(url, toldTs, row));
    }
    yield inOrder(together).map((row) => payload(url, toldTs, row));
  }

  async function* observationsOf(exported: ExportedUrl): Told {
    const { url, event, payload: last } = exported;
    if (event !== null) yield* statusesOf(exported);
    // A URL at an address has a resolution of every time that is told of it, so its payloads are told with one it has.
    const home = last === null ? null : homeOf(url);
    let homeTs: number | null = null;
    let isTold = event !== null || last !== null;
    for await (const observations of resolutionsOf(exported)) {
      isTold = true;
      if (home !== null) homeTs ??= observations.find(({ ip }) => ip === home)?.ts ?? null;
      yield observations;
    }
    if (last !== null) yield* payloadsOf(exported, homeTs);
    // Known, and nothing of it: what time is told of it does not matter.
    if (!isTold) yield [{ ts: 0, url, status: null }];
  }

  return async function* exportObservations(filter: ExportFilter, signal: AbortSignal): Told {
    let page: ObservationInput[] = [];
    for await (const urls of exportUrls(filter, signal)) {
      for (const exported of urls) {
        for await (const observations of observationsOf(exported)) {
          for (const one of observations) page.push(one);
          if (page.length < PAGE_ROWS) continue;
          yield page;
          page = [];
          await setImmediate();
          signal.throwIfAborted();
        }
      }
    }
    if (page.length > 0) yield page;
  };
}

/** The rows of one URL. Most have less than a page of each kind: only between two pages the loop gets its turn. */
async function* pagesOf<Row extends unknown[]>(
  query: Query<Row>,
  id: number,
  first: Params,
  keyOf: (row: Row) => Params,
) {
  for (let key: Params | null = first; key !== null; ) {
    const rows: Row[] = query.all(id, ...(key as number[]));
    if (rows.length > 0) yield rows;
    const last: Row | undefined = rows.length < PAGE_ROWS ? undefined : rows.at(-1);
    key = last === undefined ? null : keyOf(last);
    if (key !== null) await setImmediate();
  }
}

function sightings(url: string, { ts, status, removal, reporter, confirmedTs }: Run): ObservationInput[] {
  const first = { ts, url, status, ...(removal && { removal }), ...(reporter && { reporter }) };
  return confirmedTs === ts ? [first] : [first, { ...first, ts: confirmedTs }];
}

function resolution(url: string, [ip, , ts, asn]: ResolutionRow): ObservationInput {
  return { ts, url, status: null, ip: formatIp(ip), ...(asn !== null && { asn }) };
}

/** The address that is the host of a URL. */
function homeOf(url: string): string | null {
  const parsed = normalizeUrl(url);
  return parsed.ok && parsed.ip !== null ? formatIp(parsed.ip) : null;
}

function payload(url: string, toldTs: number | null, row: PayloadRow): ObservationInput {
  const known = Object.entries(toPayload(row)).filter(([, value]) => value !== null);
  return { ts: toldTs ?? row[0], url, status: null, payload: Object.fromEntries(known) };
}

function inOrder(rows: PayloadRow[]): PayloadRow[] {
  return rows.sort(([ts, , key], [otherTs, , otherKey]) => ts - otherTs || Buffer.compare(key, otherKey));
}
