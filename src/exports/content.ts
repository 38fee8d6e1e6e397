import type { AddressDataset } from '../core/evidence.ts';
import type { KeyNetwork } from '../core/ip/key-network.ts';
import type { ListedUrl } from '../urls/store.ts';

// What is on a list for devices. Formats (`formats/`) turn it into bytes.

export const LIST_KINDS = ['urls', 'hosts', 'addresses'] as const;
export type ListKind = (typeof LIST_KINDS)[number];

export type UrlEntry = ListedUrl;

/** A name, never an address. */
export type HostEntry = {
  /** Normalized, ASCII, without a dot at the end. */
  host: string;
  /** The registrable domain. */
  domain: string;
  /** Of the domain, as the API returns it at the last full hour: nodes that build the list at different times agree. */
  score: number;
  /** When the newest of its URLs on the list came into their status; of a domain that evidence lists, its newest piece began. */
  sinceTs: number;
  seenTs: number;
  /** Families of its URLs and evidence, in alphabetical order. */
  families: readonly string[];
  /** How many of its URLs fit the filter. */
  urls: number;
};

/** A network of one dataset; its listings of several sources are one entry. */
export type AddressEntry = {
  network: KeyNetwork;
  dataset: AddressDataset;
  listedTs: number;
  seenTs: number;
  validUntilTs: number;
  family: string | null;
  port: number | null;
  /** Names of the sources, in alphabetical order. */
  sources: readonly string[];
};

/**
 * All entries of a list, newest first: by the time when they began (`sinceTs`, `listedTs`), then by URL, name, or network
 * and dataset. What was only seen again keeps its place, so that devices need not load the list again.
 */
export type ListEntries =
  | { kind: 'urls'; entries: readonly UrlEntry[] }
  | { kind: 'hosts'; entries: readonly HostEntry[] }
  | { kind: 'addresses'; entries: readonly AddressEntry[] };

/** Why something that fits the filter is not on the list. */
export const LEFT_OUT_REASONS = [
  'address', // a host that is an address, on a list of names
  'shared-site', // many people share the host: path tenants, popular and shared names
  'abused-domain', // a good site that somebody misused
  'shared-address', // a cloud or CDN range, or an address of many unrelated domains
  'reserved', // a private or reserved range inside a wider network
  'allowed', // on an allow list
  'excluded', // an exclusion of the operator
  'over-limit', // more entries than a list may have; the oldest ones
] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

export type ListContent = ListEntries & {
  name: string;
  /** Unix seconds of the newest change of the keys or of what was left out; grows with each change. */
  serial: number;
  /** By reason; reasons without any are absent. */
  leftOut: Readonly<Partial<Record<LeftOutReason, number>>>;
  /** Of a list of hosts: no list of names is imported, so names that many share may be on it. */
  lacksNameLists?: true;
  /** When the next entry ends without a change of the data; null: never. */
  nextEndTs: number | null;
};
