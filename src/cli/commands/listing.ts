import type { CommandGroup } from '../command.ts';

export const listing: CommandGroup = {
  entries: [
    {
      name: 'add',
      summary: 'List an address or a network.',
      load: async () => (await import('./listing-add.ts')).listingAdd,
    },
    {
      name: 'show',
      summary: 'Show why an address or a network is listed, or was.',
      load: async () => (await import('./listing-show.ts')).listingShow,
    },
    {
      name: 'remove',
      summary: 'Remove the listings of an address or a network.',
      load: async () => (await import('./listing-remove.ts')).listingRemove,
    },
  ],
};
