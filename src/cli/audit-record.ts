import { hostname, userInfo } from 'node:os';
import { type DataPlace, openControl } from '../app/stores.ts';
import type { Actor } from '../audit/entry.ts';
import { addChange, type Change, notRecorded } from '../audit/record.ts';
import type { AuditStore } from '../audit/store.ts';
import { currentTs } from './time.ts';

/** Writes a change that a command has made to the audit log. */
export function recordChange(control: Pick<AuditStore, 'addAudit'>, change: Change): Promise<void> {
  return addChange(control, commandActor(), change, currentTs());
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
