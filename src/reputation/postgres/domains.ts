import type { Database, Query } from '../../database/postgres/database.ts';
import type { ReputationStore } from '../store.ts';

export function createDomains(
  _primary: Database,
  _read: Query,
): Pick<ReputationStore, 'domainState' | 'domainHostnames' | 'domainUrls' | 'domainFiles' | 'domainAddresses'> {
  return {} as never;
}
