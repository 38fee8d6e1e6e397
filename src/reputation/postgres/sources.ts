import type { Source } from '../../core/evidence.ts';
import { createChangeRecorder } from '../../database/changes.ts';
import { putChanges } from '../../database/postgres/changes.ts';
import type { Database, Session } from '../../database/postgres/database.ts';
import { type Ids, sourceIds } from '../../database/postgres/dictionaries.ts';
import { createLock, inOrder } from '../../database/postgres/lock-order.ts';
import { columns } from '../../database/postgres/parameters.ts';
import type { ReputationStore } from '../store.ts';
import { raiseVersion } from './address-lists.ts';

const LOCK = 'select count(*) from (select 1 from sources where name = any($1::text[]) order by name for update) l';

/** Adds the sources that are new, then locks all of them, in order of name. */
export async function lockSources(session: Session, names: ReadonlySet<string>): Promise<Ids> {
  const [ids] = await inOrder([() => sourceIds(session, names), () => session.query(LOCK, [[...names]])]);
  return ids;
}

const UPDATE = `
  update sources s
  set trust_permille = g.trust_permille, life_seconds = g.life_seconds, interval_seconds = g.interval_seconds
  from unnest($1::text[], $2::integer[], $3::bigint[], $4::bigint[])
    as g (name, trust_permille, life_seconds, interval_seconds)
  where s.name = g.name and (s.trust_permille, s.life_seconds, s.interval_seconds)
    is distinct from (g.trust_permille, g.life_seconds, g.interval_seconds)`;

const NAMES = 'select id, name from sources';

export function createSources(primary: Database): Pick<ReputationStore, 'putSources' | 'sourceNames'> {
  return {
    sourceNames: async () => new Map(await primary.query<[id: number, name: string]>(NAMES)),

    async putSources(sources) {
      // Of two settings of one source the last one counts.
      const byName = new Map(sources.map((source) => [source.name, source]));
      if (byName.size > 0) await primary.transaction((session) => putSources(session, byName));
    },
  };
}

async function putSources(session: Session, sources: ReadonlyMap<string, Source>): Promise<void> {
  const rows = columns(4, [...sources.values()], (source) => [
    source.name,
    source.trustPermille,
    source.lifeSeconds,
    source.intervalSeconds,
  ]);
  const lock = createLock();
  const [, changed] = await inOrder([
    () => lock({ sources: () => lockSources(session, new Set(sources.keys())) }),
    () => session.run(UPDATE, rows),
  ]);
  if (changed > 0) {
    await lock({ episodes: () => raiseVersion(session) });
    await putChanges(session, createChangeRecorder());
  }
}
