import { recordChange } from '../audit/request-record.ts';
import type { AuditStore } from '../audit/store.ts';
import { paths } from '../core/paths.ts';
import { callerOf } from '../http/authenticate.ts';
import { type Caller, type Endpoint, json, type Parameter, type Route } from '../http/endpoint.ts';
import { parseDecimal } from '../http/query.ts';
import { type Static, Type } from '../http/schema.ts';
import { requireDatasets } from './datasets.ts';
import { keyFields, MAX_KEYS_PER_ACCOUNT, makeListKey, revokeListKey } from './keys.ts';
import type { ListStore } from './store.ts';
import { KeyAddRequest, KeyItem, MadeKeyResponse, toKeyItem } from './wire.ts';

export type OwnKeyServices = {
  control: ListStore & Pick<AuditStore, 'addAudit'>;
  /** Unix seconds. */
  now(): number;
};

/** The keys of an account for its devices: it sees, makes and revokes them. */
export function ownKeyRoutes(services: OwnKeyServices): Route[] {
  return [
    { endpoint: ownKeys(services), access: 'account', charge: 'call' },
    // Counts as a query: its entry stays in the audit log for years, and a key can be removed and made again without an end.
    { endpoint: keyAdd(services), access: 'account', charge: 'own' },
    { endpoint: keyRemove(services), access: 'account', charge: 'call' },
  ];
}

const ownKeys = ({ control }: OwnKeyServices): Endpoint<Caller> => ({
  method: 'GET',
  path: paths.portalListKeys,
  operationId: 'portalListKeys',
  summary: 'The keys of the account for its devices, the newest first; does not count as a query',
  response: json(Type.Object({ items: Type.Array(KeyItem) })),
  read: callerOf,
  async respond({ account }) {
    const keys = await control.listKeys({ sub: account.sub, limit: MAX_KEYS_PER_ACCOUNT });
    return { items: keys.map(toKeyItem) };
  },
});

const keyAdd = ({ control, now }: OwnKeyServices): Endpoint<KeyAddRequest> => ({
  method: 'POST',
  path: paths.portalListKeys,
  operationId: 'portalListKeyAdd',
  summary: 'Make a key with which one device fetches one list; only this response has it. Counts as a query',
  body: KeyAddRequest,
  response: json(MadeKeyResponse),
  refusals: ['not_found'],
  read: (request) => request.body as KeyAddRequest,
  async respond({ list, device }, exchange, _options, charging): Promise<Static<typeof MadeKeyResponse>> {
    const { request } = exchange;
    const caller = callerOf(request);
    const { sub, username } = caller.account;
    const charge = await charging.chargeStep(exchange, 1);
    const { key, made } = await makeListKey(control, { list, device, sub }, now(), (one) =>
      requireDatasets(caller, one),
    ).catch(async (error) => {
      await charging.refund(charge);
      throw error;
    });
    await recordChange(control, request, {
      action: 'list-key.add',
      subject: list,
      after: keyFields(made, username),
    });
    return { ...toKeyItem(made), key };
  },
});

export const keyIdParameter: Parameter = {
  in: 'path',
  name: 'id',
  schema: Type.Integer({ minimum: 1 }),
  description: 'The id of a key.',
  isValid: (text) => parseDecimal(text, 1) !== null,
};

const keyRemove = ({ control }: OwnKeyServices): Endpoint<number> => ({
  method: 'POST',
  path: paths.portalListKeyRemove,
  operationId: 'portalListKeyRemove',
  summary: 'Revoke a key of the account; its device is refused within five seconds',
  parameters: [keyIdParameter],
  body: Type.Closed({}),
  response: json(KeyItem),
  refusals: ['not_found'],
  read: (request) => Number((request.params as { id: string }).id),
  async respond(id, { request }) {
    const { sub, username } = callerOf(request).account;
    const key = await revokeListKey(control, id, sub);
    await recordChange(control, request, {
      action: 'list-key.remove',
      subject: key.list,
      before: keyFields(key, username),
    });
    return toKeyItem(key);
  },
});
