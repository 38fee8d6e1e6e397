import { ADDRESS_DATASETS } from '../core/evidence.ts';
import type { AddressReport } from './address-report.ts';
import { type DomainReport, type FindListings, findDomain, listedAddresses } from './domain-report.ts';
import type { ReputationStore } from './store.ts';
import {
  type DomainPage,
  toWireAddress,
  toWireDomainPage,
  toWireFile,
  toWireHostname,
  toWireSender,
  toWireUrl,
} from './wire.ts';

type Services = { store: ReputationStore; addresses: Pick<AddressReport, 'liveListings'>; now(): number };

type DomainPages = {
  /** Everything about a domain; null if it was never seen. */
  domainPage(name: string): Promise<DomainPage | null>;
  /** Null if the domain was never seen. */
  isDomainListed(name: string): Promise<boolean | null>;
};

/** Records of each list on the page of a domain. People who need more ask the endpoint of the list. */
const PAGE_RECORDS = 50;

export function createDomainPages({ store, addresses, now }: Services): DomainPages {
  const findListings: FindListings = (ip) => addresses.liveListings(ip, ADDRESS_DATASETS, now());
  return {
    async domainPage(name) {
      const report = await findDomain(store, findListings, name, now());
      return report && pageOf(store, findListings, report);
    },
    async isDomainListed(name) {
      const report = await findDomain(store, findListings, name, now());
      return report?.isListed ?? null;
    },
  };
}

async function pageOf(store: ReputationStore, findListings: FindListings, report: DomainReport): Promise<DomainPage> {
  const { id } = report.state;
  const limit = PAGE_RECORDS + 1; // one more shows whether there are more
  const [hostnames, seen, senders, urls, files] = await Promise.all([
    store.domainHostnames(id, limit),
    store.domainAddresses(id, limit),
    store.domainSenders(id, limit),
    store.domainUrls(id, limit),
    store.domainFiles(id, limit),
  ]);
  const ips = [...seen, ...senders].map(({ ip }) => ip);
  const listed = await listedAddresses(ips, findListings);
  const lists = {
    hostnames: hostnames.map((host) => toWireHostname(host, report.input.isAbused, report.nowTs)),
    addresses: seen.map((address) => toWireAddress(address, listed)),
    senders: senders.map((sender) => toWireSender(sender, listed)),
    urls: urls.map(toWireUrl),
    files: files.map(toWireFile),
  };
  return toWireDomainPage(report, lists, PAGE_RECORDS);
}
