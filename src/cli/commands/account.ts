import {
  changePassword,
  checkNewAccount,
  createAccount,
  removeAccount,
  requireAccount,
  revokeTokens,
  setAccountEnabled,
  setAccountTier,
} from '../../accounts/manage.ts';
import { requireTier } from '../../accounts/tiers.ts';
import type { Control } from '../../app/stores.ts';
import { windowIndex } from '../../core/quota.ts';
import { DEFAULT_TIER, limitsOf } from '../../core/tier.ts';
import { accountJson, limitsJson } from '../account-output.ts';
import { type Command, type CommandGroup, UsageError } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import { listing, table, timeText, visible } from '../output.ts';
import { confirm, readNewPassword } from '../terminal.ts';
import { currentTs } from '../time.ts';

export const account: CommandGroup = {
  entries: [
    { name: 'add', summary: 'Add an account; its password is asked for.', load: async () => accountAdd },
    { name: 'list', summary: 'List all accounts.', load: async () => accountList },
    { name: 'show', summary: 'Show the limits of an account and what it has used.', load: async () => accountShow },
    { name: 'set', summary: 'Give an account another tier.', load: async () => accountSet },
    { name: 'disable', summary: 'Refuse an account until it is enabled again.', load: async () => accountDisable },
    { name: 'enable', summary: 'Let a disabled account in again.', load: async () => accountEnable },
    { name: 'passwd', summary: 'Set a new password; tokens become void.', load: async () => accountPasswd },
    { name: 'revoke', summary: 'Make all tokens of an account void.', load: async () => accountRevoke },
    { name: 'remove', summary: 'Remove an account and its usage for good.', load: async () => accountRemove },
  ],
};

export const accountAdd = controlCommand(
  {
    synopsis: 'account add USERNAME [--tier NAME]',
    about: `Adds an account. Its password is asked for twice; where standard input is no terminal, it is the first line
of that. Usernames are compared without regard to letter case.
`,
    flags: `  --tier NAME  its limits, see urlwarden tier list (default ${DEFAULT_TIER})
`,
    operands: ['USERNAME'],
    options: { tier: { type: 'string' } },
  },
  async (control, { operands: [username = ''], options }) => {
    const tier = `${options.tier ?? DEFAULT_TIER}`;
    await checkNewAccount(control, username, tier); // before a person types a password in vain
    const password = await readNewPassword();
    const account = await createAccount(control, { username, tier, password }, currentTs());
    const text = `Added ${visible(username)}: subscription ${account.sub}, tier ${account.tier}.\n`;
    return { text, json: accountJson(account) };
  },
);

export const accountList = controlCommand(
  {
    synopsis: 'account list',
    about: 'Lists all accounts by username.\n',
  },
  async (control) => {
    const accounts = await control.accounts();
    const rows = accounts.map(({ username, sub, tier, isEnabled, createdTs }) => [
      username,
      sub,
      tier,
      isEnabled ? 'enabled' : 'disabled',
      timeText(createdTs),
    ]);
    const text = rows.length > 0 ? table(['USERNAME', 'SUB', 'TIER', 'STATE', 'CREATED'], rows) : NONE;
    return { text, json: accounts.map(accountJson) };
  },
);

const NONE = 'There are no accounts. Add one with: urlwarden account add USERNAME\n';

export const accountShow = controlCommand(
  {
    synopsis: 'account show USERNAME',
    about: `Shows an account, its limits, and the queries counted in the current month and day (UTC). A running server
writes its counts about once a second.
`,
    operands: ['USERNAME'],
  },
  async (control, { operands: [username = ''] }) => {
    const account = await requireAccount(control, username);
    const limits = limitsOf(await requireTier(control, account.tier));
    const ts = currentTs();
    const usage = await control.usage(account.sub, windowIndex('day', ts), windowIndex('month', ts));
    const text = listing([
      ['username', account.username],
      ['subscription', account.sub],
      ['tier', account.tier],
      ['state', account.isEnabled ? 'enabled' : 'disabled'],
      ['created', timeText(account.createdTs)],
      ['access level', limits.trs],
      ['datasets', limits.ads.join(', ')],
      ['this month', `${usage.month} of ${limits.qmh} queries${usage.month > limits.qms ? SOFT_PASSED : ''}`],
      ['soft limit', `${limits.qms} a month`],
      ['today', `${usage.day} queries`],
      ['rates', `${limits.rlQps} a second, ${limits.rlQpm} a minute, ${limits.rlQph} an hour`],
    ]);
    const used = { month: usage.month, day: usage.day };
    return { text, json: { ...accountJson(account), limits: limitsJson(limits), usage: used } };
  },
);

const SOFT_PASSED = ' (above the soft limit)';

export const accountSet = controlCommand(
  {
    synopsis: 'account set USERNAME --tier NAME',
    about: `Gives an account other limits. Running servers go by them within seconds; what was counted stays counted.
`,
    flags: `  --tier NAME  see urlwarden tier list
`,
    operands: ['USERNAME'],
    options: { tier: { type: 'string' } },
  },
  async (control, { operands: [username = ''], options: { tier } }) => {
    if (tier === undefined) throw new UsageError('Say what to set: --tier NAME');
    await setAccountTier(control, username, `${tier}`);
    const json = accountJson(await requireAccount(control, username));
    return { text: `${visible(username)} has the tier ${tier} now.\n`, json };
  },
);

export const accountDisable = accountChange({
  name: 'disable',
  about: `Refuses the account: its queries are answered with 403 within five seconds, its logins with 401. Its tokens are
kept, and are good again after urlwarden account enable if they have not expired by then.
`,
  outcome: 'is disabled',
  apply: (control, username) => setAccountEnabled(control, username, false),
});

export const accountEnable = accountChange({
  name: 'enable',
  about: 'Lets a disabled account in again, also with the tokens that it had.\n',
  outcome: 'is enabled',
  apply: (control, username) => setAccountEnabled(control, username, true),
});

export const accountPasswd = accountChange({
  name: 'passwd',
  about: `Sets a new password, asked for twice; where standard input is no terminal, it is the first line of that. The
account's tokens are void within five seconds: whoever uses it has to log in again.
`,
  outcome: 'has a new password; earlier tokens are void',
  async apply(control, username) {
    await requireAccount(control, username); // before a person types a password in vain
    await changePassword(control, username, await readNewPassword());
  },
});

export const accountRevoke = accountChange({
  name: 'revoke',
  about: `Makes every token of the account void within five seconds. Its password stays: whoever knows it can log in again.
`,
  outcome: 'has no valid tokens any more',
  apply: revokeTokens,
});

export const accountRemove = controlCommand(
  {
    synopsis: 'account remove USERNAME [--yes]',
    about: `Removes an account, its usage and its tokens for good. To keep it and shut it out, see urlwarden account disable.
`,
    flags: `  --yes        do not ask
`,
    operands: ['USERNAME'],
    options: { yes: { type: 'boolean' } },
  },
  async (control, { operands: [username = ''], options }) => {
    const account = await requireAccount(control, username);
    const name = visible(account.username);
    if (!options.yes) await confirm(`Remove ${name} (subscription ${account.sub}) and its usage for good?`);
    await removeAccount(control, username);
    return { text: `Removed ${name}.\n`, json: accountJson(account) };
  },
);

type AccountAction = {
  name: string;
  about: string;
  /** What is true of the account afterwards; completes the sentence "ada …". */
  outcome: string;
  apply(control: Control, username: string): Promise<void>;
};

/** A subcommand that does one thing to the account that it names. */
export function accountChange({ name, about, outcome, apply }: AccountAction): Command {
  return controlCommand(
    { synopsis: `account ${name} USERNAME`, about, operands: ['USERNAME'] },
    async (control, { operands: [username = ''] }) => {
      await apply(control, username);
      const json = accountJson(await requireAccount(control, username));
      return { text: `${visible(username)} ${outcome}.\n`, json };
    },
  );
}
