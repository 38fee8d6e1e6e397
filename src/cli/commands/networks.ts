import type { CommandGroup } from '../command.ts';

export const networks: CommandGroup = {
  entries: [
    {
      name: 'refill',
      summary: 'Fill in the networks of addresses that are stored without one.',
      load: async () => (await import('./networks/refill.ts')).networksRefill,
    },
    {
      name: 'lookup',
      summary: 'Show which network an address belongs to.',
      load: async () => (await import('./networks/lookup.ts')).networksLookup,
    },
  ],
};
