import { AppError } from '../core/errors.ts';
import { type Actor, type AuditAction, changesOf, type Fields } from './entry.ts';
import type { AuditStore } from './store.ts';

/** A change that somebody has made. Fields that are equal before and after are left out of the audit log. */
export type Change = { action: AuditAction; subject: string; before?: Fields; after?: Fields };

/**
 * Writes a change to the audit log, after it was made: it may be in another database. If it cannot be written, this throws
 * and says that the change was made.
 */
export async function addChange(
  store: Pick<AuditStore, 'addAudit'>,
  actor: Actor,
  { action, subject, before = {}, after = {} }: Change,
  ts: number,
): Promise<void> {
  try {
    await store.addAudit({ ts, actor, action, subject, changes: changesOf(before, after) });
  } catch (cause) {
    throw notRecorded(cause);
  }
}

export function notRecorded(cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new AppError(
    'unavailable',
    `The change was made, but it is not in the audit log, because that could not be written: ${reason}. Do not repeat it; note the change elsewhere.`,
    { cause },
  );
}
