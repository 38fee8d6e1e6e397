import type { KeyNetwork } from '../core/ip/key-network.ts';
import type { Schema } from '../http/schema.ts';
import type { Counters, UsageStore } from '../limits/store.ts';
import type { ReputationStore } from '../reputation/store.ts';
import type { AddressReport, DomainPage } from '../reputation/wire.ts';
import type { SearchKey, UrlStore } from '../urls/store.ts';
import type { OverviewResponse } from './schemas.ts';
import type { Counted } from './totals.ts';
import type { NetworkNames } from './wire.ts';

/** What the responses for pages are made from. `app` takes it from the other features. */
export type PortalServices = NetworkNames & {
  store: UrlStore & ReputationStore;
  /** Unix seconds. */
  now(): number;
  counters: Pick<Counters, 'read'>;
  usageByDay: UsageStore['usageByDay'];
  totals(): Counted | Promise<Counted>;
  /** How fresh the data of URLs is. */
  freshness(): Promise<{ newestEventTs: number | null; confirmedTs: number | null }>;
  feeds(): Promise<OverviewResponse['feeds']>;
  addresses: AddressReport;
  /** Null if the domain was never seen. */
  domainPage(name: string): Promise<DomainPage | null>;
  isDomainListed(name: string): Promise<boolean | null>;
  /** The networks that the endpoints of addresses accept, with their cost. */
  parseNetwork(
    ip: string,
    mask: string,
  ): { ok: true; network: KeyNetwork; cost: number } | { ok: false; reason: string };
  /** The body of a search, its key and its cost. */
  search: { body: Schema; read(body: unknown): SearchKey; cost(key: SearchKey): number; refuse(): Promise<void> };
};
