import { changePassword, requireAccount } from '../../../accounts/manage.ts';
import { readNewPassword } from '../../terminal.ts';
import { accountChange } from './change.ts';

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
