import type { Login } from '../accounts/login.ts';
import { accountRoutes } from '../accounts/routes.ts';
import { type DataAdminServices, dataAdminRoutes } from '../admin/data-routes.ts';
import { type HealthServices, healthRoutes } from '../health/routes.ts';
import type { Route } from '../http/endpoint.ts';
import { limitsRoutes } from '../limits/routes.ts';
import type { Counters } from '../limits/store.ts';
import { type ReputationServices, reputationRoutes } from '../reputation/routes.ts';
import type { ReputationStore } from '../reputation/store.ts';
import { urlRoutes } from '../urls/routes.ts';
import type { UrlStore } from '../urls/store.ts';

type RouteServices = {
  store: UrlStore & ReputationStore;
  /** Unix seconds. */
  now(): number;
  counters: Counters;
  login: Login;
  health: HealthServices;
  reputation: Omit<ReputationServices, 'store' | 'now'>;
  dataAdmin: Omit<DataAdminServices, 'store' | 'now'>;
};

/** All routes of this server except `/openapi.json`, which describes them. */
export function createRoutes({ store, now, counters, login, health, reputation, dataAdmin }: RouteServices): Route[] {
  return [
    ...accountRoutes(login),
    ...limitsRoutes(counters),
    ...urlRoutes(store, now),
    ...reputationRoutes({ store, now, ...reputation }),
    ...dataAdminRoutes({ store, now, ...dataAdmin }),
    ...healthRoutes(health),
  ];
}
