import { accountFields } from '../../accounts/audit-fields.ts';
import {
  changePassword,
  checkNewAccount,
  createAccount,
  removeAccount,
  requireAccount,
  revokeTokens,
  setAccount,
} from '../../accounts/manage.ts';
import type { Account } from '../../accounts/store.ts';
import { limitsJson, requireTier } from '../../accounts/tiers.ts';
import { deleteAccountKeys } from '../../app/redis.ts';
import type { Control } from '../../app/stores.ts';
import type { AuditAction } from '../../audit/entry.ts';
import { windowIndex } from '../../core/quota.ts';
import { DEFAULT_TIER, limitsOf } from '../../core/tier.ts';
import { KEY_LIFE_SECONDS } from '../../limits/redis-scripts.ts';
import { recordChange } from '../audit-record.ts';
import { type Command, type CommandGroup, UsageError } from '../command.ts';
import { controlAddingCommand, controlCommand } from '../data-command.ts';
import { fieldList, table, timeText, visible } from '../output.ts';
import { REDIS_FLAGS, readRedisSettings } from '../redis-settings.ts';
import { confirm, readNewPassword } from '../terminal.ts';
import { currentTs } from '../time.ts';

const KEY_LIFE_DAYS = KEY_LIFE_SECONDS / 86_400;

export const account: CommandGroup = {
  entries: [
    { name: 'add', summary: 'Add an account; asks for its password.', load: async () => accountAdd },
    { name: 'list', summary: 'List all accounts.', load: async () => accountList },
    { name: 'show', summary: 'Show the limits and the usage of an account.', load: async () => accountShow },
    {
      name: 'set',
      summary: 'Change the tier of an account, or make it an administrator.',
      load: async () => accountSet,
    },
    { name: 'disable', summary: 'Block an account until it is enabled again.', load: async () => accountDisable },
    { name: 'enable', summary: 'Enable a disabled account.', load: async () => accountEnable },
    { name: 'passwd', summary: 'Set a new password and revoke all tokens.', load: async () => accountPasswd },
    { name: 'revoke', summary: 'Revoke all tokens of an account.', load: async () => accountRevoke },
    { name: 'remove', summary: 'Remove an account permanently.', load: async () => accountRemove },
  ],
};

const accountAdd = controlAddingCommand(
  {
    synopsis: 'account add USERNAME',
    about: `Adds an account. Asks twice for its password; if standard input is not a terminal, the password is its
first line. Usernames are not case-sensitive.`,
    operands: ['USERNAME'],
    flags: {
      tier: { argument: 'NAME', meaning: `its limits: see urlwarden tier list (default ${DEFAULT_TIER})` },
      admin: { meaning: 'an administrator: may change accounts, feeds and the rest by page and API' },
    },
  },
  async (control, { operands: [username = ''], flags: { tier = DEFAULT_TIER, admin: isAdmin = false } }) => {
    await checkNewAccount(control, username, tier); // before a person types a password
    const password = await readNewPassword();
    const account = await createAccount(control, { username, tier, password, isAdmin }, currentTs());
    await recordChange(control, { action: 'account.add', subject: username, after: accountFields(account) });
    const text = `Added ${visible(username)}: subscription ${account.sub}, tier ${account.tier}${isAdmin ? ', administrator' : ''}.\n`;
    return { text, json: accountJson(account) };
  },
);

const accountList = controlCommand(
  {
    synopsis: 'account list',
    about: 'Lists all accounts by username.',
  },
  async (control) => {
    const accounts = await control.accounts();
    const rows = accounts.map((account) => [
      account.username,
      account.sub,
      account.tier,
      roleText(account),
      stateText(account),
      timeText(account.createdTs),
    ]);
    const headings = ['USERNAME', 'SUB', 'TIER', 'ROLE', 'STATE', 'CREATED'];
    const text = rows.length > 0 ? table(headings, rows, { shortened: ['USERNAME', 'TIER'] }) : NO_ACCOUNTS;
    return { text, json: accounts.map(accountJson) };
  },
);

const NO_ACCOUNTS = 'There are no accounts. Add one with: urlwarden account add USERNAME\n';

const accountShow = controlCommand(
  {
    synopsis: 'account show USERNAME',
    about: `Shows an account, its limits, and its queries in the current month and on the current day (UTC). A running
server stores its counts twice a second.`,
    operands: ['USERNAME'],
  },
  async (control, { operands: [username = ''] }) => {
    const account = await requireAccount(control, username);
    const limits = limitsOf(await requireTier(control, account.tier));
    const ts = currentTs();
    const usage = await control.usage(account.sub, windowIndex('day', ts), windowIndex('month', ts));
    const softLimitNote = usage.month > limits.qms ? ' (above the soft limit)' : '';
    const text = fieldList([
      ['username', account.username],
      ['subscription', account.sub],
      ['tier', account.tier],
      ['administrator', account.isAdmin ? 'yes' : 'no'],
      ['state', stateText(account)],
      ['created', timeText(account.createdTs)],
      ['access level', limits.trs],
      ['datasets', limits.ads.join(', ')],
      ['this month', `${usage.month} of ${limits.qmh} queries${softLimitNote}`],
      ['soft limit', `${limits.qms} a month`],
      ['today', `${usage.day} ${usage.day === 1 ? 'query' : 'queries'}`],
      ['rates', `${limits.rlQps} a second, ${limits.rlQpm} a minute, ${limits.rlQph} an hour`],
    ]);
    const used = { month: usage.month, day: usage.day };
    return { text, json: { ...accountJson(account), limits: limitsJson(limits), usage: used } };
  },
);

const accountSet = controlCommand(
  {
    synopsis: 'account set USERNAME [--tier NAME] [--admin yes|no]',
    about: `Changes the tier of an account, or makes it an administrator. Running servers apply the change within seconds.
Queries that were already counted still count. One enabled administrator must be left.`,
    operands: ['USERNAME'],
    flags: {
      tier: { argument: 'NAME', meaning: 'the new tier: see urlwarden tier list' },
      admin: {
        argument: 'yes|no',
        meaning: 'whether it may change accounts, feeds and the rest by page and API',
        values: ['yes', 'no'],
      },
    },
  },
  async (control, { operands: [username = ''], flags: { tier, admin } }) => {
    const isAdmin = readAdmin(admin);
    if (tier === undefined && isAdmin === undefined) throw new UsageError('--tier NAME or --admin yes|no is missing');
    const account = await changeAudited(control, username, 'account.set', () =>
      setAccount(control, username, { ...(tier !== undefined && { tier }), ...(isAdmin !== undefined && { isAdmin }) }),
    );
    const tierText = tier === undefined ? '' : `${visible(username)} now has the tier ${tier}.\n`;
    const roleText =
      isAdmin === undefined ? '' : `${visible(username)} is ${isAdmin ? 'now' : 'not'} an administrator.\n`;
    return { text: tierText + roleText, json: accountJson(account) };
  },
);

function readAdmin(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === 'yes' || text === 'no') return text === 'yes';
  throw new UsageError(`--admin must be yes or no, not ${JSON.stringify(text)}`);
}

const accountDisable = changeCommand({
  name: 'disable',
  about: `Disables an account: within five seconds its queries get 403 and its logins 401. Its
tokens are not revoked: urlwarden account enable makes them valid again, unless they have expired.`,
  outcome: 'is disabled',
  apply: (control, username) => setAccount(control, username, { isEnabled: false }),
});

const accountEnable = changeCommand({
  name: 'enable',
  about: 'Enables a disabled account. Its tokens are valid again, unless they have expired.',
  outcome: 'is enabled',
  apply: (control, username) => setAccount(control, username, { isEnabled: true }),
});

const accountPasswd = changeCommand({
  name: 'passwd',
  about: `Sets a new password. Asks for it twice; if standard input is not a terminal, the password is its first
line. All tokens of the account become invalid within five seconds: its users must log in again.`,
  outcome: 'has a new password; its earlier tokens are invalid',
  async apply(control, username) {
    await requireAccount(control, username); // before a person types a password
    await changePassword(control, username, await readNewPassword());
  },
});

const accountRevoke = changeCommand({
  name: 'revoke',
  about: `Makes all tokens of an account invalid within five seconds. The password does not change: anyone who has
it can log in again.`,
  outcome: 'has no valid tokens any more',
  apply: revokeTokens,
});

const accountRemove = controlCommand(
  {
    synopsis: 'account remove USERNAME',
    about: `Removes an account permanently. Its tokens become invalid within five seconds, and its counters in Redis are
deleted. Its usage is kept without the username until urlwarden usage report --final has reported it, or until it is older than
the server keeps usage. docs/operating.md lists what is deleted, and when. To block an account without removing it, use urlwarden account disable.`,
    operands: ['USERNAME'],
    flags: { yes: { meaning: 'do not ask for confirmation' }, ...REDIS_FLAGS },
  },
  async (control, { operands: [username = ''], flags }) => {
    const settings = readRedisSettings(flags);
    const account = await requireAccount(control, username);
    const name = visible(account.username);
    if (!flags.yes) await confirm(`Remove ${name} (subscription ${account.sub}) permanently?`);
    await removeAccount(control, username, currentTs());
    await recordChange(control, {
      action: 'account.remove',
      subject: account.username,
      before: accountFields(account),
    });
    const redis = settings.redis && (await deleteAccountKeys(settings.redis, settings.redisPrefix, account));
    const text = `Removed ${name}.\n${redis?.isDeleted === false ? keysLeft(account, redis.reason) : ''}`;
    return { text, json: { ...accountJson(account), redis_keys_deleted: redis?.isDeleted ?? null } };
  },
);

function keysLeft({ sub }: Account, reason: string): string {
  return `Redis did not answer: ${visible(reason)}
The counters of subscription ${sub} are still there. A running server deletes them
in its daily cleanup. At the latest they expire ${KEY_LIFE_DAYS} days after the last query,
and counted logins after ten minutes.
`;
}

type AccountChange = {
  name: 'disable' | 'enable' | 'passwd' | 'revoke';
  about: string;
  /** The result, which completes the sentence "ada …". */
  outcome: string;
  apply(control: Control, username: string): Promise<void>;
};

/** A command that makes one change to an account. */
function changeCommand({ name, about, outcome, apply }: AccountChange): Command {
  return controlCommand(
    { synopsis: `account ${name} USERNAME`, about, operands: ['USERNAME'] },
    async (control, { operands: [username = ''] }) => {
      const account = await changeAudited(control, username, `account.${name}`, () => apply(control, username));
      return { text: `${visible(username)} ${outcome}.\n`, json: accountJson(account) };
    },
  );
}

/** Makes a change, writes it to the audit log, and returns the changed account. */
async function changeAudited(
  control: Control,
  username: string,
  action: AuditAction,
  apply: () => Promise<unknown>,
): Promise<Account> {
  const before = await requireAccount(control, username);
  await apply();
  const after = await requireAccount(control, username);
  const change = { action, subject: after.username, before: accountFields(before), after: accountFields(after) };
  await recordChange(control, change);
  return after;
}

function stateText({ isEnabled }: Account): string {
  return isEnabled ? 'enabled' : 'disabled';
}

function roleText({ isAdmin }: Account): string {
  return isAdmin ? 'admin' : 'user';
}

/** An account for programs; the keys are stable. */
function accountJson({ sub, username, tier, isEnabled, isAdmin, createdTs }: Account) {
  return { sub, username, tier, enabled: isEnabled, admin: isAdmin, created_ts: createdTs };
}
