import type { Control } from '../../app/stores.ts';
import { AppError } from '../../core/errors.ts';
import { importState } from '../../ingest/import-state.ts';
import type { ImportRecord, Reject } from '../../ingest/store.ts';
import { type Command, type CommandGroup, type Entry, UsageError } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import { rejectText, table, timeText, visible } from '../output.ts';
import { countText } from '../progress.ts';
import { currentTs } from '../time.ts';

const ENTRIES: readonly Entry[] = [
  { name: 'list', summary: 'List the newest imports and their outcomes.', load: async () => importList },
  { name: 'rejects', summary: 'Show the rejected rows of an import and the reasons.', load: async () => importRejects },
];

/** `urlwarden import FORMAT …` is a command, `import list` and `import rejects` are in a group. No format has these names. */
export async function importFor([name]: string[]): Promise<Command | CommandGroup> {
  if (ENTRIES.some((entry) => entry.name === name)) return { entries: ENTRIES };
  return (await import('./import-run.ts')).importRun;
}

const LIST_MAX = 50;

const importList = controlCommand(
  {
    synopsis: 'import list',
    about: `Lists the newest ${LIST_MAX} imports and their outcomes, the newest first: done, refused (a complete listing), stopped
(by Ctrl-C), failed, running, or interrupted: it has recorded nothing for two minutes. An
interrupted import can be repeated: run the same command again.`,
    flags: { feed: { argument: 'NAME', meaning: 'only imports of this feed' } },
  },
  async (control, { flags: { feed } }) => {
    const imports = await control.imports(feed === undefined ? { limit: LIST_MAX } : { feed, limit: LIST_MAX });
    const nowTs = currentTs();
    const listed = imports.map((one) => ({ ...one, state: importState(one, nowTs) }));
    const headings = ['ID', 'FEED', 'FORMAT', 'STARTED', 'OUTCOME', 'READ', 'NEW URLS', 'REJECTED', 'SOURCE'];
    return { text: listed.length > 0 ? table(headings, listed.map(toRow)) : NO_IMPORTS, json: listed };
  },
);

const NO_IMPORTS = 'There are no imports. Start one with: urlwarden import FORMAT FILE\n';

const importRejects = controlCommand(
  {
    synopsis: 'import rejects [IMPORT]',
    about: `Shows the rejected rows of an import: line, reason, and the beginning of the text. IMPORT is an ID from
urlwarden import list (default: the newest import). At most 10,000 rows of an import are stored.`,
    optional: ['IMPORT'],
  },
  async (control, { operands: [id] }) => {
    const found = await findImport(control, id);
    const rejects: Reject[] = [];
    for await (const page of control.rejects(found.id)) rejects.push(...page);
    return {
      text: heading(found, rejects.length) + rejects.map(rejectText).join(''),
      json: { import: found, rejects },
    };
  },
);

function toRow({ id, feed, format, startedTs, state, counts, source }: ImportRecord & { state: string }) {
  return [id, feed, format, timeText(startedTs), state, counts.read, counts.urlsAdded, counts.rejected, source];
}

async function findImport(control: Control, id: string | undefined): Promise<ImportRecord> {
  if (id !== undefined && !/^\d{1,15}$/.test(id)) {
    throw new UsageError(`IMPORT must be the number of an import, not ${JSON.stringify(id)}`);
  }
  const [found] = id === undefined ? await control.imports({ limit: 1 }) : [await control.import(Number(id))];
  if (found) return found;
  const message = id === undefined ? 'There are no imports yet.' : `There is no import ${id}, or it was deleted.`;
  throw new AppError('not_found', `${message} See: urlwarden import list`);
}

function heading({ id, format, source, startedTs, counts }: ImportRecord, stored: number): string {
  const rejected = Math.max(counts.rejected, stored); // the counts of a running import are stored from time to time
  const note = stored < rejected ? `, the first ${countText(stored)} are stored` : '';
  return `Import ${id}, ${format} from ${visible(source)} at ${timeText(startedTs)}: ${countText(rejected)} rejected${note}\n`;
}
