import type { Login } from '../accounts/login.ts';
import { accountRoutes } from '../accounts/routes.ts';
import { adminRoutes } from '../admin/routes.ts';
import type { AdminServices } from '../admin/services.ts';
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
  admin: Omit<AdminServices, 'now'>;
};

/** All routes of this server except `/openapi.json`, which describes them. */
export function createRoutes({ store, now, counters, login, health, reputation, admin }: RouteServices): Route[] {
  return [
    ...accountRoutes(login),
    ...limitsRoutes(counters),
    ...urlRoutes(store, now),
    ...reputationRoutes({ store, now, ...reputation }),
    ...adminRoutes({ ...admin, now }),
    ...healthRoutes(health),
  ];
}
