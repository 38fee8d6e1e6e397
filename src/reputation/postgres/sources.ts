import type { Database, Query } from '../../database/postgres/database.ts';
import type { ReputationStore } from '../store.ts';

export function createSources(_primary: Database, _read: Query): Pick<ReputationStore, 'putSources'> {
  return {} as never;
}
