import type { Route } from '../http/endpoint.ts';
import { type FeedAdminServices, feedAdminRoutes } from './feeds.ts';
import { type ImportAdminServices, importAdminRoutes } from './imports.ts';
import { type ListAdminServices, listAdminRoutes } from './lists.ts';

export type DataAdminServices = FeedAdminServices & ImportAdminServices & ListAdminServices;

/** What administrators do with the data: feeds, imports, and what they set by hand. */
export function dataAdminRoutes(services: DataAdminServices): Route[] {
  return [...feedAdminRoutes(services), ...importAdminRoutes(services), ...listAdminRoutes(services)];
}
