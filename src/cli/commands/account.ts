import type { CommandGroup } from '../command.ts';
import { accountAdd } from './account/add.ts';
import { accountList } from './account/list.ts';
import { accountPasswd } from './account/passwd.ts';
import { accountRemove } from './account/remove.ts';
import { accountRevoke } from './account/revoke.ts';
import { accountSet } from './account/set.ts';
import { accountShow } from './account/show.ts';
import { accountDisable, accountEnable } from './account/switch.ts';

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
