import type { Database, Query } from '../../database/postgres/database.ts';
import type { ReputationStore } from '../store.ts';

export function createRebuild(_primary: Database, _read: Query): Pick<ReputationStore, 'rebuildHosts' | 'countHosts'> {
  return {} as never;
}
