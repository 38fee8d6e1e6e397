import type {
  AddressDataset,
  DomainEvidence,
  DomainFact,
  DomainKind,
  ListEntry,
  ListingEvidence,
  NameListKind,
  NetworkListKind,
  Source,
} from '../core/evidence.ts';
import type { KeyNetwork } from '../core/ip/key-network.ts';

/** The source of listings and evidence that follow from URLs. No feed can have this name. */
export const URL_SOURCE: Source & { id: number } = {
  id: 0,
  name: 'URL data',
  trustPermille: 900,
  lifeSeconds: null,
  intervalSeconds: null,
};

/** Which listings are asked for. */
export type ListingQuery = {
  network: KeyNetwork;
  /** Listings inside the network, the network itself included. */
  inside: boolean;
  /** Listings of networks that contain it, the network itself included. */
  covering: boolean;
  datasets: readonly AddressDataset[];
  /** Episodes whose newest evidence is older are left out. */
  seenSinceTs: number;
  /** Checked between pages. */
  signal?: AbortSignal | undefined;
};

/** An episode, or a listing that follows from URLs (source id 0, `port` null, `details` empty). */
export type StoredListing = {
  network: KeyNetwork;
  dataset: AddressDataset;
  source: Source & { id: number };
  family: string | null;
  port: number | null;
  listedTs: number;
  seenTs: number;
  details: string;
};

/** A listing that the operator removed. `sourceId` 0: the listing follows from URLs. */
export type ListingRemoval = {
  network: KeyNetwork;
  dataset: AddressDataset;
  sourceId: number;
  removedTs: number;
  untilTs: number;
  reason: string;
};

export type NetworkListEntry = { as: NetworkListKind; network: KeyNetwork; source: string; ts: number; reason: string };

/** What every response about an address needs, and what fits into memory. */
export type AddressLists = {
  entries: NetworkListEntry[];
  removals: ListingRemoval[];
  /** No listing of any source lives longer. */
  longestLifeSeconds: number;
};

/** One (source, kind, host name) of a domain. */
export type StoredEvidence = {
  source: Source;
  kind: DomainKind;
  hostname: string;
  /** The sighting that counts most. */
  bestTs: number;
  bestConfidence: number;
  firstTs: number;
  lastTs: number;
  /** Of the newest sighting. */
  botname: string | null;
  isAbused: boolean | null;
  tags: readonly string[];
};

export type UrlSighting = { hostname: string; onlineTs: number };
export type NameListing = { kind: NameListKind; source: string; rank: number | null; ts: number };
export type Whois = { ts: number; createdTs: number | null; expiresTs: number | null; registrar: string | null };
export type DomainSettings = { human: number; isAbused: boolean | null; reason: string; setTs: number };
/** A value that is not given stays as it is. */
export type SettingsChange = Partial<DomainSettings> & Pick<DomainSettings, 'setTs'>;
/** `before`: null if nothing was set. */
export type ChangedSettings = { before: DomainSettings | null; settings: DomainSettings };
export type SeenAddress = { ip: Uint8Array; lastTs: number; days: number };
type SeenServer = {
  hostname: string;
  lastTs: number;
  days: number;
  /** The addresses that facts give for its name. */
  ips: Uint8Array[];
};
export type Sender = { ip: Uint8Array; helo: string; lastTs: number };

/** What the score of a domain is computed from: a bounded number of rows. */
export type DomainState = {
  /** 0 if the domain is only on lists. */
  id: number;
  name: string;
  /** The newest 64 URLs by the time that they were last seen online. */
  urls: UrlSighting[];
  /** The earliest time that a URL of the domain was seen online; null without any. */
  firstUrlTs: number | null;
  /**
   * The newest time that a URL of the domain was seen online, else of an event, a payload or an address of its URLs; 0 if
   * these have nothing with a time, null without any URL.
   */
  lastUrlTs: number | null;
  /** Of every source and kind the 64 rows that count most, of equal ones the first names, and the newest one. */
  evidence: StoredEvidence[];
  /** The newest evidence of a source, among those whose newest evidence says that the site was broken into. */
  abusedClaim: { source: string; ts: number } | null;
  /** Host names that have evidence, URLs included: at most two, enough to see whether there is only one. */
  evidenceHosts: string[];
  lists: NameListing[];
  whois: Whois | null;
  settings: DomainSettings | null;
  /**
   * At most `MAX_DOMAIN_ADDRESSES` of each, in order of time; if there are more, the newest addresses and senders, and any of the
   * name servers. Addresses come without their days: counting these reads every row, and only `domainAddresses` needs them.
   */
  addresses: Omit<SeenAddress, 'days'>[];
  servers: SeenServer[];
  senders: Sender[];
};

/** Addresses, name servers and senders of a domain that are checked for listings. A domain with more is a shared site. */
export const MAX_DOMAIN_ADDRESSES = 1_000;

/**
 * Newest URLs of a domain that `domainHostnames`, `domainUrls` and `domainFiles` read; also `domainState`, to find a second host
 * name of a domain with 1,000 hosts.
 */
export const MAX_DOMAIN_URLS = 10_000;

/** A host name of a domain, and what its own score needs. */
export type SeenHostname = {
  hostname: string;
  lastTs: number;
  /** The newest 64 of its URLs. */
  urlTs: number[];
  evidence: StoredEvidence[];
};

export type MalwareUrl = { url: string; family: string | null; lastTs: number };
export type MalwareFile = { sha256: string; family: string | null; lastTs: number };

/** `isComplete`: there are no further rows. */
export type NamesAt = { names: { domain: string; hostname: string; lastTs: number }[]; isComplete: boolean };

/** The primary key of an episode. `FIRST_LISTING` is before all of them. */
export type ListingKey = [
  ip: Uint8Array,
  prefix: number,
  dataset: number,
  sourceId: number,
  familyId: number,
  port: number,
  listedTs: number,
];
export const FIRST_LISTING: ListingKey = [new Uint8Array(0), -1, 0, 0, 0, 0, 0];

/** `share`: of the whole rebuild, 0 to 1. The counts are those of one call. */
export type RebuildProgress = { isDone: boolean; share: number; hostsChanged: number; urlsChanged: number };

/** What finishing a list would do. `missing`: entries that its new version does not have. */
export type ListEffect = { entries: number; missing: number };

/**
 * The port of reputation data. Applying the same evidence again changes nothing, and the order of arrival does not matter.
 * An engine that is unavailable throws an AppError `unavailable`.
 */
export type ReputationStore = {
  /** Adds sources, or sets trust, life and interval of known ones. */
  putSources(sources: readonly Source[]): Promise<void>;
  /** By id, without that of URLs. At most a thousand feeds and names of imports. */
  sourceNames(): Promise<Map<number, string>>;
  /**
   * Unknown sources are added with the default trust. Each call is one transaction. Entries of lists, and ranks, are left out
   * if the list of their source was finished with a newer version.
   */
  applyListings(evidence: readonly ListingEvidence[]): Promise<number>;
  applyDomains(evidence: readonly DomainEvidence[], facts: readonly DomainFact[]): Promise<number>;
  applyLists(entries: readonly ListEntry[]): Promise<number>;
  /** To be called after the new version of the list of `source` was applied and before it is finished. */
  listEffect(source: string, ts: number): Promise<ListEffect>;
  /**
   * To be called when the version of `ts` was applied. Deletes the entries of the list of `source` that are older than its newest
   * version: that does not have them.
   */
  finishList(source: string, ts: number): Promise<number>;

  // SQLite returns the result itself: a promise would cost as much as half the lookup.
  /** In any order. */
  listings(query: ListingQuery): StoredListing[] | Promise<StoredListing[]>;
  /** Grows with every change of `addressLists`, and with every change of a source. */
  listVersion(): number | Promise<number>;
  addressLists(): Promise<AddressLists>;
  removeListings(removals: readonly ListingRemoval[]): Promise<void>;
  /** Deletes the entries of exactly this network in all allow lists; returns how many there were. */
  removeAllowEntries(network: KeyNetwork): Promise<number>;

  /** null: the domain was never seen. `name` is a registrable domain. */
  domainState(name: string): DomainState | null | Promise<DomainState | null>;
  /** Newest first, as all of these. */
  domainHostnames(id: number, limit: number): Promise<SeenHostname[]>;
  domainUrls(id: number, limit: number): Promise<MalwareUrl[]>;
  domainFiles(id: number, limit: number): Promise<MalwareFile[]>;
  domainAddresses(id: number, limit: number): Promise<SeenAddress[]>;
  domainSenders(id: number, limit: number): Promise<Sender[]>;
  /**
   * The names that facts give for the addresses of a network, of very many the newest of the highest addresses. Names of
   * URLs are found by a search for the network.
   */
  namesAt(network: KeyNetwork): Promise<NamesAt>;

  // For lists for devices. Statements read more than the answering thread may: for a thread of its own, or a command.
  /**
   * All listings of these datasets whose newest evidence is not older, also those that follow from URLs, in any order and
   * without their details.
   */
  listingsForList(datasets: readonly AddressDataset[], seenSinceTs: number): AsyncIterable<StoredListing[]>;
  /**
   * The names of domains with a URL that was seen online since then, or evidence, or facts other than registration and
   * rank, and of domains that the operator listed. In any order.
   */
  domainsForList(seenSinceTs: number): AsyncIterable<string[]>;
  /** `domainState` for many names, in their order. */
  domainStates(names: readonly string[]): Promise<(DomainState | null)[]>;
  /** The lists on which exactly these names are. Names that are on none are absent. */
  nameLists(names: readonly string[]): Promise<Map<string, NameListing[]>>;
  /**
   * The names on lists that can be below a host name of a domain, sorted by name: those of at least four labels, because a
   * domain has two. Without names that only have a rank: these are registrable domains.
   */
  nameListsBelowHosts(): Promise<Map<string, NameListing[]>>;
  /** Whether there is any list of names: popular or shared sites, URL shorteners, dynamic-DNS providers. */
  hasNameLists(): Promise<boolean>;
  /** How many registrable domains resolved to an address in each network, by facts and URLs; of very many not all. */
  domainsAt(networks: readonly KeyNetwork[], sinceTs: number, untilTs: number): Promise<number[]>;

  /** Counts the live ones among the next listings of sources, few enough to be counted between requests. */
  countListings(after: ListingKey, nowTs: number): Promise<{ live: number; next: ListingKey | null }>;
  /** Counts the domains of the next ids. */
  countDomains(after: number): Promise<{ domains: number; next: number | null }>;
  /** Adds the domain if it is unknown. Of changes at the same time none is lost. */
  setDomain(name: string, change: SettingsChange): Promise<ChangedSettings>;
  /** Domains with settings; if there are more than `limit`, those that became known last. */
  setDomains(limit: number): Promise<(DomainSettings & { name: string })[]>;

  /**
   * Everything that sources gave, as evidence and facts: an empty store has the same data after applying them. Their order
   * depends on the data alone. Derived listings, lists, removals and settings are not included.
   */
  exportListings(): AsyncIterable<ListingEvidence[]>;
  exportDomains(): AsyncIterable<(DomainEvidence | DomainFact)[]>;

  /**
   * Computes the domains and addresses of hosts again, and what follows from them: one page per call, in one short
   * transaction, also while imports run. The place is stored, so that the next call continues, also after an interruption.
   */
  rebuildHosts(): Promise<RebuildProgress>;
};

/** What lists for devices are built from. */
export type ReadsForLists = Pick<
  ReputationStore,
  | 'listingsForList'
  | 'domainsForList'
  | 'domainStates'
  | 'nameLists'
  | 'nameListsBelowHosts'
  | 'hasNameLists'
  | 'domainsAt'
>;
