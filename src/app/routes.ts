import type { Login } from '../accounts/login.ts';
import { accountRoutes } from '../accounts/routes.ts';
import { type HealthServices, healthRoutes } from '../health/routes.ts';
import type { Route } from '../http/endpoint.ts';
import { limitsRoutes } from '../limits/routes.ts';
import type { Counters } from '../limits/store.ts';
import { urlRoutes } from '../urls/routes.ts';
import type { UrlStore } from '../urls/store.ts';

type RouteServices = {
  store: UrlStore;
  /** Unix seconds. */
  now(): number;
  counters: Counters;
  login: Login;
  health: HealthServices;
};

/** All routes of this server except `/openapi.json`, which describes them. */
export function createRoutes({ store, now, counters, login, health }: RouteServices): Route[] {
  return [...accountRoutes(login), ...limitsRoutes(counters), ...urlRoutes(store, now), ...healthRoutes(health)];
}
