import { AppError } from '../core/errors.ts';
import { suggestion } from '../core/suggestion.ts';
import { FORMATS, findFormat } from '../ingest/formats/formats.ts';
import { recognize } from '../ingest/recognize.ts';
import type { InputLimits } from '../ingest/sources/format.ts';
import { openFile } from '../ingest/sources/source.ts';
import { readStart } from '../ingest/sources/source-start.ts';
import { UsageError } from './command.ts';
import { quoted, visible } from './output.ts';
import { definitions } from './usage.ts';

export const FORMAT_LIST = definitions(FORMATS.map(({ name, summary }) => [name, summary]));

export const URL_START = /^https?:\/\//i;

/** The command that imports a source as this format; words in capitals are for the user to replace. */
export function importCommand(format: string, source: string): string {
  const { choices = {} } = findFormat(format) ?? {};
  const { dataset, evidenceKind, isRequired } = choices;
  const flag = dataset ? ' --dataset NAME' : evidenceKind ? ' --kind KIND' : ' --as KIND';
  return `urlwarden import ${format} ${quoted(source)}${isRequired ? flag : ''}`;
}

/** What is wrong with a command line whose first operand is not a format. */
export async function noFormat(operands: readonly string[], limits: InputLimits): Promise<UsageError> {
  const [name = '', source] = operands;
  if (source !== undefined && findFormat(source) !== null) {
    return new UsageError(`The format comes first: ${importCommand(source, name)}`);
  }
  // A misspelt `list` or `rejects` is read as a format too.
  const hint = suggestion(name, [...FORMATS.map((candidate) => candidate.name), 'list', 'rejects']);
  const advice = hint === '' ? await adviceFor(source ?? name, limits) : null;
  if (source === undefined && advice !== null) {
    return new UsageError(`FORMAT is missing: urlwarden import FORMAT ${quoted(name)}\n${advice}`);
  }
  const file = source === undefined && /[./\\]/.test(name) ? ', and no file of that name' : '';
  return new UsageError(`There is no format ${JSON.stringify(name)}${file}.${hint}\n${advice ?? ALL_FORMATS}`);
}

const ALL_FORMATS = `Formats:\n${FORMAT_LIST.trimEnd()}`;

/** What a source is, and the command to run if its format is recognized; null if there is no such file. */
async function adviceFor(source: string, limits: InputLimits): Promise<string | null> {
  // A command line that is wrong anyway downloads nothing.
  if (source === '-' || URL_START.test(source)) return ALL_FORMATS;
  try {
    const found = recognize(await readStart(await openFile(source, limits)));
    if (found.kind === 'format') {
      return `${source} looks like ${found.format}. Run:\n  ${importCommand(found.format, source)}`;
    }
    return found.kind === 'other' ? `${source}: ${visible(found.what)}` : ALL_FORMATS;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.code === 'not_found' ? null : visible(error.message);
  }
}
