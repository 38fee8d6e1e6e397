import type { Source } from '../../core/evidence.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import type { ReputationStore } from '../store.ts';
import { createRaiseVersion } from './address-lists.ts';

const PUT = `
  insert into sources (name, trust_permille, life_seconds, interval_seconds) values (?, ?, ?, ?)
  on conflict (name) do update set trust_permille = excluded.trust_permille, life_seconds = excluded.life_seconds,
    interval_seconds = excluded.interval_seconds
  where (trust_permille, life_seconds, interval_seconds)
    is not (excluded.trust_permille, excluded.life_seconds, excluded.interval_seconds)`;

export function createPutSources(db: Database, { transaction }: Pick<Dictionaries, 'transaction'>) {
  const put = db.prepare(PUT);
  const raiseVersion = createRaiseVersion(db);
  return (sources: readonly Source[]): void =>
    transaction(() => {
      let changed = 0;
      for (const { name, trustPermille, lifeSeconds, intervalSeconds } of sources) {
        changed += put.run(name, trustPermille, lifeSeconds, intervalSeconds);
      }
      if (changed > 0) raiseVersion();
    });
}

type SourceWrites = { putSources: ReturnType<typeof createPutSources> };

const NAMES = 'select id, name from sources';

export function createSources({
  db,
  write,
}: DatabaseFile<SourceWrites>): Pick<ReputationStore, 'putSources' | 'sourceNames'> {
  const names = db.prepare<[id: number, name: string]>(NAMES);
  return {
    putSources: (sources) => write('putSources', sources),
    sourceNames: async () => new Map(names.all()),
  };
}
