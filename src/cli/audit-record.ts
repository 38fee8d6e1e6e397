import { hostname, userInfo } from 'node:os';
import { type DataPlace, openControl } from '../app/stores.ts';
import { type Actor, type AuditAction, changesOf, type Fields } from '../audit/entry.ts';
import type { AuditStore } from '../audit/store.ts';
import { AppError } from '../core/errors.ts';
import { currentTs } from './time.ts';

/** A change that a command has made. Fields that are equal before and after are left out of the audit log. */
type Change = { action: AuditAction; subject: string; before?: Fields; after?: Fields };

/**
 * Writes a change to the audit log. Commands call it after the change, which may be in another database. If it cannot be
 * written, the command fails and says that the change was made.
 */
export async function recordChange(
  control: Pick<AuditStore, 'addAudit'>,
  { action, subject, before = {}, after = {} }: Change,
): Promise<void> {
  try {
    const changes = changesOf(before, after);
    await control.addAudit({ ts: currentTs(), actor: commandActor(), action, subject, changes });
  } catch (cause) {
    throw notRecorded(cause);
  }
}

/** For commands that have not opened the control database. */
export async function recordChangeAt(place: DataPlace, change: Change): Promise<void> {
  const control = await openControl(place).catch((cause) => {
    throw notRecorded(cause);
  });
  try {
    await recordChange(control, change);
  } finally {
    await control.close();
  }
}

function notRecorded(cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new AppError(
    'unavailable',
    `The change was made, but it is not in the audit log, because that could not be written: ${reason}. Do not repeat the command; note the change elsewhere.`,
    { cause },
  );
}

/** The user of the operating system. After sudo also who called it: `root (sudo by ada)`. */
function commandActor(): Actor {
  const user = userName();
  const { SUDO_USER: caller } = process.env;
  return { source: 'cli', name: caller ? `${user} (sudo by ${caller})` : user, origin: hostname() };
}

/** In a container the user may have a number only. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
