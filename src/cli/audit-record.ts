import { hostname, userInfo } from 'node:os';
import { type DataPlace, openControl } from '../app/stores.ts';
import { type Actor, type Change, entryOf } from '../audit/entry.ts';
import type { AuditStore } from '../audit/store.ts';
import { AppError } from '../core/errors.ts';
import { currentTs } from './time.ts';

/**
 * Writes a change that a command has made to the audit log. If it cannot be written, this throws and says that the change
 * was made: the data may be in another database.
 */
export async function recordChange(control: Pick<AuditStore, 'addAudit'>, change: Change): Promise<void> {
  try {
    await control.addAudit(entryOf(commandActor(), change, currentTs()));
  } catch (cause) {
    throw notRecorded(cause);
  }
}

function notRecorded(cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new AppError(
    'unavailable',
    `The change was made, but it is not in the audit log, because that could not be written: ${reason}. Do not repeat it; note the change elsewhere.`,
    { cause },
  );
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
