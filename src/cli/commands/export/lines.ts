import { parseIp } from '../../../core/ip.ts';
import { printPaper } from '../../../core/observation-paper.ts';
import { STATUS_OF } from '../../../core/records.ts';
import type { ExportedUrl, ExportFilter, Store } from '../../../store/store.ts';
import { csvRow } from './csv-row.ts';

/** Text of whole lines, a page of the store at a time. */
export type Lines = (store: Store, filter: ExportFilter, signal: AbortSignal) => AsyncIterable<string>;

export const ndjsonLines: Lines = async function* (store, filter, signal) {
  for await (const observations of store.exportObservations(filter, signal)) {
    yield observations.map((observation) => `${printPaper(observation)}\n`).join('');
  }
};

const CSV_COLUMNS = ['url', 'status', 'ts', 'removal', 'reporter', 'payload_ts', 'sha256_hash', 'mime_type'];
const CSV_HEADINGS = [...CSV_COLUMNS, 'file_type', 'file_ext', 'file_size', 'file_name', 'malware_family'];

export const csvLines: Lines = async function* (store, filter, signal) {
  yield csvRow(CSV_HEADINGS);
  for await (const urls of store.exportUrls(filter, signal)) yield urls.map(toCsvRow).join('');
};

function toCsvRow({ url, event, payload }: ExportedUrl): string {
  return csvRow([
    url,
    event === null ? null : STATUS_OF[event.kind],
    event?.ts ?? null,
    event?.removal ?? null,
    event?.reporter ?? null,
    payload?.ts ?? null,
    payload?.sha256 ?? null,
    payload?.mimeType ?? null,
    payload?.fileType ?? null,
    payload?.fileExt ?? null,
    payload?.fileSize ?? null,
    payload?.fileName ?? null,
    payload?.family ?? null,
  ]);
}

export const urlLines: Lines = async function* (store, filter, signal) {
  for await (const urls of store.exportUrls(filter, signal)) yield urls.map(({ url }) => `${url}\n`).join('');
};

/** Each name once: the names are held, which takes about 100 bytes each; URLs at addresses cost nothing. */
export const hostsLines: Lines = async function* (store, filter, signal) {
  const named = new Set<string>();
  for await (const urls of store.exportUrls(filter, signal)) {
    const fresh = new Set(urls.map(({ host }) => host).filter((host) => !named.has(host) && !isAddress(host)));
    for (const host of fresh) named.add(host);
    yield [...fresh].map((host) => `0.0.0.0 ${host}\n`).join('');
  }
};

function isAddress(host: string): boolean {
  return parseIp(host.replace(/^\[|\]$/g, '')) !== null;
}
