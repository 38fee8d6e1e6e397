import { DOMAIN_KINDS } from '../../core/evidence.ts';
import type { Scalar } from '../../database/postgres/array-literal.ts';
import type { Session } from '../../database/postgres/database.ts';
import type { Ids } from '../../database/postgres/dictionaries.ts';
import { inOrder } from '../../database/postgres/lock-order.ts';
import { columns, runRows } from '../../database/postgres/parameters.ts';
import {
  type EvidenceGroup,
  type EvidenceRow,
  type EvidenceValues,
  evidenceValues,
  isRecordedEvidence,
  isSameEvidence,
  mergeEvidence,
  toEvidenceRow,
} from '../domain-rules.ts';

/** The ids of the texts of a batch. */
export type TextIds = { sources: Ids; domains: Ids; hosts: Ids };

export function idOf(ids: Ids, text: string): number {
  return ids.get(text) as number;
}

/** A row and its key. Rows are sorted by key: the lock of two transactions on the same rows is in one order. */
export type WithIds<Row> = { ids: number[]; row: Row };

export function evidenceWithIds(
  { key: { source, name, kind }, row }: EvidenceGroup,
  ids: TextIds,
): WithIds<EvidenceRow> {
  const kindCode = DOMAIN_KINDS.indexOf(kind);
  const key = [idOf(ids.domains, name.domain), idOf(ids.sources, source), kindCode, idOf(ids.hosts, name.hostname)];
  return { ids: key, row };
}

export function compareIds(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((id, i) => id !== b[i]);
  return at === -1 ? 0 : (a[at] as number) - (b[at] as number);
}

const EVIDENCE_COLUMNS = 'rank, best_ts, best_confidence, first_ts, last_ts, details';

const GIVEN_EVIDENCE = `
  unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::smallint[],
    $8::bigint[], $9::bigint[], $10::text[])
  as t (domain_id, source_id, kind, host_id, ${EVIDENCE_COLUMNS})`;

const SAME_EVIDENCE = `
  e.domain_id = t.domain_id and e.source_id = t.source_id and e.kind = t.kind and e.host_id = t.host_id`;

const ADD_EVIDENCE = `
  insert into domain_evidence (domain_id, source_id, kind, host_id, ${EVIDENCE_COLUMNS})
  select * from ${GIVEN_EVIDENCE}
  where not exists (select 1 from domain_evidence e where ${SAME_EVIDENCE})
  order by domain_id, source_id, kind, host_id on conflict do nothing returning domain_id`;

// In the order of the given rows, which are sorted. With an order by columns of the table, the planner would read the whole
// index to avoid a sort.
const LOCK_EVIDENCE = `
  select t.place, e.rank, e.best_ts, e.best_confidence, e.first_ts, e.last_ts, e.details
  from unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::bigint[]) with ordinality
    as t (domain_id, source_id, kind, host_id, place)
  join domain_evidence e on ${SAME_EVIDENCE}
  order by t.place for update of e`;

type LockedEvidence = [place: number, ...EvidenceValues];

/** Adds the rows that are new, then locks and reads all of them. Those that were added need no update. */
export async function lockEvidence(session: Session, rows: readonly WithIds<EvidenceRow>[]) {
  if (rows.length === 0) return { added: [], stored: [] };
  const given = columns(10, rows, evidenceColumns);
  const [added, stored] = await inOrder([
    () => session.query<[domainId: number]>(ADD_EVIDENCE, given),
    () => session.query<LockedEvidence>(LOCK_EVIDENCE, given.slice(0, 4)),
  ]);
  return { added, stored };
}

const UPDATE_EVIDENCE = `
  update domain_evidence e set rank = t.rank, best_ts = t.best_ts, best_confidence = t.best_confidence,
    first_ts = t.first_ts, last_ts = t.last_ts, details = t.details
  from ${GIVEN_EVIDENCE} where ${SAME_EVIDENCE}`;

/** Records before its first `await` which domains change. */
export async function updateEvidence(
  session: Session,
  rows: readonly WithIds<EvidenceRow>[],
  stored: readonly LockedEvidence[],
  record: (domainId: number) => void,
): Promise<number> {
  const changed: WithIds<EvidenceRow>[] = [];
  for (const [place, ...values] of stored) {
    const { ids, row } = rows[place - 1] as WithIds<EvidenceRow>;
    const old = toEvidenceRow(values);
    const merged = mergeEvidence(old, row);
    if (isSameEvidence(old, merged)) continue;
    changed.push({ ids, row: merged });
    if (isRecordedEvidence(old, merged)) record(ids[0] as number);
  }
  return runRows(session, UPDATE_EVIDENCE, changed, evidenceColumns);
}

function evidenceColumns({ ids, row }: WithIds<EvidenceRow>): Scalar[] {
  return [...ids, ...evidenceValues(row)];
}
