import type { NewAuditEntry } from '../../src/audit/entry.ts';
import type { AuditFilter } from '../../src/audit/store.ts';

export const ALL_AUDIT: AuditFilter = {
  sinceTs: 0,
  untilTs: Number.MAX_SAFE_INTEGER,
  subject: null,
  action: null,
  limit: 1_000,
};

export function auditEntry(values: Partial<NewAuditEntry>): NewAuditEntry {
  return {
    ts: 1_700_000_000,
    actor: { source: 'cli', name: 'grace', origin: 'host.example' },
    action: 'account.set',
    subject: 'ada@example.com',
    changes: { tier: { old: 'standard', new: 'enterprise' } },
    ...values,
  };
}
