import type { ChangeStore } from '../changes/store.ts';
import { AppError, badRequest } from '../core/errors.ts';
import { type AddressDataset, type ListingEvidence, OPERATOR_SOURCE } from '../core/evidence.ts';
import { containsNetwork, formatKeyNetwork, type KeyNetwork } from '../core/ip/key-network.ts';
import { createFamilySets } from '../core/ip/network-set.ts';
import { foldFamily } from '../core/text.ts';
import { compareNetworks, isSameNetwork } from './listing-rows.ts';
import { type DescribedListing, describeListings, listingText } from './listing-state.ts';
import type { ListingRemoval, NetworkListEntry, ReputationStore } from './store.ts';

// What operators set by hand, by commands and administration pages.

/** The points that an operator may give or take: enough to list any domain, or to clear it. */
export const HUMAN_MAX = 50;

// Never from a replica, which may lack what the operator did just before.
type ListingReads = Pick<ReputationStore, 'listVersion' | 'addressLists'> & Pick<ChangeStore, 'currentListings'>;
type ListingStore = ListingReads & Pick<ReputationStore, 'applyListings' | 'removeListings'>;

export async function refuseAllowed(store: Pick<ReputationStore, 'addressLists'>, network: KeyNetwork): Promise<void> {
  const allowed = createFamilySets((await allowedNetworks(store)).map((entry) => entry.network));
  if (!allowed.covers(network)) return;
  const name = formatKeyNetwork(network);
  const message = `${name}: on an allow list. To list it, take it off first: see urlwarden allow list`;
  throw badRequest(message);
}

/**
 * Lists a network as the operator. `requireLive` checks the result, after the change has been recorded. A removal of the
 * operator's own listing ends: they have changed their mind.
 */
export async function addListing(
  store: ListingStore,
  evidence: ListingEvidence,
  nowTs: number,
): Promise<DescribedListing> {
  const own = (await ownListings(store, evidence, nowTs)).flatMap(({ removal }) => (removal === null ? [] : [removal]));
  const ended = own.filter(({ untilTs }) => untilTs >= nowTs).map((removal) => ({ ...removal, untilTs: nowTs - 1 }));
  if (ended.length > 0) await store.removeListings(ended);
  await store.applyListings([evidence]);
  const listed = (await ownListings(store, evidence, nowTs)).find(
    ({ seenTs, port, family }) => seenTs >= nowTs && port === evidence.port && isSameFamily(family, evidence.family),
  );
  if (listed === undefined) throw notLive(evidence.network);
  return listed;
}

/** Another process may have removed or allowed it meanwhile. */
export function requireLive({ state, network }: DescribedListing): void {
  if (state !== 'live') throw notLive(network);
}

function notLive(network: KeyNetwork): AppError {
  const name = formatKeyNetwork(network);
  const message = `The listing was added, but something else has removed or allowed it at the same time. See: urlwarden listing show ${name}`;
  return new AppError('conflict', message);
}

function isSameFamily(a: string | null, b: string | null): boolean {
  return foldFamily(a ?? '') === foldFamily(b ?? '');
}

async function ownListings(
  store: ListingReads,
  { network, dataset }: ListingEvidence,
  nowTs: number,
): Promise<DescribedListing[]> {
  const listings = await currentListings(store, network, { inside: false, nowTs });
  return listings.filter(
    (one) => one.source.name === OPERATOR_SOURCE && one.dataset === dataset && isSameNetwork(one.network, network),
  );
}

function currentListings(
  { currentListings: listings, listVersion, addressLists }: ListingReads,
  network: KeyNetwork,
  { inside, nowTs }: { inside: boolean; nowTs: number },
): Promise<DescribedListing[]> {
  const store = { listings, listVersion, addressLists };
  return describeListings(store, network, { inside, covering: true, nowTs, allowReserved: true });
}

/** How long the same source does not bring a listing back, unless the operator says otherwise. */
export const REMOVAL_DEFAULT_SECONDS = 24 * 3_600;

type RemovalQuery = { network: KeyNetwork; dataset: AddressDataset | null };
type Removal = Pick<ListingRemoval, 'removedTs' | 'untilTs' | 'reason'>;

/** `removed`: the listings of exactly this network. `wider`: live listings of networks that contain it. */
type RemovedListings = { removed: DescribedListing[]; removals: ListingRemoval[]; wider: DescribedListing[] };

/** Throws `not_found` if there is no live listing of exactly this network. */
export async function removeListing(
  store: ListingStore,
  { network, dataset }: RemovalQuery,
  removal: Removal,
): Promise<RemovedListings> {
  const nowTs = removal.removedTs;
  const live = await liveListings(store, network, { inside: false, nowTs });
  const removed = live.filter((one) => isSameNetwork(one.network, network) && (dataset ?? one.dataset) === one.dataset);
  if (removed.length === 0) throw new AppError('not_found', await absence(store, network, dataset, nowTs));
  const removals = removalsOf(removed, removal);
  await store.removeListings(removals);
  return { removed, removals, wider: live.filter((one) => !isSameNetwork(one.network, network)) };
}

/** Also those of allowed and reserved networks: they count again when the exception ends. */
async function liveListings(
  store: ListingReads,
  network: KeyNetwork,
  { inside, nowTs }: { inside: boolean; nowTs: number },
): Promise<DescribedListing[]> {
  const all = await currentListings(store, network, { inside, nowTs });
  return all.filter(({ state }) => state === 'live' || state === 'allowed');
}

/** One for each dataset and source: a source may have several listings of the network, with other families or ports. */
function removalsOf(listings: readonly DescribedListing[], removal: Removal): ListingRemoval[] {
  const distinct = new Map(listings.map((listing) => [`${listing.dataset} ${listing.source.id}`, listing]));
  return [...distinct.values()].map(({ network, dataset, source }) => ({
    network,
    dataset,
    sourceId: source.id,
    ...removal,
  }));
}

/** What to do about a network that has no live listing of its own. */
async function absence(
  store: ListingReads,
  network: KeyNetwork,
  dataset: AddressDataset | null,
  nowTs: number,
): Promise<string> {
  const name = formatKeyNetwork(network);
  const live = await liveListings(store, network, { inside: true, nowTs });
  const own = live.filter((one) => isSameNetwork(one.network, network));
  const wider = live.filter((one) => one.network.prefix < network.prefix);
  const narrower = live.filter((one) => one.network.prefix > network.prefix);
  const hints = [
    ...own.map((one) => `It is listed as ${listingText(one)}.`),
    ...wider.map((one) => `It is inside ${listingText(one)}. To exempt it: urlwarden allow add ${name}`),
    ...(narrower[0] === undefined ? [] : [insideText(narrower.length, narrower[0], name)]),
  ];
  const what = dataset === null ? 'has no live listing of its own' : `has no live listing in ${dataset}`;
  return [`${name} ${what}.`, ...hints, `For its history: urlwarden listing show ${name}`].join('\n');
}

function insideText(count: number, first: DescribedListing, name: string): string {
  const what = count === 1 ? 'one live listing' : `${count.toLocaleString('en-US')} live listings, such as`;
  return `It contains ${what} ${listingText(first)}. To exempt all of it: urlwarden allow add ${name}`;
}

/** In order of address, wider networks first. */
export async function allowedNetworks(store: Pick<ReputationStore, 'addressLists'>): Promise<NetworkListEntry[]> {
  const { entries } = await store.addressLists();
  return entries.filter(({ as }) => as === 'allow').sort(compareEntries);
}

function compareEntries(a: NetworkListEntry, b: NetworkListEntry): number {
  return compareNetworks(a.network, b.network) || (a.source < b.source ? -1 : 1);
}

/** Added by an operator, not by an import. */
export function isOwnEntry({ source }: NetworkListEntry): boolean {
  return source === OPERATOR_SOURCE;
}

type AllowStore = Pick<ReputationStore, 'addressLists' | 'applyLists' | 'removeAllowEntries'>;

/** `before`: the operator's entry that it replaces. */
export async function allowNetwork(
  store: AllowStore,
  { network, reason, ts }: Pick<NetworkListEntry, 'network' | 'reason' | 'ts'>,
): Promise<{ entry: NetworkListEntry; before: NetworkListEntry | null }> {
  const own = (await allowedNetworks(store)).filter(isOwnEntry);
  const entry = { as: 'allow', network, source: OPERATOR_SOURCE, ts, reason } as const;
  await store.applyLists([entry]);
  return { entry, before: own.find((known) => isSameNetwork(known.network, network)) ?? null };
}

/** Takes exactly this network off all allow lists. Returns its entries; throws `not_found` if there is none. */
export async function removeAllowed(store: AllowStore, network: KeyNetwork): Promise<NetworkListEntry[]> {
  const entries = await allowedNetworks(store);
  const removed = entries.filter((entry) => isSameNetwork(entry.network, network));
  if (removed.length === 0) throw new AppError('not_found', noEntry(network, entries));
  await store.removeAllowEntries(network);
  return removed;
}

/** What to do about a network that has no entry of its own. */
function noEntry(network: KeyNetwork, entries: readonly NetworkListEntry[]): string {
  const name = formatKeyNetwork(network);
  const covering = entries.filter((entry) => containsNetwork(entry.network, network));
  const inside = entries.filter((entry) => containsNetwork(network, entry.network));
  const [relation, found] = covering.length > 0 ? ['is inside', covering] : ['contains', inside];
  const hint = found[0] === undefined ? '' : ` It ${relation} ${formatKeyNetwork(found[0].network)}, which is.`;
  return `${name} is not on an allow list.${hint} See: urlwarden allow list`;
}
