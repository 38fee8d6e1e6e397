import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { ReputationStore } from '../store.ts';
import type { ReputationWrites } from './writes.ts';

export function createDomains(
  _file: DatabaseFile<ReputationWrites>,
): Pick<ReputationStore, 'domainState' | 'domainHostnames' | 'domainUrls' | 'domainFiles' | 'domainAddresses'> {
  return {} as never;
}
