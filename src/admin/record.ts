import type { FastifyRequest } from 'fastify';
import { type AuditAction, changesOf, type Fields } from '../audit/entry.ts';
import type { AuditStore } from '../audit/store.ts';
import { toTs } from '../core/time.ts';
import { callerOf } from '../http/authenticate.ts';

/** A change that an administrator has made. Fields that are equal before and after are left out of the audit log. */
type Change = { action: AuditAction; subject: string; before?: Fields; after?: Fields };

/** Writes a change to the audit log, after the change. */
export async function recordChange(
  control: Pick<AuditStore, 'addAudit'>,
  request: FastifyRequest,
  { action, subject, before = {}, after = {} }: Change,
): Promise<void> {
  const actor = { source: 'page', name: callerOf(request).account.username, origin: request.ip } as const;
  await control.addAudit({ ts: toTs(Date.now()), actor, action, subject, changes: changesOf(before, after) });
}
