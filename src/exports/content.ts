import type { AddressDataset } from '../core/evidence.ts';
import type { KeyNetwork } from '../core/ip/key-network.ts';

// What is on a list for devices. Formats (`formats/`) turn it into bytes.

export const LIST_KINDS = ['urls', 'hosts', 'addresses'] as const;
export type ListKind = (typeof LIST_KINDS)[number];

/** A URL with its last status and payload. */
export type UrlEntry = {
  /** Normalized. */
  url: string;
  id: number;
  host: string;
  status: 'online' | 'offline';
  /** When the present status began. */
  sinceTs: number;
  /** Newest sighting in that status; without one, `sinceTs`. */
  seenTs: number;
  reporter: string;
  family: string | null;
  sha256: string | null;
  /** In alphabetical order. */
  tags: readonly string[];
};

/** A name, never an address. */
export type HostEntry = {
  /** Normalized, ASCII, without a dot at the end. */
  host: string;
  /** The registrable domain. */
  domain: string;
  /** Of the domain, as the API answers it. */
  score: number;
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

/** All entries of a list, newest first (`seenTs`, then the text of the key). */
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
  'allowed', // on an allow list
  'excluded', // an exclusion of the operator
] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

export type ListContent = ListEntries & {
  name: string;
  /** Unix seconds of the newest change of the content; grows with each change. */
  serial: number;
  /** By reason; reasons without any are absent. */
  leftOut: Readonly<Partial<Record<LeftOutReason, number>>>;
  /** When the next entry ends without a change of the data; null: never. */
  nextEndTs: number | null;
};
