import { keyRanges } from '../../core/ip/key-network.ts';
import { PAGE_ROWS } from '../../database/pages.ts';
import type { Database } from '../../database/sqlite/database.ts';
import { type NameAtRow, namesOf } from '../names-at.ts';
import type { ReputationStore } from '../store.ts';

const NAMES_AT = `
  select a.ts, domains.name, hosts.host
  from name_addresses a join domains on domains.id = a.domain_id join hosts on hosts.id = a.host_id
  where a.origin = 1 and a.ip >= ? and a.ip <= ? order by a.ip desc, a.ts desc limit ${PAGE_ROWS}`;

export function createNamesAt(db: Database): ReputationStore['namesAt'] {
  const namesAt = db.prepare<NameAtRow>(NAMES_AT);
  return async (network) => namesOf(keyRanges(network).map((range) => namesAt.all(...range)));
}
