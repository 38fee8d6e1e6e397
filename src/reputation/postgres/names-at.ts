import { keyRanges } from '../../core/ip/key-network.ts';
import { PAGE_ROWS } from '../../database/pages.ts';
import type { Query } from '../../database/postgres/database.ts';
import { type NameAtRow, namesOf } from '../names-at.ts';
import type { ReputationStore } from '../store.ts';

const NAMES_AT = `
  select ts, (select name from domains where id = domain_id), (select host from hosts where id = host_id)
  from name_addresses
  where origin = 1 and ip >= $1 and ip <= $2 order by ip desc, ts desc limit ${PAGE_ROWS}`;

export function createNamesAt(query: Query): ReputationStore['namesAt'] {
  return async (network) =>
    namesOf(await Promise.all(keyRanges(network).map((range) => query<NameAtRow>(NAMES_AT, [...range]))));
}
