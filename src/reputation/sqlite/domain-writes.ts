import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import { type EvidenceGroup, type FactRows, groupEvidence, groupFacts } from '../domain-rules.ts';
import type { DomainSettings, ReputationStore } from '../store.ts';
import { createApplyEvidence } from './domain-evidence.ts';
import { createApplyFacts } from './domain-facts.ts';

export function createWriteDomains({
  write,
}: DatabaseFile<ReturnType<typeof createDomainWrites>>): Pick<ReputationStore, 'applyDomains' | 'setDomain'> {
  return {
    applyDomains: (evidence, facts) => write('applyDomains', groupEvidence(evidence), groupFacts(facts)),
    setDomain: (name, settings) => write('setDomain', name, settings),
  };
}

/** The writes of domains, for the writer thread. */
export function createDomainWrites(db: Database, dictionaries: Dictionaries) {
  const applyEvidence = createApplyEvidence(db, dictionaries);
  const applyFacts = createApplyFacts(db, dictionaries);
  return {
    /** One transaction. Returns how many rows changed. */
    applyDomains: (evidence: readonly EvidenceGroup[], facts: FactRows): number =>
      dictionaries.transaction(
        () => evidence.filter(({ key, row }) => applyEvidence(key, row)).length + applyFacts(facts),
      ),
    setDomain: createSetDomain(db, dictionaries),
  };
}

const PUT_SETTINGS = 'insert or replace into domain_settings values (?, ?, ?, ?, ?)';

function createSetDomain(db: Database, { domains, transaction }: Dictionaries) {
  const put = db.prepare(PUT_SETTINGS);
  return (name: string, { human, isAbused, reason, setTs }: DomainSettings): void => {
    transaction(() => put.run(domains.idOf(name), human, isAbused === null ? null : Number(isAbused), reason, setTs));
  };
}
