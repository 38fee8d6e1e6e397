import { AppError } from '../../core/errors.ts';
import type { Session } from './database.ts';

/** A table that is there while data is moved into the database. */
export const MOVE_MARK = 'move_in_progress';

/** A server would answer from half of the data, and what it writes would be lost. */
export async function refuseHalfMoved(session: Session): Promise<void> {
  const [[isMarked]] = (await session.query(`select to_regclass('${MOVE_MARK}') is not null`)) as [[boolean]];
  if (isMarked) {
    throw new AppError('unavailable', 'Data is still being moved into this database: let urlwarden move finish first');
  }
}
