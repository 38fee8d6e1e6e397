import type { Route } from '../http/endpoint.ts';
import { accountAdminRoutes } from './accounts.ts';
import { allowListAdminRoutes } from './allow-list.ts';
import type { ByHandServices } from './by-hand.ts';
import { type DeviceListAdminServices, deviceListAdminRoutes } from './device-lists.ts';
import { domainAdminRoutes } from './domains.ts';
import { type FeedAdminServices, feedAdminRoutes } from './feeds.ts';
import { healthAdminRoutes } from './health.ts';
import { type ImportAdminServices, importAdminRoutes } from './imports.ts';
import { keyAdminRoutes } from './keys.ts';
import { listingAdminRoutes } from './listings.ts';
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

export type DataAdminServices = FeedAdminServices & ImportAdminServices & ByHandServices & DeviceListAdminServices;

/** What administrators do with the data: feeds, imports, what they set by hand, and lists for devices. */
export function dataAdminRoutes(services: DataAdminServices): Route[] {
  return [
    ...feedAdminRoutes(services),
    ...importAdminRoutes(services),
    ...domainAdminRoutes(services),
    ...listingAdminRoutes(services),
    ...allowListAdminRoutes(services),
    ...deviceListAdminRoutes(services),
  ];
}
