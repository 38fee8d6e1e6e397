import type { AccountStore } from '../accounts/store.ts';
import { recordChange } from '../audit/request-record.ts';
import type { AuditStore } from '../audit/store.ts';
import { paths } from '../core/paths.ts';
import { allLists } from '../exports/built-in.ts';
import { exclude, exclusionFields, exclusionSubject, removeExclusion } from '../exports/exclude.ts';
import { accountNames, keyFields, makeListKeyFor, revokeListKey } from '../exports/keys.ts';
import { changeList, defineList, listFields, removeList, requireList } from '../exports/manage.ts';
import { keyIdParameter } from '../exports/own-keys.ts';
import type { ListKey, ListStore } from '../exports/store.ts';
import {
  AccountKeyAddRequest,
  AccountKeyItem,
  ExclusionAddRequest,
  ExclusionItem,
  ListAddRequest,
  ListItem,
  ListSetRequest,
  MadeAccountKeyResponse,
  toExclusionItem,
  toKeyItem,
  toListItem,
  toListValues,
} from '../exports/wire.ts';
import { json, type Parameter, type Route } from '../http/endpoint.ts';
import { type Static, Type } from '../http/schema.ts';
import type { NameOf } from '../ingest/evidence-choices.ts';
import { adminRoute, Nothing, pathParameter, pathText, queryText, textParameter } from './route.ts';
import { ListOf } from './wire.ts';

export type DeviceListAdminServices = {
  control: ListStore &
    Pick<AccountStore, 'accountByUsername' | 'accountBySub' | 'tiers'> &
    Pick<AuditStore, 'addAudit'>;
  /** Unix seconds. */
  now(): number;
};

/** Lists for devices: their definitions, what is excluded from them, and the keys of devices. */
export function deviceListAdminRoutes(services: DeviceListAdminServices): Route[] {
  return [
    listAll(services),
    listAdd(services),
    listSet(services),
    listRemove(services),
    exclusionAll(services),
    exclusionAdd(services),
    exclusionRemove(services),
    keyAll(services),
    keyAdd(services),
    keyRemove(services),
  ];
}

const jsonName: NameOf = (key) => JSON.stringify(key.replaceAll('-', '_'));

const nameParameter = pathParameter('name', 'The name of a list.');

const listAll = ({ control }: DeviceListAdminServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminLists,
    operationId: 'adminLists',
    summary: 'All lists for devices: the built-in ones, then your own',
    response: json(ListOf(ListItem)),
    read: () => undefined,
    respond: async () => ({ items: (await allLists(control)).map(toListItem) }),
  });

const listAdd = ({ control, now }: DeviceListAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminLists,
    operationId: 'adminListAdd',
    summary: 'Define a list for devices',
    body: ListAddRequest,
    response: json(ListItem),
    read: (request) => request.body as ListAddRequest,
    async respond({ name, kind, ...sent }, { request }) {
      const list = await defineList(control, { name, kind, ...toListValues(sent) }, now(), jsonName);
      await recordChange(control, request, { action: 'list.add', subject: name, after: listFields(list) });
      return toListItem(list);
    },
  });

const listSet = ({ control, now }: DeviceListAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminList,
    operationId: 'adminListSet',
    summary: 'Change a list of your own; what is not sent stays',
    parameters: [nameParameter],
    body: ListSetRequest,
    response: json(ListItem),
    refusals: ['not_found'],
    read: (request) => ({ name: pathText(request, 'name'), sent: request.body as ListSetRequest }),
    async respond({ name, sent }, { request }) {
      const { before, after } = await changeList(control, name, toListValues(sent), now(), jsonName);
      const fields = { before: listFields(before), after: listFields(after) };
      await recordChange(control, request, { action: 'list.set', subject: name, ...fields });
      return toListItem(after);
    },
  });

const listRemove = ({ control }: DeviceListAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminListRemove,
    operationId: 'adminListRemove',
    summary: 'Remove a list of your own with its keys and exclusions',
    parameters: [nameParameter],
    body: Nothing,
    response: json(ListItem),
    refusals: ['not_found'],
    read: (request) => pathText(request, 'name'),
    async respond(name, { request }) {
      const list = await removeList(control, name);
      await recordChange(control, request, { action: 'list.remove', subject: name, before: listFields(list) });
      return toListItem(list);
    },
  });

const exclusionAll = ({ control, now }: DeviceListAdminServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminExclusions,
    operationId: 'adminExclusions',
    summary: 'What is on no list, or not on one of them; the newest first',
    response: json(ListOf(ExclusionItem)),
    read: () => undefined,
    async respond() {
      const nowTs = now();
      return { items: (await control.exclusions()).map((one) => toExclusionItem(one, nowTs)) };
    },
  });

const exclusionAdd = ({ control, now }: DeviceListAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminExclusions,
    operationId: 'adminExclusionAdd',
    summary: 'Exclude a host, the beginning of URLs or a network from lists; the same again replaces reason and end',
    body: ExclusionAddRequest,
    response: json(ExclusionItem),
    refusals: ['not_found'],
    read: (request) => request.body as ExclusionAddRequest,
    async respond({ value, subdomains = false, list = null, reason, until_ts: untilTs = null }, { request }) {
      const nowTs = now();
      const added = { value, withSubdomains: subdomains, list, reason, untilTs };
      const { before, exclusion } = await exclude(control, added, nowTs);
      await recordChange(control, request, {
        action: 'exclusion.add',
        subject: exclusionSubject(exclusion),
        before: before === null ? {} : exclusionFields(before),
        after: exclusionFields(exclusion),
      });
      return toExclusionItem(exclusion, nowTs);
    },
  });

const exclusionIdParameter: Parameter = { ...keyIdParameter, description: 'The id of an exclusion.' };

const exclusionRemove = ({ control, now }: DeviceListAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminExclusionRemove,
    operationId: 'adminExclusionRemove',
    summary: 'Remove an exclusion',
    parameters: [exclusionIdParameter],
    body: Nothing,
    response: json(ExclusionItem),
    refusals: ['not_found'],
    read: (request) => Number(pathText(request, 'id')),
    async respond(id, { request }) {
      const removed = await removeExclusion(control, id);
      const change = { subject: exclusionSubject(removed), before: exclusionFields(removed) };
      await recordChange(control, request, { action: 'exclusion.remove', ...change });
      return toExclusionItem(removed, now());
    },
  });

/** More than people read on a page, and few enough for one statement. */
const MAX_KEYS = 1_000;

const KeysResponse = Type.Object({
  items: Type.Array(AccountKeyItem),
  truncated: Type.Boolean({ description: `There are more than ${MAX_KEYS}.` }),
});

const keyAll = ({ control }: DeviceListAdminServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminListKeys,
    operationId: 'adminListKeys',
    summary: 'The keys of devices and their last fetches, the newest key first',
    parameters: [textParameter('list', 'Only keys of this list.')],
    response: json(KeysResponse),
    refusals: ['not_found'],
    read: (request) => queryText(request, 'list'),
    async respond(list) {
      if (list !== null) await requireList(control, list);
      const found = await control.listKeys({ ...(list !== null && { list }), limit: MAX_KEYS + 1 });
      const keys = found.slice(0, MAX_KEYS);
      const names = await accountNames(control, keys);
      return { items: keys.map((key) => present(key, names)), truncated: found.length > MAX_KEYS };
    },
  });

const present = (key: ListKey, names: ReadonlyMap<string, string>) => ({
  ...toKeyItem(key),
  username: names.get(key.sub) ?? null,
});

const keyAdd = ({ control, now }: DeviceListAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminListKeys,
    operationId: 'adminListKeyAdd',
    summary: 'Make a key with which one device fetches one list; only this response has it',
    body: AccountKeyAddRequest,
    response: json(MadeAccountKeyResponse),
    refusals: ['not_found', 'conflict'],
    read: (request) => request.body as AccountKeyAddRequest,
    async respond({ list, device, username: given }, { request }): Promise<Static<typeof MadeAccountKeyResponse>> {
      const { key, made, username } = await makeListKeyFor(control, given, { list, device }, now());
      await recordChange(control, request, { action: 'list-key.add', subject: list, after: keyFields(made, username) });
      return { ...toKeyItem(made), username, key };
    },
  });

const keyRemove = ({ control }: DeviceListAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminListKeyRemove,
    operationId: 'adminListKeyRemove',
    summary: 'Revoke a key; its device is refused within five seconds',
    parameters: [keyIdParameter],
    body: Nothing,
    response: json(AccountKeyItem),
    refusals: ['not_found'],
    read: (request) => Number(pathText(request, 'id')),
    async respond(id, { request }) {
      const key = await revokeListKey(control, id);
      const removed = present(key, await accountNames(control, [key]));
      const before = keyFields(key, removed.username);
      await recordChange(control, request, { action: 'list-key.remove', subject: key.list, before });
      return removed;
    },
  });
