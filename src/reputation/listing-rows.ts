import type { Awaitable } from '../core/awaitable.ts';
import { toBytes } from '../core/byte-text.ts';
import { ADDRESS_DATASETS, type AddressDataset, type ListingEvidence, type Source } from '../core/evidence.ts';
import { KEY_BITS, type KeyNetwork } from '../core/ip/key-network.ts';
import { compareTexts } from '../core/text.ts';
import { rowPages } from '../database/pages.ts';
import { type ListingEvidenceRow, NO_PORT } from './episode-rows.ts';
import { FIRST_LISTING, type ListingKey, type ReputationStore, type StoredListing } from './store.ts';

// What both engines do with the rows of `episodes`.

export function isSingleAddress({ prefix }: KeyNetwork): boolean {
  return prefix === KEY_BITS;
}

export function datasetCodes(datasets: readonly AddressDataset[]): number[] {
  return datasets.map((dataset) => ADDRESS_DATASETS.indexOf(dataset));
}

export const datasetOf = (code: number): AddressDataset => ADDRESS_DATASETS[code] as AddressDataset;

export const portOf = (port: number): number | null => (port === NO_PORT ? null : port);

/** What the log of changes says of a listing. */
export function recordedListing([ip, prefix, dataset, source, family, port]: ListingEvidenceRow) {
  return { ip: toBytes(ip), prefix, dataset, source, family: family === '' ? null : family, port: portOf(port) };
}

/** How many columns the primary key has. */
const KEY_COLUMNS = 7;

export function listingKey(row: readonly [...ListingKey, ...unknown[]]): ListingKey {
  return row.slice(0, KEY_COLUMNS) as ListingKey;
}

/** The columns of the primary key, of the episode `e`. */
export const EPISODE_KEY = 'e.ip, e.prefix, e.dataset, e.source_id, e.family_id, e.port, e.listed_ts';

/** A row of an export. */
export type ExportRow = [...ListingKey, seenTs: number, details: string, source: string, family: string | null];

function toListingEvidence(row: ExportRow): ListingEvidence {
  const [ip, prefix, dataset, , , port, listedTs, ts, details, source, family] = row;
  return {
    source,
    network: { ip, prefix },
    dataset: datasetOf(dataset),
    family,
    port: portOf(port),
    listedTs,
    ts,
    details,
  };
}

/** The order of an export within one network: by names, because ids depend on the order of arrival. */
function compareListingEvidence(a: ListingEvidence, b: ListingEvidence): number {
  return (
    ADDRESS_DATASETS.indexOf(a.dataset) - ADDRESS_DATASETS.indexOf(b.dataset) ||
    compareTexts(a.source, b.source) ||
    compareTexts(a.family ?? '', b.family ?? '') ||
    (a.port ?? NO_PORT) - (b.port ?? NO_PORT) ||
    a.listedTs - b.listedTs
  );
}

/** `read`: the next `PAGE_ROWS` after a key. */
export function createListingExport(
  read: (after: ListingKey) => Awaitable<ExportRow[]>,
): ReputationStore['exportListings'] {
  return () => inNetworkOrder(rowPages(read, FIRST_LISTING, listingKey));
}

/** Pages of evidence in order of network, from pages of rows in order of key. A network is never split over two pages. */
async function* inNetworkOrder(pages: AsyncIterable<ExportRow[]>): AsyncGenerator<ListingEvidence[], void, void> {
  let rest: ListingEvidence[] = [];
  for await (const rows of pages) {
    const all = [...rest, ...rows.map(toListingEvidence)];
    const last = all.at(-1)?.network;
    const cut = all.findIndex(({ network }) => last !== undefined && isSameNetwork(network, last));
    rest = all.splice(cut);
    if (all.length > 0) yield sortNetworks(all);
  }
  if (rest.length > 0) yield sortNetworks(rest);
}

/** The networks are in order already; sorting is stable. */
function sortNetworks(evidence: ListingEvidence[]): ListingEvidence[] {
  return evidence.sort((a, b) => compareNetworks(a.network, b.network) || compareListingEvidence(a, b));
}

/** Of networks with the same first address, the greatest first. */
export function compareNetworks(a: KeyNetwork, b: KeyNetwork): number {
  return Buffer.compare(a.ip, b.ip) || a.prefix - b.prefix;
}

export function isSameNetwork(a: KeyNetwork, b: KeyNetwork): boolean {
  return compareNetworks(a, b) === 0;
}

export type SourceRow = [
  id: number,
  name: string,
  trustPermille: number,
  lifeSeconds: number | null,
  intervalSeconds: number | null,
];

export function toSourceWithId([id, name, trustPermille, lifeSeconds, intervalSeconds]: SourceRow): Source & {
  id: number;
} {
  return { id, name, trustPermille, lifeSeconds, intervalSeconds };
}

export const EPISODE_COLUMNS = `
  e.ip, e.prefix, e.dataset, e.port, e.listed_ts, e.seen_ts, families.name, sources.id, sources.name,
  sources.trust_permille, sources.life_seconds, sources.interval_seconds`;

export const EPISODE_JOINS = `
  join sources on sources.id = e.source_id left join families on families.id = e.family_id`;

/** An episode without its details, which lists do not need. */
export type EpisodeRow = [
  ip: Uint8Array,
  prefix: number,
  dataset: number,
  port: number,
  listedTs: number,
  seenTs: number,
  family: string | null,
  ...SourceRow,
];

export function toListing(row: EpisodeRow, details: string): StoredListing {
  const [ip, prefix, dataset, port, listedTs, seenTs, family, ...source] = row;
  return {
    network: { ip, prefix },
    dataset: datasetOf(dataset),
    source: toSourceWithId(source),
    family,
    port: portOf(port),
    listedTs,
    seenTs,
    details,
  };
}
