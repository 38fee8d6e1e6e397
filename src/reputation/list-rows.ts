import { registrableDomain } from '../core/domain-name.ts';
import {
  ADDRESS_DATASETS,
  type ListEntry,
  NAME_LIST_KINDS,
  NETWORK_LIST_KINDS,
  type NetworkListKind,
} from '../core/evidence.ts';
import { compareTexts } from '../core/text.ts';
import { longestLife } from './episode-rules.ts';
import { datasetOf } from './listing-rows.ts';
import type { AddressLists, ListingRemoval, NetworkListEntry } from './store.ts';

/** An entry of a list of networks, in the order of the columns. */
export type NetworkListRow = [kind: number, ip: Uint8Array, prefix: number, source: string, ts: number, reason: string];
/** An entry of a list of names, in the order of the columns. */
export type NameListRow = [name: string, kind: number, source: string, ts: number];

/**
 * The rows of entries, each kind in order of key. Of several entries with one key the newest; of two reasons of one time, the
 * greater text, so that the order does not matter. A name counts for its registrable domain, and is kept itself: a site
 * like docs.example.com may be shared, while other names of example.com are not (`nameLists`).
 */
export function toListRows(entries: readonly ListEntry[]): { networks: NetworkListRow[]; names: NameListRow[] } {
  const networks: NetworkListRow[] = [];
  const names: NameListRow[] = [];
  for (const entry of entries) {
    if ('network' in entry) {
      const { ip, prefix } = entry.network;
      networks.push([NETWORK_LIST_KINDS.indexOf(entry.as), ip, prefix, entry.source, entry.ts, entry.reason]);
    } else {
      const domain = registrableDomain(entry.name) ?? entry.name;
      for (const name of new Set([domain, entry.name])) {
        names.push([name, NAME_LIST_KINDS.indexOf(entry.as), entry.source, entry.ts]);
      }
    }
  }
  networks.sort((a, b) => compareNetworkKeys(a, b) || b[4] - a[4] || compareTexts(b[5], a[5]));
  names.sort((a, b) => compareNameKeys(a, b) || b[3] - a[3]);
  return { networks: firstOfEach(networks, compareNetworkKeys), names: firstOfEach(names, compareNameKeys) };
}

function compareNetworkKeys(a: NetworkListRow, b: NetworkListRow): number {
  return a[0] - b[0] || Buffer.compare(a[1], b[1]) || a[2] - b[2] || compareTexts(a[3], b[3]);
}

function compareNameKeys(a: NameListRow, b: NameListRow): number {
  return compareTexts(a[0], b[0]) || a[1] - b[1] || compareTexts(a[2], b[2]);
}

function firstOfEach<Row>(rows: readonly Row[], compareKeys: (a: Row, b: Row) => number): Row[] {
  return rows.filter((row, i) => i === 0 || compareKeys(rows[i - 1] as Row, row) !== 0);
}

export type RemovalRow = [
  ip: Uint8Array,
  prefix: number,
  dataset: number,
  sourceId: number,
  removedTs: number,
  untilTs: number,
  reason: string,
];

export function toRemovalRow({ network, dataset, sourceId, removedTs, untilTs, reason }: ListingRemoval): RemovalRow {
  return [network.ip, network.prefix, ADDRESS_DATASETS.indexOf(dataset), sourceId, removedTs, untilTs, reason];
}

export type LifeRow = [lifeSeconds: number | null, intervalSeconds: number | null];

export function toNetworkListEntry([kind, ip, prefix, source, ts, reason]: NetworkListRow): NetworkListEntry {
  return { as: NETWORK_LIST_KINDS[kind] as NetworkListKind, network: { ip, prefix }, source, ts, reason };
}

/** What `addressLists` returns, from the rows of three tables. */
export function toAddressLists(
  entries: NetworkListEntry[],
  removals: readonly RemovalRow[],
  lives: readonly LifeRow[],
): AddressLists {
  return {
    entries,
    removals: removals.map(([ip, prefix, dataset, sourceId, removedTs, untilTs, reason]): ListingRemoval => {
      return { network: { ip, prefix }, dataset: datasetOf(dataset), sourceId, removedTs, untilTs, reason };
    }),
    longestLifeSeconds: longestLife(lives.map(([lifeSeconds, intervalSeconds]) => ({ lifeSeconds, intervalSeconds }))),
  };
}
