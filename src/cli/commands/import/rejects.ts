import { AppError } from '../../../core/errors.ts';
import type { Control, ImportRecord, Reject } from '../../../store/control.ts';
import { UsageError } from '../../command.ts';
import { controlCommand } from '../../data-command.ts';
import { visible } from '../../output.ts';
import { count } from '../../progress.ts';
import { timeText } from '../../table.ts';

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

export function rejectText({ line, reason, text }: Reject): string {
  return `line ${line}: ${visible(reason)}\n  ${visible(text)}\n`;
}
