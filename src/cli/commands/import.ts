import type { Control } from '../../app/stores.ts';
import { AppError } from '../../core/errors.ts';
import type { ImportRecord, Reject } from '../../ingest/store.ts';
import { type Command, type CommandGroup, type Entry, UsageError } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import { rejectText, table, timeText, visible } from '../output.ts';
import { count } from '../progress.ts';

const ENTRIES: readonly Entry[] = [
  {
    name: 'list',
    summary: 'List the newest imports and how they ended.',
    load: async () => importList,
  },
  {
    name: 'rejects',
    summary: 'Show the rows that an import put aside, and why.',
    load: async () => importRejects,
  },
];

/** `urlwarden import FORMAT …`, and what has a name of its own beside it; no format has such a name. */
export async function importFor([name]: string[]): Promise<Command | CommandGroup> {
  if (ENTRIES.some((entry) => entry.name === name)) return { entries: ENTRIES };
  return (await import('./import-run.ts')).importRun;
}

const SHOWN = 50;

export const importList = controlCommand(
  {
    synopsis: 'import list [--feed NAME]',
    about: `Lists the newest ${SHOWN} imports and how they ended, the newest first.\n`,
    flags: '  --feed NAME  only imports of this feed\n',
    options: { feed: { type: 'string' } },
  },
  async (control, { options: { feed } }) => {
    const filter = typeof feed === 'string' ? { feed, limit: SHOWN } : { limit: SHOWN };
    const imports = await control.imports(filter);
    return { text: imports.length > 0 ? table(HEADINGS, imports.map(toRow)) : NONE, json: imports };
  },
);

const HEADINGS = ['ID', 'FEED', 'FORMAT', 'STARTED', 'ENDED', 'READ', 'NEW URLS', 'REJECTED', 'SOURCE'];
const NONE = 'There are no imports. Begin one with: urlwarden import FORMAT FILE\n';

function toRow({ id, feed, format, startedTs, outcome, counts, source }: ImportRecord) {
  const ended = outcome ?? 'not yet';
  return [id, feed, format, timeText(startedTs), ended, counts.read, counts.urlsAdded, counts.rejected, source];
}

export const importRejects = controlCommand(
  {
    synopsis: 'import rejects [IMPORT]',
    about: `Shows the rows that an import could not use: line, reason, and the beginning of their text. IMPORT is the
number that the import told, or the one that urlwarden import list shows; without it, the newest import.
Of one import 10,000 rows are kept.
`,
    optional: ['IMPORT'],
  },
  async (control, { operands: [number] }) => {
    const found = await findImport(control, number);
    const rejects: Reject[] = [];
    for await (const some of control.rejects(found.id)) rejects.push(...some);
    return {
      text: heading(found, rejects.length) + rejects.map(rejectText).join(''),
      json: { import: found, rejects },
    };
  },
);

async function findImport(control: Control, number: string | undefined): Promise<ImportRecord> {
  if (number !== undefined && !/^\d{1,15}$/.test(number))
    throw new UsageError('IMPORT must be the number of an import');
  const [newest] = number === undefined ? await control.imports({ limit: 1 }) : [await control.import(Number(number))];
  if (newest) return newest;
  const what = number === undefined ? 'no import yet' : `no import ${number}, or no longer`;
  throw new AppError('not_found', `There is ${what}. See: urlwarden import list`);
}

function heading({ id, format, source, startedTs, counts }: ImportRecord, kept: number): string {
  const rejected = Math.max(counts.rejected, kept); // an import that still runs tells its counts at its end
  const some = kept < rejected ? `, the first ${count(kept)} are kept` : '';
  return `Import ${id}, ${format} from ${visible(source)} at ${timeText(startedTs)}: ${count(rejected)} rejected${some}\n`;
}
