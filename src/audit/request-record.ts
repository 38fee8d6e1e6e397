import type { FastifyRequest } from 'fastify';
import { toTs } from '../core/time.ts';
import { callerOf } from '../http/authenticate.ts';
import { addChange, type Change } from './record.ts';
import type { AuditStore } from './store.ts';

/** Writes a change that an account has made by a request to the audit log. A page has a session, a program a token. */
export function recordChange(
  control: Pick<AuditStore, 'addAudit'>,
  request: FastifyRequest,
  change: Change,
): Promise<void> {
  const { account, session } = callerOf(request);
  const source = session === undefined ? 'api' : 'page';
  const actor = { source, name: account.username, origin: request.ip } as const;
  return addChange(control, actor, change, toTs(Date.now()));
}
