import type { AddressDataset } from '../core/evidence.ts';
import type { ListKind } from './content.ts';

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

/** Something that is on no list of the operator, whatever the data says. Lookups are not affected. */
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

export type LastFetch = NonNullable<ListKey['lastFetch']>;

/** Which keys: of a list, of an account; absent does not restrict. */
type KeyFilter = { list?: string; sub?: string; limit?: number };

/**
 * The port of definitions, exclusions, keys and serials of lists, in the control database. Throws an AppError `unavailable`
 * when the database does not respond.
 */
export type ListStore = {
  /** Those of the operator, sorted by name; the built-in ones are in `built-in.ts`. */
  listDefinitions(): Promise<ListDefinition[]>;
  /** False if there is a list of this name; it stays as it is. */
  addListDefinition(definition: ListDefinition): Promise<boolean>;
  /** Replaces the list of this name; false if there is none. */
  changeListDefinition(definition: ListDefinition): Promise<boolean>;
  /** Deletes the list with its keys and exclusions; false if there is none. A new list of this name continues its serial. */
  removeListDefinition(name: string): Promise<boolean>;

  /** The newest first, also those that have ended. */
  exclusions(limit?: number): Promise<Exclusion[]>;
  exclusion(id: number): Promise<Exclusion | null>;
  /**
   * Adds one, or replaces the one with the same match and list; returns its id. Deletes those that ended before
   * `keepSinceTs`. Throws an AppError `not_found` if the list does not exist.
   */
  addExclusion(exclusion: Omit<Exclusion, 'id'>, keepSinceTs: number): Promise<number>;
  removeExclusion(id: number): Promise<boolean>;

  /** The newest first. */
  listKeys(filter: KeyFilter): Promise<ListKey[]>;
  listKey(id: number): Promise<ListKey | null>;
  /** `hash`: SHA-256 of the key. Throws an AppError `not_found` if the list or the account does not exist. */
  addListKey(key: Omit<ListKey, 'id' | 'lastFetch'>, hash: Uint8Array): Promise<number>;
  removeListKey(id: number): Promise<boolean>;
  /**
   * For every fetch of a device. At most two seconds behind the changes of other nodes and threads. Its `lastFetch` may be
   * older than that.
   */
  findListKey(hash: Uint8Array): ListKey | null | Promise<ListKey | null>;
  /**
   * Remembers the fetch, and does not wait for the database: the newest fetch of each key is written every few seconds, and
   * when the store is closed.
   */
  recordFetch(id: number, fetch: LastFetch): Promise<void>;

  /** Grows with each change of definitions and exclusions. */
  listsVersion(): number | Promise<number>;
  /**
   * The serial of a list whose keys have this hash: the stored one if the newest content has this hash, else a greater
   * one, at least `nowTs`, which is stored with the hash. All nodes get the same.
   *
   * A node that was behind may store its older content after a newer one, and the newer content then gets a further serial.
   * A node that keeps a copy calls this again from time to time, so that the copies of all nodes have the same serial.
   */
  listSerial(name: string, contentHash: Uint8Array, nowTs: number): Promise<number>;
};
