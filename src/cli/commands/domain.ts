import type { CommandGroup } from '../command.ts';

export const domain: CommandGroup = {
  entries: [
    {
      name: 'show',
      summary: 'Show the score of a domain and the reasons for it.',
      load: async () => (await import('./domain-show.ts')).domainShow,
    },
    {
      name: 'set',
      summary: 'Set what you know about a domain: points, abused or not.',
      load: async () => (await import('./domain-set.ts')).domainSet,
    },
    {
      name: 'rebuild',
      summary: 'Compute the domains of all hosts again, after an update.',
      load: async () => (await import('./domain-rebuild.ts')).domainRebuild,
    },
  ],
};
