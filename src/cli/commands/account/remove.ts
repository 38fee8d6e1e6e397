import { removeAccount, requireAccount } from '../../../accounts/manage.ts';
import { controlCommand } from '../../data-command.ts';
import { visible } from '../../output.ts';
import { accountJson } from '../../present-account.ts';
import { confirm } from '../../terminal.ts';

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
