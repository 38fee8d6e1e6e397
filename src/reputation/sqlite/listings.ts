import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { ReputationStore } from '../store.ts';
import type { ReputationWrites } from './writes.ts';

export function createListings(
  _file: DatabaseFile<ReputationWrites>,
): Pick<ReputationStore, 'applyListings' | 'listings' | 'exportListings'> {
  return {} as never;
}
