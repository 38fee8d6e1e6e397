import { recordChange } from '../audit/request-record.ts';
import { OPERATOR_SOURCE } from '../core/evidence.ts';
import { formatKeyNetwork } from '../core/ip/key-network.ts';
import { paths } from '../core/paths.ts';
import { json, type Route } from '../http/endpoint.ts';
import { Timestamp } from '../http/scalars.ts';
import { type Static, Type } from '../http/schema.ts';
import { allowedNetworks, allowNetwork, isOwnEntry, removeAllowed } from '../reputation/manage.ts';
import type { NetworkListEntry } from '../reputation/store.ts';
import { type ByHandServices, MAX_ITEMS, Reason, readNetwork, readReason, Truncated } from './by-hand.ts';
import { adminRoute } from './route.ts';
import { ListOf } from './wire.ts';

export function allowListAdminRoutes(services: ByHandServices): Route[] {
  return [allowList(services), allowAdd(services), allowRemove(services)];
}

const AllowEntry = Type.Object({
  cidr: Type.String(),
  source: Type.String({ description: `${OPERATOR_SOURCE}: added by hand; otherwise the name of an imported list.` }),
  ts: Timestamp,
  reason: Type.String(),
});
export type AllowEntry = Static<typeof AllowEntry>;

const presentEntry = ({ network, source, ts, reason }: NetworkListEntry) => ({
  cidr: formatKeyNetwork(network),
  source,
  ts,
  reason,
});

const allowList = ({ store }: ByHandServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminAllow,
    operationId: 'adminAllow',
    summary: 'Networks that are never listed: those added by hand, then those of imported lists',
    response: json(Type.Object({ items: Type.Array(AllowEntry), truncated: Truncated })),
    read: () => undefined,
    async respond() {
      const entries = await allowedNetworks(store);
      const items = [...entries.filter(isOwnEntry), ...entries.filter((entry) => !isOwnEntry(entry))];
      return { items: items.slice(0, MAX_ITEMS).map(presentEntry), truncated: items.length > MAX_ITEMS };
    },
  });

const AllowAddRequest = Type.Closed({ cidr: Type.String(), reason: Type.Optional(Reason) });

const allowAdd = ({ store, control, now }: ByHandServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminAllow,
    operationId: 'adminAllowAdd',
    summary: 'Never list an address or a network, whatever a source says',
    body: AllowAddRequest,
    response: json(AllowEntry),
    read(request) {
      const { cidr, reason = '' } = request.body as Static<typeof AllowAddRequest>;
      return { network: readNetwork(cidr), reason: readReason(reason) };
    },
    async respond({ network, reason }, { request }) {
      const { entry, before } = await allowNetwork(store, { network, reason, ts: now() });
      const change = { before: before === null ? {} : { reason: before.reason }, after: { reason } };
      await recordChange(control, request, { action: 'allow.add', subject: formatKeyNetwork(network), ...change });
      return presentEntry(entry);
    },
  });

const AllowRemoveRequest = Type.Closed({ cidr: Type.String() });

const allowRemove = ({ store, control }: ByHandServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminAllowRemove,
    operationId: 'adminAllowRemove',
    summary: 'Take exactly this network off all allow lists; the next import of a list adds its entry again',
    body: AllowRemoveRequest,
    response: json(ListOf(AllowEntry)),
    refusals: ['not_found'],
    read: (request) => readNetwork((request.body as Static<typeof AllowRemoveRequest>).cidr),
    async respond(network, { request }) {
      const removed = await removeAllowed(store, network);
      const before = { sources: removed.map(({ source }) => source) };
      await recordChange(control, request, { action: 'allow.remove', subject: formatKeyNetwork(network), before });
      return { items: removed.map(presentEntry) };
    },
  });
