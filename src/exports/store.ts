import type { AddressDataset } from '../core/evidence.ts';
import type { ListKind } from './content.ts';

export type { ListKind };

/** Which data a list has. Empty arrays do not restrict. */
export type ListFilter = {
  /** Of URLs, also behind hosts. */
  status: 'online' | 'offline' | 'any';
  /** Seen in the last seconds: URLs, hosts and listings. */
  maxAgeSeconds: number;
  /** In any spelling. */
  families: readonly string[];
  reporters: readonly string[];
  /** Of addresses. */
  datasets: readonly AddressDataset[];
  /** Hosts whose domain has this score or a lower one; null does not restrict. */
  maxScore: number | null;
  /** Only for hosts: registrable domains that are listed by their score, whether or not a URL of them is online. */
  listedDomains: boolean;
};

export type ListDefinition = {
  /** Lower-case letters, digits and hyphens. */
  name: string;
  kind: ListKind;
  description: string;
  filter: ListFilter;
  /** When it was defined or changed; 0 for a list that the program brings. */
  changedTs: number;
};

/** What an exclusion matches. `prefix` of a URL is compared with the normalized URL. */
export type ExclusionMatch =
  | { kind: 'host'; host: string; withSubdomains: boolean }
  | { kind: 'url'; prefix: string }
  | { kind: 'network'; network: string };

/** Something that is on no list of the operator, whatever the data say. Look-ups are not concerned. */
export type Exclusion = {
  id: number;
  match: ExclusionMatch;
  /** Null: on all lists. */
  list: string | null;
  reason: string;
  setTs: number;
  /** Null: no end. */
  untilTs: number | null;
};

/** A key of one list for one device. Only a hash of it is stored. */
export type ListKey = {
  id: number;
  list: string;
  /** Name of the device, as people know it. */
  device: string;
  /** The account whose limits count. */
  sub: string;
  createdTs: number;
  /** Null: never. */
  lastFetch: { ts: number; address: string; etag: string } | null;
};

/** The port of definitions, exclusions, keys and serials of lists, in the control database. */
export type ListStore = {
  listDefinitions(): Promise<ListDefinition[]>;
  /** Adds or replaces. */
  putListDefinition(definition: ListDefinition): Promise<void>;
  /** Deletes the list with its keys and its exclusions; false if there is none. */
  removeListDefinition(name: string): Promise<boolean>;

  exclusions(): Promise<Exclusion[]>;
  addExclusion(exclusion: Omit<Exclusion, 'id'>): Promise<number>;
  removeExclusion(id: number): Promise<boolean>;

  listKeys(list: string | null): Promise<ListKey[]>;
  /** `hash`: SHA-256 of the key. */
  addListKey(key: Omit<ListKey, 'id' | 'lastFetch'>, hash: Uint8Array): Promise<number>;
  removeListKey(id: number): Promise<boolean>;
  findListKey(hash: Uint8Array): ListKey | null | Promise<ListKey | null>;
  recordFetch(id: number, fetch: NonNullable<ListKey['lastFetch']>): Promise<void>;

  /** Grows with each change of definitions and exclusions. */
  listsVersion(): number | Promise<number>;
  /**
   * The serial of a list whose content has this hash: the stored one if the hash is stored, else a greater one, at least
   * `nowTs`, which is stored with the hash. All nodes get the same.
   */
  listSerial(name: string, contentHash: Uint8Array, nowTs: number): Promise<number>;
};
