import type { Database, Query } from '../../database/postgres/database.ts';
import type { ReputationStore } from '../store.ts';

export function createAddressLists(
  _primary: Database,
  _read: Query,
): Pick<
  ReputationStore,
  'listVersion' | 'addressLists' | 'removeListings' | 'removeListEntry' | 'applyLists' | 'finishList'
> {
  return {} as never;
}
