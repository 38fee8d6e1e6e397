import type { Route } from '../http/endpoint.ts';
import { accountAdminRoutes } from './accounts.ts';
import { healthAdminRoutes } from './health.ts';
import { keyAdminRoutes } from './keys.ts';
import { reportAdminRoutes } from './reports.ts';
import type { AdminServices } from './services.ts';
import { tierAdminRoutes } from './tiers.ts';

/** What administrators see and change by page and API. */
export function adminRoutes(services: AdminServices): Route[] {
  return [
    ...accountAdminRoutes(services),
    ...tierAdminRoutes(services),
    ...keyAdminRoutes(services),
    ...reportAdminRoutes(services),
    ...healthAdminRoutes(services),
  ];
}
