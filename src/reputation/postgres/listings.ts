import type { Database, Query } from '../../database/postgres/database.ts';
import type { ReputationStore } from '../store.ts';

export function createListings(
  _primary: Database,
  _read: Query,
): Pick<ReputationStore, 'applyListings' | 'listings' | 'exportListings'> {
  return {} as never;
}
