import { requireAccount } from '../../../accounts/manage.ts';
import type { Control } from '../../../store/control.ts';
import type { Command } from '../../command.ts';
import { controlCommand } from '../../data-command.ts';
import { visible } from '../../output.ts';
import { accountJson } from '../../present-account.ts';

type Change = {
  name: string;
  about: string;
  /** What is true of the account afterwards; completes the sentence "ada …". */
  outcome: string;
  apply(control: Control, username: string): Promise<void>;
};

/** A subcommand that does one thing to the account that it names. */
export function accountChange({ name, about, outcome, apply }: Change): Command {
  return controlCommand(
    { synopsis: `account ${name} USERNAME`, about, operands: ['USERNAME'] },
    async (control, { operands: [username = ''] }) => {
      await apply(control, username);
      const json = accountJson(await requireAccount(control, username));
      return { text: `${visible(username)} ${outcome}.\n`, json };
    },
  );
}
