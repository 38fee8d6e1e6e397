import type { Command, CommandGroup, Entry } from '../command.ts';

const ENTRIES: readonly Entry[] = [
  {
    name: 'list',
    summary: 'List the newest imports and how they ended.',
    load: async () => (await import('./import/list.ts')).importList,
  },
  {
    name: 'rejects',
    summary: 'Show the rows that an import put aside, and why.',
    load: async () => (await import('./import/rejects.ts')).importRejects,
  },
];

/** `urlwarden import FORMAT …`, and what has a name of its own beside it; no format has such a name. */
export async function importFor([name]: string[]): Promise<Command | CommandGroup> {
  if (ENTRIES.some((entry) => entry.name === name)) return { entries: ENTRIES };
  return (await import('./import/run.ts')).importRun;
}
