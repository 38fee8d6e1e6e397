import { setAccountEnabled } from '../../../accounts/manage.ts';
import { accountChange } from './change.ts';

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
