import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { ReputationStore } from '../store.ts';
import type { ReputationWrites } from './writes.ts';

export function createDomainEvidence(
  _file: DatabaseFile<ReputationWrites>,
): Pick<ReputationStore, 'applyDomains' | 'setDomain' | 'exportDomains'> {
  return {} as never;
}
