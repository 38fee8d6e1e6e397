import type { Login } from '../accounts/login.ts';
import { accountRoutes } from '../accounts/routes.ts';
import { type SessionServices, sessionRoutes } from '../accounts/session-routes.ts';
import { adminRoutes, type DataAdminServices, dataAdminRoutes } from '../admin/routes.ts';
import type { AdminServices } from '../admin/services.ts';
import { type ChangeServices, changeRoutes } from '../changes/routes.ts';
import type { ChangeStore } from '../changes/store.ts';
import { type OwnKeyServices, ownKeyRoutes } from '../exports/own-keys.ts';
import { listPageRoutes } from '../exports/page-routes.ts';
import { type ListServices, listRoutes } from '../exports/routes.ts';
import { type HealthServices, healthRoutes } from '../health/routes.ts';
import type { Route } from '../http/endpoint.ts';
import { limitsRoutes } from '../limits/routes.ts';
import type { Counters } from '../limits/store.ts';
import { portalRoutes } from '../portal/routes.ts';
import type { PortalServices } from '../portal/services.ts';
import { createDomainPages } from '../reputation/domain-page.ts';
import { parseQueriedNetwork } from '../reputation/queried-network.ts';
import { type ReputationServices, reputationRoutes } from '../reputation/routes.ts';
import type { ReputationStore } from '../reputation/store.ts';
import { noMatch, readSearchKey, urlRoutes } from '../urls/routes.ts';
import { SearchRequest } from '../urls/schemas.ts';
import { searchCost } from '../urls/search-key.ts';
import type { UrlStore } from '../urls/store.ts';

type RouteServices = {
  store: UrlStore & ReputationStore & ChangeStore;
  /** Unix seconds. */
  now(): number;
  counters: Counters;
  login: Login;
  pages: SessionServices;
  lists: ListServices;
  health: HealthServices;
  reputation: Omit<ReputationServices, 'store' | 'now'>;
  changes: Omit<ChangeServices, 'store'>;
  portal: PortalParts;
  ownKeys: Omit<OwnKeyServices, 'now'>;
  admin: Omit<AdminServices, 'now'>;
  dataAdmin: Omit<DataAdminServices, 'store' | 'now'>;
};

/** What the pages need besides the other services. */
export type PortalParts = Pick<PortalServices, 'usageByDay' | 'totals' | 'feeds' | 'networkOf' | 'nameOf'>;

/** All routes of this server except `/openapi.json`, which describes them. */
export function createRoutes(services: RouteServices): Route[] {
  const { store, now, counters, login, pages, lists, health, reputation, changes, portal, ownKeys } = services;
  const { admin, dataAdmin } = services;
  const { addresses } = reputation;
  return [
    ...accountRoutes(login),
    ...sessionRoutes(pages),
    ...limitsRoutes(counters),
    ...urlRoutes(store, now),
    ...reputationRoutes({ store, now, ...reputation }),
    ...listRoutes(lists),
    ...changeRoutes({ store, ...changes }),
    ...portalRoutes({
      store,
      now,
      counters,
      addresses,
      freshness: health.freshness,
      ...portal,
      ...createDomainPages({ store, addresses, now }),
      parseNetwork: parseQueriedNetwork,
      search: {
        body: SearchRequest,
        read: (body) => readSearchKey(body as SearchRequest),
        cost: searchCost,
        refuse: noMatch,
      },
    }),
    ...listPageRoutes(lists),
    ...ownKeyRoutes({ ...ownKeys, now }),
    ...adminRoutes({ ...admin, now }),
    ...dataAdminRoutes({ store, now, ...dataAdmin }),
    ...healthRoutes(health),
  ];
}
