import { UsageError } from '../command.ts';
import { dataCommand } from '../data-command.ts';
import { JSON_FLAG } from '../define-command.ts';
import { INGEST_FLAGS } from '../ingest-settings.ts';
import type { Flags } from '../usage.ts';
import { importRun } from './import-run.ts';

/** Formats that can be an allow list. */
const FORMATS = ['ip-list', 'misp-warninglist'];

const FLAGS = {
  feed: {
    argument: 'NAME',
    meaning: 'the name of the list (default: the name in a warning list, or that of the file)',
  },
  'as-of': { argument: 'TIME', meaning: 'time of the list, as Unix seconds or 2026-01-31T12:00:00Z (default: now)' },
  force: {
    meaning:
      'delete the entries that the new version lacks, even if it looks cut off: they are more than half of the list, or its last row is rejected',
  },
  strict: { meaning: 'stop at the first row that is rejected' },
  'dry-run': { meaning: 'read and check everything, write nothing' },
  'feeds-allow-private': INGEST_FLAGS['feeds-allow-private'],
  json: JSON_FLAG,
} as const satisfies Flags;

export const allowImport = dataCommand(
  {
    synopsis: 'allow import FORMAT FILE|URL|-',
    about: `Imports a file, a download or standard input (-) as an allow list: no response contains its networks. Importing
a list of the same name again replaces it. This is urlwarden import FORMAT … --as allow.

Formats:
  ip-list            one address or network per line
  misp-warninglist   a MISP warning list of type cidr`,
    operands: ['FORMAT'],
    operandValues: FORMATS,
    optional: ['FILE, URL or -'],
    flags: FLAGS,
    examples: [
      'urlwarden allow import ip-list own-networks.txt',
      'urlwarden allow import misp-warninglist public-dns-v4/list.json',
    ],
  },
  async ({ operands: [format = '', source], flags }) => {
    if (!FORMATS.includes(format)) {
      throw new UsageError(`FORMAT must be ${FORMATS.join(' or ')}, not ${JSON.stringify(format)}`);
    }
    if (source === undefined) throw new UsageError('FILE, URL or - is missing');
    const given = Object.entries(flags).map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`));
    return importRun.run(['--as=allow', ...given, '--', format, source]);
  },
);
