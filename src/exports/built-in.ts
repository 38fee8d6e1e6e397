import { LISTED_FROM } from '../reputation/score.ts';
import type { ListKind } from './content.ts';
import type { ListDefinition, ListFilter, ListStore } from './store.ts';

/** What malware uses it leaves within days. A list of everything that was ever seen would mostly block its next owners. */
export const DEFAULT_AGE_SECONDS = 30 * 86_400;

/** Without any choice of the operator. */
export const DEFAULT_FILTER: ListFilter = {
  status: 'online',
  maxAgeSeconds: DEFAULT_AGE_SECONDS,
  families: [],
  reporters: [],
  datasets: [],
  maxScore: null,
  listedDomains: false,
};

/** Lists that every server has. An operator cannot change or remove them, but can exclude from them. */
export const BUILT_IN_LISTS: readonly ListDefinition[] = [
  builtIn('urls-online', 'urls', 'URLs that distribute malware and are online'),
  builtIn('hosts-malware', 'hosts', 'Host names of URLs that distribute malware and are online'),
  builtIn('domains-listed', 'hosts', 'Domains that are listed by their score', {
    status: 'any',
    listedDomains: true,
    maxScore: LISTED_FROM,
  }),
  builtIn('addresses-bcl', 'addresses', 'Addresses of botnet controllers', { datasets: ['BCL'] }),
  builtIn('addresses-xbl', 'addresses', 'Addresses of infected or attacking hosts', { datasets: ['XBL'] }),
];

function builtIn(name: string, kind: ListKind, description: string, filter: Partial<ListFilter> = {}): ListDefinition {
  return { name, kind, description, filter: { ...DEFAULT_FILTER, ...filter }, changedTs: 0 };
}

/** The built-in lists, then those of the operator. */
export async function allLists(store: Pick<ListStore, 'listDefinitions'>): Promise<ListDefinition[]> {
  return [...BUILT_IN_LISTS, ...(await store.listDefinitions())];
}
