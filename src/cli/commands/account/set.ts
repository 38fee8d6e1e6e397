import { requireAccount, setAccountTier } from '../../../accounts/manage.ts';
import { UsageError } from '../../command.ts';
import { controlCommand } from '../../data-command.ts';
import { visible } from '../../output.ts';
import { accountJson } from '../../present-account.ts';

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
