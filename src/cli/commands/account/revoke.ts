import { revokeTokens } from '../../../accounts/manage.ts';
import { accountChange } from './change.ts';

export const accountRevoke = accountChange({
  name: 'revoke',
  about: `Makes every token of the account void within five seconds. Its password stays: whoever knows it can log in again.
`,
  outcome: 'has no valid tokens any more',
  apply: revokeTokens,
});
