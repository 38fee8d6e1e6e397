import {
  CHANGE_KINDS,
  CHANGE_OPERATIONS,
  type ChangeKind,
  type ChangeOperation,
  type ChangeRecorder,
  MAX_SUBJECTS,
} from '../changes.ts';
import type { Session } from './database.ts';
import { runRows } from './parameters.ts';

/** The clock at the time of a write, for `changes.ts`. */
export const CLOCK = 'extract(epoch from clock_timestamp())::bigint';

const ADD = `
  insert into changes (count, ts, op, kind, subjects)
  select t.count, ${CLOCK}, t.op, t.kind, t.subjects
  from unnest($1::bigint[], $2::smallint[], $3::smallint[], $4::text[]) with ordinality as t (count, op, kind, subjects, n)
  order by t.n`;

/** Writes the changes of a transaction, without numbers. Without any change a row that only raises the newest number. */
export async function putChanges(session: Session, recorder: Pick<ChangeRecorder, 'rows'>): Promise<void> {
  await runRows(session, ADD, recorder.rows(), ({ count, op, kind, subjects }) => [count, op, kind, subjects]);
}

/** A statement that records changes which the server finds: `subject` is an expression on the rows of `from`. */
export const putChangesOf = (op: ChangeOperation, kind: ChangeKind, subject: string, from: string) => `
  insert into changes (count, ts, op, kind, subjects)
  select count(*), ${CLOCK}, ${CHANGE_OPERATIONS.indexOf(op)}, ${CHANGE_KINDS.indexOf(kind)}, jsonb_agg(subject)::text
  from (
    select subject, (row_number() over () - 1) / ${MAX_SUBJECTS} as part
    from (select distinct ${subject} as subject ${from}) s) p
  group by part`;
