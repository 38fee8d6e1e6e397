import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { ReputationStore } from '../store.ts';
import type { ReputationWrites } from './writes.ts';

export function createRebuild(
  _file: DatabaseFile<ReputationWrites>,
): Pick<ReputationStore, 'rebuildHosts' | 'countHosts'> {
  return {} as never;
}
