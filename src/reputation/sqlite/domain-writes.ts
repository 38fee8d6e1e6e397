import type { Database } from '../../database/sqlite/database.ts';
import type { DatabaseFile } from '../../database/sqlite/database-file.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import { changeSettings, type SetDomainRow, type SettingsRow, toSetDomain, toSettingsRow } from '../domain-rows.ts';
import { type EvidenceGroup, type FactRows, groupEvidence, groupFacts } from '../domain-rules.ts';
import type { ChangedSettings, ReputationStore, SettingsChange } from '../store.ts';
import { createApplyEvidence } from './domain-evidence.ts';
import { createApplyFacts } from './domain-facts.ts';

/** By id, so that no more rows are read than returned. */
const SET_DOMAINS = `
  select d.name, s.human, s.is_abused, s.reason, s.set_ts
  from domain_settings s join domains d on d.id = s.domain_id order by s.domain_id desc limit ?`;

export function createWriteDomains({
  db,
  write,
}: DatabaseFile<ReturnType<typeof createDomainWrites>>): Pick<
  ReputationStore,
  'applyDomains' | 'setDomain' | 'setDomains'
> {
  const setDomains = db.prepare<SetDomainRow>(SET_DOMAINS);
  return {
    applyDomains: (evidence, facts) => write('applyDomains', groupEvidence(evidence), groupFacts(facts)),
    setDomain: (name, change) => write('setDomain', name, change),
    setDomains: async (limit) => setDomains.all(limit).map(toSetDomain),
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

const SETTINGS = 'select human, is_abused, reason, set_ts from domain_settings where domain_id = ?';
const PUT_SETTINGS = 'insert or replace into domain_settings values (?, ?, ?, ?, ?)';

function createSetDomain(db: Database, { domains, changes, transaction }: Dictionaries) {
  const settings = db.prepare<SettingsRow>(SETTINGS);
  const put = db.prepare(PUT_SETTINGS);
  return (name: string, change: SettingsChange): ChangedSettings =>
    transaction(() => {
      changes.domain(name, 'update');
      const id = domains.idOf(name);
      const changed = changeSettings(settings.get(id), change);
      put.run(id, ...toSettingsRow(changed.settings));
      return changed;
    });
}
