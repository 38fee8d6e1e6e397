import type { Database, Query } from '../../database/postgres/database.ts';
import type { ReputationStore } from '../store.ts';

export function createDomainEvidence(
  _primary: Database,
  _read: Query,
): Pick<ReputationStore, 'applyDomains' | 'setDomain' | 'exportDomains'> {
  return {} as never;
}
