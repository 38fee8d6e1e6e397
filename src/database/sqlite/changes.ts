import { type ChangeRecorder, createChangeRecorder } from '../changes.ts';
import type { Database } from './database.ts';

// The rows that this connection has changed since it was opened.
const TOTAL_CHANGES = 'select total_changes()';

const RAISE = 'update change_numbers set newest = newest + ? returning newest';

const ADD = 'insert into changes (seq, count, ts, op, kind, subjects) values (?, ?, unixepoch(), ?, ?, ?)';

/** The changes of one transaction. One transaction writes at a time, so numbers are in the order of the commits. */
type ChangeWriter = ChangeRecorder & {
  /** To be called at the beginning of a transaction. */
  begin(): void;
  /** To be called at its end. Writes nothing if nothing has changed. */
  write(): void;
};

export function createChangeWriter(db: Database): ChangeWriter {
  const recorder = createChangeRecorder();
  const totalChanges = db.prepare<[number]>(TOTAL_CHANGES);
  const raise = db.prepare<[newest: number]>(RAISE);
  const add = db.prepare(ADD);
  let before = 0;
  return {
    ...recorder,
    begin() {
      recorder.clear();
      [before] = totalChanges.one();
    },
    write() {
      if (recorder.isEmpty() && totalChanges.one()[0] === before) return;
      const rows = recorder.rows();
      let [seq] = raise.one(rows.reduce((sum, { count }) => sum + count, 0));
      for (const { count, op, kind, subjects } of rows.reverse()) {
        add.run(seq, count, op, kind, subjects);
        seq -= count;
      }
    },
  };
}

/** More than any server gives in a second. */
const NUMBERS_PER_SECOND = 1_000_000;

const JUMP = `
  update change_numbers set newest = max(newest + ${NUMBERS_PER_SECOND}, unixepoch() * ${NUMBERS_PER_SECOND}) returning newest`;

/**
 * To be called after a restore: numbers after those of the backup were given to readers, with other changes. New ones begin
 * where none of them can be, and a cursor in between is refused.
 */
export function skipUsedNumbers(db: Database): void {
  const [newest] = db.prepare<[number]>(JUMP).one();
  db.prepare(ADD).run(newest, 1, 1, null, '[]');
}
