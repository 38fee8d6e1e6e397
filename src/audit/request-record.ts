import type { FastifyRequest } from 'fastify';
import { toTs } from '../core/time.ts';
import { callerOf } from '../http/authenticate.ts';
import { type Change, entryOf } from './entry.ts';
import type { AuditStore } from './store.ts';

/**
 * Writes a change that an account has made by a request to the audit log. A page has a session, a program a token. Never
 * throws: the change is made, and an error would invite to repeat it, and hide a new password or key. What could not be
 * written is in the log of the server.
 */
export async function recordChange(
  control: Pick<AuditStore, 'addAudit'>,
  request: FastifyRequest,
  change: Change,
): Promise<void> {
  const { account, session } = callerOf(request);
  const source = session === undefined ? 'api' : 'page';
  const actor = { source, name: account.username, origin: request.ip } as const;
  const entry = entryOf(actor, change, toTs(Date.now()));
  try {
    await control.addAudit(entry);
  } catch (err) {
    const { action, subject, changes } = entry;
    request.log.error({ err, action, subject, changes, sub: account.sub }, NOT_RECORDED);
  }
}

export const NOT_RECORDED = 'a change could not be written to the audit log';
