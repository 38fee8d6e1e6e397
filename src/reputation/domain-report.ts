import { setImmediate as nextIteration } from 'node:timers/promises';
import { type Awaitable, then } from '../core/awaitable.ts';
import { type AddressDataset, DOMAIN_TAGS, type DomainTag } from '../core/evidence.ts';
import { formatIp } from '../core/ip/address.ts';
import { type AbusedDecision, abusedDecision, bestRanked } from './abused.ts';
import type { LiveListing } from './address-report.ts';
import {
  type Dimensions,
  dimensionsOf,
  isHostnameListed,
  isListed,
  type Piece,
  type ScoreInput,
  scoreOf,
} from './score.ts';
import { type DomainState, type ReputationStore, type SeenHostname, type StoredEvidence, URL_SOURCE } from './store.ts';

// What is known about a domain, from what is stored and from the live listings of its addresses.

/** Where data about a domain come from. */
export const CONTEXTS = {
  urls: 'URLs that distributed malware',
  osint: 'Sources that name the domain or names below it',
  pdns: 'Addresses and name servers that were seen in DNS',
  helo: 'Mail servers that sent mail for the domain',
  whois: 'Registration data',
  popularity: 'Lists of popular sites',
} as const;
export type ContextName = keyof typeof CONTEXTS;
type Context = { context: ContextName; lastTs: number };

/** A listing of an address that is live now. */
type CountedListing = Pick<LiveListing, 'dataset' | 'source' | 'trustPermille' | 'seenTs'>;

/** The live listings of one address, in all datasets. */
export type FindListings = (ip: Uint8Array) => Awaitable<readonly CountedListing[]>;

/** The live listings of addresses, by their text. */
export type ListedAddresses = ReadonlyMap<string, readonly CountedListing[]>;

export type DomainReport = {
  state: DomainState;
  listed: ListedAddresses;
  nowTs: number;
  lastSeenTs: number;
  tags: DomainTag[];
  /** Newest first. */
  contexts: Context[];
  /** The rule that decided whether the domain is abused; null if none did. */
  abused: AbusedDecision | null;
  /** What score and dimensions are computed from. */
  input: ScoreInput;
  dimensions: Dimensions;
  score: number;
  isListed: boolean;
  /** Of the newest evidence; without any, when the domain was last seen. */
  evidenceTs: number;
};

/** A domain by its name; null if it was never seen. Not a promise if the store answers without one. */
export function findDomain(
  store: Pick<ReputationStore, 'domainState'>,
  findListings: FindListings,
  name: string,
  nowTs: number,
): Awaitable<DomainReport | null> {
  return then(store.domainState(name), (state) => {
    if (state === null) return null;
    return then(listedAddresses(addressesOf(state), findListings), (listed) => domainReport(state, listed, nowTs));
  });
}

function addressesOf({ addresses, servers, senders }: DomainState): Uint8Array[] {
  return [...addresses.map(({ ip }) => ip), ...servers.flatMap(({ ips }) => ips), ...senders.map(({ ip }) => ip)];
}

/** Addresses whose listings are looked up before other requests are handled, or at the same time on PostgreSQL. */
const ADDRESSES_AT_ONCE = 64;

/** The live listings of these addresses. Not a promise if there are few and the store answers without one. */
export function listedAddresses(ips: readonly Uint8Array[], findListings: FindListings): Awaitable<ListedAddresses> {
  const byText = new Map(ips.map((ip) => [formatIp(ip), ip]));
  if (byText.size > ADDRESSES_AT_ONCE) return manyListedAddresses(byText, findListings);
  const found = [...byText].map(([text, ip]) => ({ text, listings: findListings(ip) }));
  if (found.some(({ listings }) => listings instanceof Promise)) {
    return Promise.all(found.map(async ({ text, listings }) => [text, await listings] as const)).then(
      (entries) => new Map(entries),
    );
  }
  return new Map(found.map(({ text, listings }) => [text, listings as readonly CountedListing[]]));
}

async function manyListedAddresses(
  byText: ReadonlyMap<string, Uint8Array>,
  findListings: FindListings,
): Promise<ListedAddresses> {
  const all = [...byText.values()];
  const listed = new Map<string, readonly CountedListing[]>();
  for (let from = 0; from < all.length; from += ADDRESSES_AT_ONCE) {
    const found = await listedAddresses(all.slice(from, from + ADDRESSES_AT_ONCE), findListings);
    for (const [text, listings] of found) listed.set(text, listings);
    await nextIteration();
  }
  return listed;
}

export function domainReport(state: DomainState, listed: ListedAddresses, nowTs: number): DomainReport {
  const abused = abusedDecision(state);
  const input: ScoreInput = {
    pieces: piecesOf(state, listed),
    isAbused: abused?.isAbused ?? false,
    createdTs: state.whois?.createdTs ?? null,
    rank: bestRanked(state.lists)?.rank ?? null,
    human: state.settings?.human ?? 0,
  };
  const dimensions = dimensionsOf(input, nowTs);
  const score = scoreOf(dimensions);
  const contexts = contextsOf(state);
  const lastSeenTs = lastSeen(state, contexts);
  return {
    state,
    listed,
    nowTs,
    lastSeenTs,
    tags: tagsOf(state),
    contexts,
    abused,
    input,
    dimensions,
    score,
    isListed: isListed(input, score),
    evidenceTs: input.pieces.length === 0 ? lastSeenTs : newest(input.pieces.map(({ newestTs }) => newestTs)),
  };
}

/** All evidence of a domain. */
function piecesOf(state: DomainState, listed: ListedAddresses): Piece[] {
  const { urls, evidence, addresses, servers, senders } = state;
  const senderIps = new Map(senders.map(({ ip }) => [formatIp(ip), [ip]]));
  return [
    ...urls.map(({ hostname, onlineTs }) => urlPiece(hostname, onlineTs)),
    ...evidence.map(evidencePiece),
    ...addresses.flatMap(({ ip }) => listingPieces('infra-listing', formatIp(ip), [ip], listed)),
    ...servers.flatMap(({ hostname, ips }) => listingPieces('infra-listing', hostname, ips, listed)),
    ...[...senderIps].flatMap(([text, ips]) => listingPieces('sender-listing', text, ips, listed)),
  ];
}

function urlPiece(hostname: string, ts: number): Piece {
  const { name, trustPermille } = URL_SOURCE;
  return { source: name, trust: trustPermille / 1000, kind: 'url', subject: hostname, ts, newestTs: ts };
}

function evidencePiece({ source, kind, hostname, bestTs, bestConfidence, lastTs }: StoredEvidence): Piece {
  return {
    source: source.name,
    trust: source.trustPermille / 1000,
    kind,
    subject: hostname,
    ts: bestTs,
    newestTs: lastTs,
    confidence: bestConfidence,
  };
}

/** The datasets that count, by the kind of evidence. */
const COUNTED: Record<'infra-listing' | 'sender-listing', readonly AddressDataset[]> = {
  'infra-listing': ['BCL', 'DROP'],
  'sender-listing': ['CSS', 'XBL'],
};

/** One piece for each source that lists the address, or an address of the name server, with its newest listing. */
function listingPieces(
  kind: 'infra-listing' | 'sender-listing',
  subject: string,
  ips: readonly Uint8Array[],
  listed: ListedAddresses,
): Piece[] {
  const listings = ips
    .flatMap((ip) => listed.get(formatIp(ip)) ?? [])
    .filter(({ dataset }) => COUNTED[kind].includes(dataset));
  return [...Map.groupBy(listings, ({ source }) => source)].map(([source, group]) => {
    const ts = newest(group.map(({ seenTs }) => seenTs));
    const trust = (group[0]?.trustPermille ?? 0) / 1000;
    return { source, trust, kind, subject, ts, newestTs: ts };
  });
}

function contextsOf({ lastUrlTs, evidence, addresses, servers, senders, whois, lists }: DomainState): Context[] {
  const times: Record<ContextName, number[]> = {
    urls: lastUrlTs === null || lastUrlTs === 0 ? [] : [lastUrlTs], // 0: nothing of them has a time
    osint: evidence.map(({ lastTs }) => lastTs),
    pdns: [...addresses, ...servers].map(({ lastTs }) => lastTs),
    helo: senders.map(({ lastTs }) => lastTs),
    whois: whois === null ? [] : [whois.ts],
    popularity: lists.filter(({ kind }) => kind === 'popular').map(({ ts }) => ts),
  };
  return (Object.keys(times) as ContextName[])
    .filter((context) => times[context].length > 0)
    .map((context) => ({ context, lastTs: newest(times[context]) }))
    .sort((a, b) => b.lastTs - a.lastTs);
}

/** 0 only for a domain whose URLs have nothing with a time. */
function lastSeen({ settings }: DomainState, [newestContext]: readonly Context[]): number {
  return newestContext?.lastTs ?? settings?.setTs ?? 0;
}

function tagsOf({ lastUrlTs, evidence, abusedClaim, lists }: DomainState): DomainTag[] {
  const tags = new Set<string>(lists.map(({ kind }) => kind));
  if (lastUrlTs !== null) tags.add('malware');
  if (abusedClaim !== null) tags.add('compromised');
  for (const { kind, tags: given } of evidence) {
    tags.add(kind);
    for (const tag of given) tags.add(tag);
  }
  return (Object.keys(DOMAIN_TAGS) as DomainTag[]).filter((tag) => tags.has(tag));
}

/** Whether the evidence on this host name alone is enough to list it. */
export function isHostListed({ hostname, urlTs, evidence }: SeenHostname, nowTs: number): boolean {
  const pieces = [...urlTs.map((ts) => urlPiece(hostname, ts)), ...evidence.map(evidencePiece)];
  return isHostnameListed(pieces, nowTs);
}

/** What a live listing takes from the score of its address. */
const LISTING_POINTS: Record<AddressDataset, number> = { BCL: 10, DROP: 10, XBL: 5, CSS: 5 };
const LEAST_ADDRESS_SCORE = -50;

export function addressScore(ip: Uint8Array, listed: ListedAddresses): number {
  const listings = listed.get(formatIp(ip)) ?? [];
  const points = listings.reduce((sum, { dataset }) => sum + LISTING_POINTS[dataset], 0);
  return Math.max(LEAST_ADDRESS_SCORE, 0 - points);
}

/** The lowest score of its addresses; 0 without any. */
export function serverScore(ips: readonly Uint8Array[], listed: ListedAddresses): number {
  return Math.min(0, ...ips.map((ip) => addressScore(ip, listed)));
}

/** Not with `Math.max(…)`, which fails for very long lists. */
function newest(times: readonly number[]): number {
  return times.reduce((a, b) => (a > b ? a : b), 0);
}
