import { checkNewAccount, createAccount } from '../../../accounts/manage.ts';
import { DEFAULT_TIER } from '../../../core/tier.ts';
import { currentTs } from '../../clock.ts';
import { controlCommand } from '../../data-command.ts';
import { visible } from '../../output.ts';
import { accountJson } from '../../present-account.ts';
import { readNewPassword } from '../../terminal.ts';

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
