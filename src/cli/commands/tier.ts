import type { CommandGroup } from '../command.ts';
import { tierList } from './tier/list.ts';
import { tierRemove } from './tier/remove.ts';
import { tierSet } from './tier/set.ts';

export const tier: CommandGroup = {
  entries: [
    { name: 'list', summary: 'List all tiers and their limits.', load: async () => tierList },
    { name: 'set', summary: 'Define a tier, or replace one.', load: async () => tierSet },
    { name: 'remove', summary: 'Remove a tier that no account has.', load: async () => tierRemove },
  ],
};
