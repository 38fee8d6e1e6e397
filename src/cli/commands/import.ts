import type { Control } from '../../app/stores.ts';
import { AppError } from '../../core/errors.ts';
import { importState } from '../../ingest/import-state.ts';
import { createReasons } from '../../ingest/reject-reasons.ts';
import type { ImportRecord, Reject } from '../../ingest/store.ts';
import { type Command, type CommandGroup, type Entry, UsageError } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import { fitTerminal, rejectText, table, timeText, visible } from '../output.ts';
import { counted, countText } from '../progress.ts';
import { currentTs } from '../time.ts';

const ENTRIES: readonly Entry[] = [
  { name: 'list', summary: 'List the newest imports and their outcomes.', load: async () => importList },
  { name: 'rejects', summary: 'Show the rejected rows of an import and the reasons.', load: async () => importRejects },
];

/** `urlwarden import FORMAT …` is a command, `import list` and `import rejects` are in a group. No format has these names. */
export async function importFor([name]: string[]): Promise<Command | CommandGroup> {
  if (ENTRIES.some((entry) => entry.name === name)) return { entries: ENTRIES };
  const { importRun } = await import('./import-run.ts');
  return { ...importRun, completes: { ...importRun.completes, entries: ENTRIES } };
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
    const headings = ['ID', 'FEED', 'STARTED', 'OUTCOME', 'READ', 'NEW URLS', 'REJECTED'];
    const notes = listed.map(({ format, source }) => [`${format} from ${source}`]);
    const text = table(headings, listed.map(toRow), {
      shortened: ['FEED'],
      counts: ['READ', 'NEW URLS', 'REJECTED'],
      notes,
    });
    return { text: listed.length > 0 ? text : noImports(feed), json: listed };
  },
);

function noImports(feed: string | undefined): string {
  if (feed === undefined) return 'There are no imports. Start one with: urlwarden import FORMAT FILE\n';
  return `There are no imports of a feed ${JSON.stringify(feed)}. All imports: urlwarden import list\n`;
}

/** Examples in the text; --limit shows more of them. */
const REJECTS_SHOWN = 20;
/** The others are counted together. Reasons that quote a value count as one, so there are rarely more. */
const REASONS_SHOWN = 10;

const importRejects = controlCommand(
  {
    synopsis: 'import rejects [IMPORT]',
    about: `Shows why rows of an import were rejected: how often each reason occurs, the most frequent first, then the
first rows with line, reason and the beginning of the text. IMPORT is an ID from urlwarden import list (default: the
newest import). At most 10,000 rows of an import are stored.`,
    optional: ['IMPORT'],
    flags: {
      limit: { argument: 'N', meaning: `rows to show (default ${REJECTS_SHOWN}; with --json all that are stored)` },
    },
  },
  async (control, { operands: [id], flags: { limit } }) => {
    const shown = limit === undefined ? null : readLimit(limit);
    const found = await findImport(control, id);
    const rejects: Reject[] = [];
    for await (const page of control.rejects(found.id)) rejects.push(...page);
    const reasons = reasonsOf(rejects);
    return {
      text: heading(found, rejects.length) + reasonsText(reasons) + examplesText(rejects, shown ?? REJECTS_SHOWN),
      json: { import: found, reasons, rejects: shown === null ? rejects : rejects.slice(0, shown) },
    };
  },
);

function readLimit(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`--limit must be a whole number, such as 100, not ${JSON.stringify(text)}`);
}

type ReasonCount = { reason: string; rows: number };

function reasonsOf(rejects: readonly Reject[]): ReasonCount[] {
  const reasons = createReasons(0);
  for (const reject of rejects) reasons.add(reject);
  return reasons.all().map(({ reason, rows }) => ({ reason, rows }));
}

function reasonsText(reasons: readonly ReasonCount[]): string {
  if (reasons.length === 0) return '';
  const shown: [number, string][] = reasons.slice(0, REASONS_SHOWN).map(({ reason, rows }) => [rows, reason]);
  const others = reasons.slice(REASONS_SHOWN);
  if (others.length > 0) {
    shown.push([others.reduce((sum, { rows }) => sum + rows, 0), counted(others.length, 'other reason')]);
  }
  return `\n${table(['ROWS', 'REASON'], shown, { counts: ['ROWS'] })}`;
}

function examplesText(rejects: readonly Reject[], limit: number): string {
  const shown = rejects
    .slice(0, limit)
    .map((one) => rejectText(one))
    .join('');
  const more = rejects.length > limit ? `The first ${countText(limit)}. More: --limit ${rejects.length}\n` : '';
  return shown === '' && more === '' ? '' : `\n${shown}${more}`;
}

function toRow({ id, feed, startedTs, state, counts }: ImportRecord & { state: string }) {
  return [id, feed, timeText(startedTs), state, counts.read, counts.urlsAdded, counts.rejected];
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

const ENDS = { failed: 'failed', refused: 'was refused' };

function heading({ id, format, source, startedTs, counts, outcome, error }: ImportRecord, stored: number): string {
  const rejected = Math.max(counts.rejected, stored); // the counts of a running import are stored from time to time
  const word = outcome === 'failed' || outcome === 'refused' ? outcome : null;
  const end = word === null ? '' : fitTerminal(`The import ${ENDS[word]}. ${visible(error ?? '')}\n`, process.stdout);
  const note = stored < rejected ? `, the first ${countText(stored)} are stored` : '';
  return `Import ${id}, ${format} from ${visible(source)} at ${timeText(startedTs)}: ${countText(rejected)} rejected${note}\n${end}`;
}
