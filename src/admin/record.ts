import type { FastifyRequest } from 'fastify';
import { addChange, type Change } from '../audit/record.ts';
import type { AuditStore } from '../audit/store.ts';
import { toTs } from '../core/time.ts';
import { callerOf } from '../http/authenticate.ts';

/** Writes a change that an administrator has made to the audit log. A browser sends a cookie, a program a token. */
export function recordChange(
  control: Pick<AuditStore, 'addAudit'>,
  request: FastifyRequest,
  change: Change,
): Promise<void> {
  const source = request.headers.authorization === undefined ? 'page' : 'api';
  const actor = { source, name: callerOf(request).account.username, origin: request.ip } as const;
  return addChange(control, actor, change, toTs(Date.now()));
}
