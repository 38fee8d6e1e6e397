import type { FastifyRequest } from 'fastify';
import { accountFields } from '../accounts/audit-fields.ts';
import {
  changePassword,
  createAccount,
  removeAccount,
  requireAccount,
  revokeTokens,
  setAccount,
} from '../accounts/manage.ts';
import { randomPassword, requireUsablePassword } from '../accounts/passwords.ts';
import type { Account } from '../accounts/store.ts';
import { allTiers, findTier, requireTier } from '../accounts/tiers.ts';
import type { AuditAction } from '../audit/entry.ts';
import { recordChange } from '../audit/request-record.ts';
import { badRequest } from '../core/errors.ts';
import { paths } from '../core/paths.ts';
import { windowIndex } from '../core/quota.ts';
import { DEFAULT_TIER, type Tier } from '../core/tier.ts';
import { type Endpoint, json, type Route } from '../http/endpoint.ts';
import { daysParameter, readDays, toUsageByDay, UsageByDayResponse, usageDays } from '../limits/wire.ts';
import { adminRoute, Nothing, pathParameter, pathText, sendItems } from './route.ts';
import type { AdminServices } from './services.ts';
import { AccountItem, AddAccountRequest, AddAccountResponse, ChangeAccountRequest, ListOf } from './wire.ts';

export function accountAdminRoutes(services: AdminServices): Route[] {
  return [
    adminRoute(listAccounts(services)),
    adminRoute(addAccount(services)),
    adminRoute(changeAccount(services)),
    adminRoute(revokeAccount(services)),
    adminRoute(removeOneAccount(services)),
    adminRoute(accountUsage(services)),
  ];
}

type Counted = { month: number; day: number };

function toItem(account: Account, limits: Pick<Tier, 'qms' | 'qmh'> | null, { month, day }: Counted): AccountItem {
  const { username, sub, tier, isEnabled, isAdmin, createdTs } = account;
  return {
    username,
    sub,
    tier,
    enabled: isEnabled,
    admin: isAdmin,
    created_ts: createdTs,
    queries_month: month,
    queries_day: day,
    soft: limits?.qms ?? null,
    hard: limits?.qmh ?? null,
  };
}

async function itemOf({ control, now }: AdminServices, account: Account): Promise<AccountItem> {
  const [today, thisMonth] = [windowIndex('day', now()), windowIndex('month', now())];
  const counted = await control.usage(account.sub, today, thisMonth);
  return toItem(account, await findTier(control, account.tier), counted);
}

/** The queries of this month and of today, by sub: what the bill has. */
async function countedBySub({ control, now }: AdminServices): Promise<Map<string, Counted>> {
  const today = windowIndex('day', now());
  const counted = new Map<string, Counted>();
  for await (const page of control.monthUsage(windowIndex('month', now()))) {
    for (const { sub, days } of page) {
      const month = days.reduce((sum, { count }) => sum + count, 0);
      counted.set(sub, { month, day: days.find(({ day }) => day === today)?.count ?? 0 });
    }
  }
  return counted;
}

const listAccounts = (services: AdminServices): Endpoint => ({
  method: 'GET',
  path: paths.adminAccounts,
  operationId: 'adminAccounts',
  summary: 'All accounts by username, with their queries of this month and of today',
  response: json(ListOf(AccountItem)),
  read: () => undefined,
  respond: (_query, exchange, options) => sendItems(exchange, accountItems(services), options),
});

async function* accountItems(services: AdminServices): AsyncGenerator<AccountItem[]> {
  const tiers = new Map((await allTiers(services.control)).map((tier) => [tier.name, tier]));
  const counted = await countedBySub(services);
  for await (const page of services.control.accountPages()) {
    yield page.map((one) => toItem(one, tiers.get(one.tier) ?? null, counted.get(one.sub) ?? { month: 0, day: 0 }));
  }
}

const addAccount = (services: AdminServices): Endpoint<AddAccountRequest> => ({
  method: 'POST',
  path: paths.adminAccounts,
  operationId: 'adminAddAccount',
  summary: 'Add an account; without a password, one is generated, and is in the response only once',
  body: AddAccountRequest,
  response: json(AddAccountResponse),
  refusals: ['not_found'],
  read: (request) => request.body as AddAccountRequest,
  async respond({ username, tier = DEFAULT_TIER, password, admin = false }, { request }): Promise<AddAccountResponse> {
    const { control, now } = services;
    const generated = password === undefined ? randomPassword() : null;
    const given = { username, tier, password: generated ?? password ?? '', isAdmin: admin };
    const account = await createAccount(control, given, now());
    await recordChange(control, request, { action: 'account.add', subject: username, after: accountFields(account) });
    return { account: await itemOf(services, account), password: generated };
  },
});

const usernameParameter = pathParameter('username', 'The username; letter case does not matter.');
const usernameOf = (request: FastifyRequest) => pathText(request, 'username');

const changeAccount = (services: AdminServices): Endpoint<{ username: string; change: ChangeAccountRequest }> => ({
  method: 'POST',
  path: paths.adminAccount,
  operationId: 'adminChangeAccount',
  summary: 'Change tier, state, role or password of an account',
  parameters: [usernameParameter],
  body: ChangeAccountRequest,
  response: json(AccountItem),
  refusals: ['not_found'],
  read(request) {
    const change = request.body as ChangeAccountRequest;
    const keys = Object.keys(ChangeAccountRequest.properties);
    if (Object.keys(change).length === 0) throw badRequest(`Send one or more of ${keys.join(', ')}`);
    return { username: usernameOf(request), change };
  },
  async respond({ username, change: { tier, enabled, admin, password } }, { request }) {
    const { control } = services;
    const { tier: oldTier, isEnabled, isAdmin } = await requireAccount(control, username);
    if (tier !== undefined) await requireTier(control, tier);
    if (password !== undefined) requireUsablePassword(password);
    const apply = (action: AuditAction, change: () => Promise<unknown>) =>
      changeRecorded(services, request, username, action, change);
    // The role and the state can be refused, so they come first: a refused request has changed nothing.
    if (admin !== undefined && admin !== isAdmin) {
      await apply('account.set', () => setAccount(control, username, { isAdmin: admin }));
    }
    if (enabled !== undefined && enabled !== isEnabled) {
      const action = enabled ? 'account.enable' : 'account.disable';
      await apply(action, () => setAccount(control, username, { isEnabled: enabled }));
    }
    if (password !== undefined) await apply('account.passwd', () => changePassword(control, username, password));
    if (tier !== undefined && tier !== oldTier) {
      await apply('account.set', () => setAccount(control, username, { tier }));
    }
    return itemOf(services, await requireAccount(control, username));
  },
});

/** Makes a change and writes it to the audit log. */
async function changeRecorded(
  { control }: AdminServices,
  request: FastifyRequest,
  username: string,
  action: AuditAction,
  change: () => Promise<unknown>,
): Promise<Account> {
  const before = await requireAccount(control, username);
  await change();
  const after = await requireAccount(control, username);
  const fields = { before: accountFields(before), after: accountFields(after) };
  await recordChange(control, request, { action, subject: after.username, ...fields });
  return after;
}

const revokeAccount = (services: AdminServices): Endpoint<string> => ({
  method: 'POST',
  path: paths.adminAccountRevoke,
  operationId: 'adminRevokeAccount',
  summary: 'End all sessions and tokens of an account; its password stays',
  parameters: [usernameParameter],
  body: Nothing,
  response: json(AccountItem),
  refusals: ['not_found'],
  read: usernameOf,
  async respond(username, { request }) {
    const revoke = () => revokeTokens(services.control, username);
    return itemOf(services, await changeRecorded(services, request, username, 'account.revoke', revoke));
  },
});

const removeOneAccount = (services: AdminServices): Endpoint<string> => ({
  method: 'POST',
  path: paths.adminAccountRemove,
  operationId: 'adminRemoveAccount',
  summary: 'Remove an account permanently; the response is the account as it was',
  parameters: [usernameParameter],
  body: Nothing,
  response: json(AccountItem),
  refusals: ['not_found'],
  read: usernameOf,
  async respond(username, { request }) {
    const { control, now, deleteAccountKeys } = services;
    const account = await requireAccount(control, username);
    const item = await itemOf(services, account);
    await removeAccount(control, username, now());
    await recordChange(control, request, {
      action: 'account.remove',
      subject: account.username,
      before: accountFields(account),
    });
    // If Redis does not answer, the daily cleanup deletes them.
    await deleteAccountKeys?.(account);
    return item;
  },
});

const accountUsage = (services: AdminServices): Endpoint<{ username: string; days: number }> => ({
  method: 'GET',
  path: paths.adminAccountUsage,
  operationId: 'adminAccountUsage',
  summary: 'The queries of an account by day, and its month',
  parameters: [usernameParameter, daysParameter],
  response: json(UsageByDayResponse),
  refusals: ['not_found'],
  read: (request) => ({ username: usernameOf(request), days: readDays(request) }),
  async respond({ username, days }) {
    const { control, now } = services;
    const account = await requireAccount(control, username);
    const limits = await findTier(control, account.tier);
    const ts = now();
    const { fromDay, toDay } = usageDays(ts, days);
    const [counts, stored] = await Promise.all([
      control.usage(account.sub, toDay, windowIndex('month', ts)),
      control.usageByDay(account.sub, fromDay, toDay),
    ]);
    return toUsageByDay(stored, { counts, ts }, limits, days);
  },
});
