import { toByteText } from '../core/byte-text.ts';
import { ADDRESS_DATASETS } from '../core/evidence.ts';
import { formatIp } from '../core/ip/address.ts';
import { isIpv4Network, KEY_BITS, type KeyNetwork, networkAt } from '../core/ip/key-network.ts';
import { createFamilySets } from '../core/ip/network-set.ts';
import { isReserved } from '../core/ip/reserved.ts';
import type { ListsInMemory } from '../reputation/address-lists.ts';
import {
  createAddressReport,
  type LiveListing,
  removalOf,
  toLiveListing,
  validUntil,
} from '../reputation/address-report.ts';
import { type DomainReport, domainReport } from '../reputation/domain-report.ts';
import { EMPTY_STATE } from '../reputation/domain-rows.ts';
import { readLists } from '../reputation/listing-state.ts';
import type { DomainState, ReputationStore } from '../reputation/store.ts';
import type { ListEnd } from './list-end.ts';

type Options = { nowTs: number; allowReserved: boolean };
type Store = Pick<ReputationStore, 'listingsForList' | 'listings' | 'listVersion' | 'addressLists' | 'domainStates'>;

/** The reports of many domains, as the API computes each of them. A domain that is not known has an empty one. */
type DomainReports = (names: readonly string[], end: ListEnd) => Promise<DomainReport[]>;

export async function createDomainReports(store: Store, options: Options): Promise<DomainReports> {
  const { nowTs, allowReserved } = options;
  const lists = await readLists(store);
  const controllers = await readControllers(store, lists, options);
  const senders = createAddressReport({
    store,
    lists: { current: () => lists, fresh: async () => lists },
    now: () => nowTs,
    allowReserved,
  });

  /** The live listings that count for this domain: of its addresses and name servers, and of its senders. */
  async function listedAddresses(state: DomainState, end: ListEnd): Promise<Map<string, readonly LiveListing[]>> {
    const listed = new Map<string, readonly LiveListing[]>();
    const add = (ip: Uint8Array, found: readonly LiveListing[]) => {
      if (found.length === 0) return;
      const text = formatIp(ip);
      listed.set(text, [...(listed.get(text) ?? []), ...found]);
      for (const { validUntilTs } of found) end.at(validUntilTs);
    };
    const ips = new Map<string, Uint8Array>();
    for (const { ip } of state.addresses) ips.set(toByteText(ip), ip);
    for (const server of state.servers) for (const ip of server.ips) ips.set(toByteText(ip), ip);
    for (const ip of ips.values()) add(ip, controllers(ip));
    const senderIps = new Map(state.senders.map(({ ip }) => [toByteText(ip), ip]));
    for (const ip of senderIps.values()) add(ip, await senders.liveListings(ip, ['CSS', 'XBL'], nowTs));
    return listed;
  }

  return async (names, end) => {
    const states = await store.domainStates(names);
    const reports: DomainReport[] = [];
    for (const [i, found] of states.entries()) {
      const state = found ?? { ...EMPTY_STATE, name: names[i] as string };
      reports.push(domainReport(state, await listedAddresses(state, end), nowTs));
    }
    return reports;
  };
}

/**
 * Live listings in BCL and DROP, which count for the domains at these addresses. All are read at once: there are some
 * thousands, and a statement for each address of each domain takes longer.
 */
async function readControllers(
  store: Pick<ReputationStore, 'listingsForList'>,
  lists: ListsInMemory,
  { nowTs, allowReserved }: Options,
): Promise<(ip: Uint8Array) => readonly LiveListing[]> {
  const datasets = ADDRESS_DATASETS.filter((dataset) => dataset === 'BCL' || dataset === 'DROP');
  const live: LiveListing[] = [];
  for await (const page of store.listingsForList(datasets, nowTs - lists.longestLifeSeconds)) {
    for (const listing of page) {
      if (nowTs < validUntil(listing) && removalOf(listing, lists) === null) live.push(toLiveListing(listing));
    }
  }
  const byNetwork = Map.groupBy(live, ({ network }) => networkKey(network));
  const all = createFamilySets(live.map(({ network }) => network));
  const prefixes = [...new Set(live.map(({ network }) => network.prefix))];
  return (ip) => {
    const address = { ip, prefix: KEY_BITS };
    if (!all.covers(address) || lists.isAllowed(address) || (!allowReserved && isReserved(address))) return NONE;
    return prefixes.flatMap((prefix) => {
      const network = networkAt(ip, prefix);
      if (isIpv4Network(network) !== isIpv4Network(address)) return NONE;
      return byNetwork.get(networkKey(network)) ?? NONE;
    });
  };
}

const NONE: readonly LiveListing[] = [];

function networkKey({ ip, prefix }: KeyNetwork): string {
  return `${toByteText(ip)}${prefix}`;
}
