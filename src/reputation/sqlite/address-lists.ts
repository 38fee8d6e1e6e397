import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { ReputationStore } from '../store.ts';
import type { ReputationWrites } from './writes.ts';

export function createAddressLists(
  _file: DatabaseFile<ReputationWrites>,
): Pick<
  ReputationStore,
  'listVersion' | 'addressLists' | 'removeListings' | 'removeListEntry' | 'applyLists' | 'finishList'
> {
  return {} as never;
}
