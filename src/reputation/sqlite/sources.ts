import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { ReputationStore } from '../store.ts';
import type { ReputationWrites } from './writes.ts';

export function createSources(_file: DatabaseFile<ReputationWrites>): Pick<ReputationStore, 'putSources'> {
  return {} as never;
}
