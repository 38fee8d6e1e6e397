import { recordChange } from '../audit/request-record.ts';
import { parseDomainName } from '../core/domain-name.ts';
import { badRequest } from '../core/errors.ts';
import { paths } from '../core/paths.ts';
import { refangHost } from '../core/url/refang.ts';
import { json, type Route } from '../http/endpoint.ts';
import { Timestamp } from '../http/scalars.ts';
import { type Static, Type } from '../http/schema.ts';
import { HUMAN_MAX } from '../reputation/manage.ts';
import type { DomainSettings } from '../reputation/store.ts';
import { type ByHandServices, MAX_ITEMS, Reason, readReason, Truncated } from './by-hand.ts';
import { adminRoute } from './route.ts';

export const domainAdminRoutes = (services: ByHandServices): Route[] => [domainList(services), domainSet(services)];

const BooleanOrNull = Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] });

const SetDomain = Type.Object({
  domain: Type.String(),
  human: Type.Integer(),
  abused: BooleanOrNull,
  reason: Type.String(),
  set_ts: Timestamp,
});
export type SetDomain = Static<typeof SetDomain>;

const presentDomain = (domain: string, { human, isAbused, reason, setTs }: DomainSettings) => ({
  domain,
  human,
  abused: isAbused,
  reason,
  set_ts: setTs,
});

const domainList = ({ store }: ByHandServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminDomains,
    operationId: 'adminDomains',
    summary: 'Domains that were set by hand, the newest first',
    response: json(Type.Object({ items: Type.Array(SetDomain), truncated: Truncated })),
    read: () => undefined,
    async respond() {
      const found = await store.setDomains(MAX_ITEMS + 1);
      // A domain without points whose abuse is decided by the data is as if it were never set.
      const items = found.filter(({ human, isAbused }) => human !== 0 || isAbused !== null);
      items.sort((a, b) => b.setTs - a.setTs || (a.name < b.name ? -1 : 1));
      return {
        items: items.slice(0, MAX_ITEMS).map(({ name, ...settings }) => presentDomain(name, settings)),
        truncated: found.length > MAX_ITEMS,
      };
    },
  });

const DomainSetRequest = Type.Closed({
  domain: Type.String(),
  human: Type.Optional(
    Type.Integer({ minimum: -HUMAN_MAX, maximum: HUMAN_MAX, description: 'Points added to the score; 0: none.' }),
  ),
  abused: Type.Optional(
    Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description: 'null: decide by the data.' }),
  ),
  reason: Type.Optional(Reason),
});
type DomainSetRequest = Static<typeof DomainSetRequest>;

const domainSet = ({ store, control, now }: ByHandServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminDomains,
    operationId: 'adminDomainSet',
    summary: 'Set what is known about a domain; what is not sent stays',
    body: DomainSetRequest,
    response: json(SetDomain),
    read(request) {
      const { domain, human, abused, reason } = request.body as DomainSetRequest;
      if (human === undefined && abused === undefined) throw badRequest('"human" or "abused" is missing');
      if (human !== undefined && !reason)
        throw badRequest('"reason" is missing: others will ask why the points were given');
      const change: Partial<DomainSettings> = {
        ...(human !== undefined && { human: human + 0 }),
        ...(abused !== undefined && { isAbused: abused }),
        ...(reason !== undefined && { reason: readReason(reason) }),
      };
      return { name: readDomain(domain), change };
    },
    async respond({ name, change }, { request }) {
      const { before, settings } = await store.setDomain(name, { ...change, setTs: now() });
      const fieldsOf = ({ human, isAbused, reason }: DomainSettings) => ({ human, abused: isAbused, reason });
      await recordChange(control, request, {
        action: 'domain.set',
        subject: name,
        before: before === null ? {} : fieldsOf(before),
        after: fieldsOf(settings),
      });
      return presentDomain(name, settings);
    },
  });

const NO_DOMAIN = {
  not_a_name: 'is not the name of a domain',
  address: 'is an address, not a domain',
  suffix: 'is a public suffix: domains are below it',
} as const;

/** Also defanged: a registrable domain. */
function readDomain(text: string): string {
  const parsed = parseDomainName(refangHost(text));
  if (!parsed.ok) throw badRequest(`${JSON.stringify(text)} ${NO_DOMAIN[parsed.reason]}`);
  const { hostname, domain } = parsed.name;
  if (hostname !== domain) throw badRequest(`${hostname} is a name below ${domain}: give the domain ${domain}`);
  return domain;
}
