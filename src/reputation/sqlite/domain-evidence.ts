import { DOMAIN_KINDS } from '../../core/evidence.ts';
import type { Database } from '../../database/sqlite/database.ts';
import type { Dictionaries } from '../../database/sqlite/dictionaries.ts';
import {
  type EvidenceKey,
  type EvidenceRow,
  type EvidenceValues,
  evidenceValues,
  isRecordedEvidence,
  isSameEvidence,
  mergeEvidence,
  toEvidenceRow,
} from '../domain-rules.ts';

const FIND_EVIDENCE = `
  select rank, best_ts, best_confidence, first_ts, last_ts, details from domain_evidence
  where domain_id = ? and source_id = ? and kind = ? and host_id = ?`;

const PUT_EVIDENCE = 'insert or replace into domain_evidence values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';

/** Applies the evidence of one row; returns whether the stored row changed. */
export function createApplyEvidence(db: Database, { domains, hosts, sources, changes }: Dictionaries) {
  const find = db.prepare<EvidenceValues>(FIND_EVIDENCE);
  const put = db.prepare(PUT_EVIDENCE);

  return ({ source, name, kind }: EvidenceKey, given: EvidenceRow): boolean => {
    const ids = [
      domains.idOf(name.domain),
      sources.idOf(source),
      DOMAIN_KINDS.indexOf(kind),
      hosts.idOf(name.hostname),
    ] as const;
    const found = find.get(...ids);
    const stored = found === undefined ? null : toEvidenceRow(found);
    const row = stored === null ? given : mergeEvidence(stored, given);
    if (stored !== null && isSameEvidence(stored, row)) return false;
    if (isRecordedEvidence(stored, row)) changes.domain(name.domain, 'update');
    put.run(...ids, ...evidenceValues(row));
    return true;
  };
}
