import type { CommandGroup } from '../command.ts';

export const feed: CommandGroup = {
  entries: [
    {
      name: 'add',
      summary: 'Add a feed; well-known ones need only their name.',
      load: async () => (await import('./feed/add.ts')).feedAdd,
    },
    {
      name: 'list',
      summary: 'List all feeds and how they are.',
      load: async () => (await import('./feed/list.ts')).feedList,
    },
    {
      name: 'show',
      summary: 'Show a feed, its last error and its next run.',
      load: async () => (await import('./feed/show.ts')).feedShow,
    },
    {
      name: 'pause',
      summary: 'Stop fetching a feed until it is resumed.',
      load: async () => (await import('./feed/switch.ts')).feedPause,
    },
    {
      name: 'resume',
      summary: 'Fetch a paused feed again.',
      load: async () => (await import('./feed/switch.ts')).feedResume,
    },
    {
      name: 'run',
      summary: 'Fetch a feed now, in this process.',
      load: async () => (await import('./feed/run.ts')).feedRun,
    },
    {
      name: 'remove',
      summary: 'Remove a feed; what it brought stays.',
      load: async () => (await import('./feed/remove.ts')).feedRemove,
    },
  ],
};
