import { AUDIT_ACTIONS, AUDIT_KINDS } from '../audit/entry.ts';
import type { AuditFilter } from '../audit/store.ts';
import { badRequest } from '../core/errors.ts';
import { paths } from '../core/paths.ts';
import { monthText, parseMonth, windowIndex } from '../core/quota.ts';
import { type Endpoint, json, type Parameter, type Route } from '../http/endpoint.ts';
import {
  limitParameter,
  queryString,
  readLimit,
  readOpenWindow,
  sinceParameter,
  untilParameter,
} from '../http/query.ts';
import { Type } from '../http/schema.ts';
import { usageReport, usageReportJson } from '../limits/usage-report.ts';
import { adminRoute, queryText, textParameter } from './route.ts';
import type { AdminServices } from './services.ts';
import { AuditItem, ListOf, UsageReportResponse } from './wire.ts';

export function reportAdminRoutes(services: AdminServices): Route[] {
  return [adminRoute(auditLog(services)), adminRoute(usageOfMonth(services))];
}

const AUDIT_LIMIT_DEFAULT = 100;
/** They are read and sent together. */
const AUDIT_LIMIT_MAX = 1000;

const actionParameter: Parameter = {
  in: 'query',
  name: 'action',
  schema: Type.Enum([...AUDIT_ACTIONS, ...AUDIT_KINDS]),
  description: 'Only these changes, such as account.set, or account for all of them.',
};

const auditLog = ({ control }: AdminServices): Endpoint<AuditFilter> => ({
  method: 'GET',
  path: paths.adminAudit,
  operationId: 'adminAudit',
  summary: 'Who changed what, the newest change first',
  parameters: [
    { ...sinceParameter, description: 'Only changes from this time on.' },
    { ...untilParameter, description: 'Only changes up to this time.' },
    textParameter('subject', 'Only changes of this account, tier, key, feed, network or domain.'),
    actionParameter,
    limitParameter(AUDIT_LIMIT_DEFAULT, AUDIT_LIMIT_MAX),
  ],
  response: json(ListOf(AuditItem)),
  read(request) {
    const query = queryString(request);
    const { since, until } = readOpenWindow(query);
    const action = queryText(request, 'action');
    if (action !== null && ![...AUDIT_ACTIONS, ...AUDIT_KINDS].includes(action)) {
      throw badRequest(`"action" must be an action such as account.set, or ${AUDIT_KINDS.join(', ')}`);
    }
    const limit = readLimit(query, AUDIT_LIMIT_MAX) ?? AUDIT_LIMIT_DEFAULT;
    return { sinceTs: since, untilTs: until, subject: queryText(request, 'subject'), action, limit };
  },
  respond: async (filter) => ({ items: await control.auditEntries(filter) }),
});

const usageOfMonth = ({ control, now }: AdminServices): Endpoint<number> => ({
  method: 'GET',
  path: paths.adminUsage,
  operationId: 'adminUsage',
  summary: 'The queries of a month by account and day: the basis of a bill',
  parameters: [textParameter('month', 'Such as 2026-10. Default: the last month that is over.')],
  response: json(UsageReportResponse),
  read: (request) => readMonth(queryText(request, 'month'), windowIndex('month', now())),
  respond: async (month): Promise<UsageReportResponse> => usageReportJson(await usageReport(control, month, now())),
});

function readMonth(text: string | null, current: number): number {
  if (text === null) return current - 1;
  const month = parseMonth(text);
  if (month === null) throw badRequest('"month" must be like 2026-10');
  if (month <= current) return month;
  throw badRequest(`"month" is in the future: this month is ${monthText(current)}`);
}
