import { ADDRESS_DATASETS, type AddressDataset } from '../../core/evidence.ts';
import { DEFAULT_AGE_SECONDS } from '../../exports/built-in.ts';
import { LIST_KINDS } from '../../exports/content.ts';
import {
  AGE_MAX_SECONDS,
  AGE_MIN_SECONDS,
  changeList,
  defineList,
  type ListValues,
  listFields,
  SCORE_BOUND,
  STATUSES,
} from '../../exports/manage.ts';
import { toListItem } from '../../exports/wire.ts';
import { recordChange } from '../audit-record.ts';
import { UsageError } from '../command.ts';
import { controlAddingCommand, controlCommand } from '../data-command.ts';
import type { FlagValues } from '../define-command.ts';
import { flagName } from '../evidence-flags.ts';
import { readWord, toUsage } from '../flag-values.ts';
import { currentTs, readSpan, spanFlag } from '../time.ts';
import type { Flags } from '../usage.ts';

const FLAGS = {
  status: { argument: 'STATUS', meaning: `of URLs: ${STATUSES.join(', ')} (default online)`, values: STATUSES },
  age: {
    argument: 'TIME',
    meaning: `only what was seen in this time, such as 7d (default ${spanFlag(DEFAULT_AGE_SECONDS)})`,
  },
  families: { argument: 'NAMES', meaning: 'only these malware families, separated by commas (default all)' },
  reporters: { argument: 'NAMES', meaning: 'only what these reporters saw, separated by commas (default all)' },
  datasets: {
    argument: 'NAMES',
    meaning: `of addresses, separated by commas (default all: ${ADDRESS_DATASETS.join()})`,
  },
  'max-score': { argument: 'N', meaning: 'only hosts whose domain has this score or a lower one; none: all of them' },
  description: { argument: 'TEXT', meaning: 'what it is for' },
} as const satisfies Flags;

export const listAdd = controlAddingCommand(
  {
    synopsis: 'list add NAME --kind KIND',
    about: `Defines a list that devices fetch from /api/lists/v1/NAME.FORMAT. What is on it follows from the data and the flags;
shared sites and exclusions are left out. Running servers serve it within seconds. Its name has lower-case letters,
digits and hyphens.

Kinds:
  urls        URLs
  hosts       names of hosts, never addresses
  addresses   listed addresses and networks`,
    operands: ['NAME'],
    flags: {
      kind: { argument: 'KIND', meaning: LIST_KINDS.join(', '), isRequired: true, values: LIST_KINDS },
      ...FLAGS,
      'listed-domains': {
        meaning: 'hosts: domains that are listed by their score, whether or not a URL of them is online',
      },
    },
    examples: [
      'urlwarden list add mirai --kind urls --families Mirai,Mozi --age 7d',
      'urlwarden list add addresses-all --kind addresses',
    ],
  },
  async (control, { operands: [name = ''], flags }) => {
    const kind = readWord('--kind', flags.kind, LIST_KINDS);
    const given = { name, kind, ...readValues(flags), listedDomains: flags['listed-domains'] };
    const defined = await defineList(control, given, currentTs(), flagName).catch(toUsage);
    await recordChange(control, { action: 'list.add', subject: name, after: listFields(defined) });
    const text = `Defined the list ${name}. A key for a device: urlwarden list key add ${name} DEVICE --account USERNAME\n`;
    return { text, json: toListItem(defined) };
  },
);

export const listSet = controlCommand(
  {
    synopsis: 'list set NAME',
    about: `Changes one of your own lists; what is not given stays. Running servers apply it within seconds. An empty text means
all families or reporters again. The kind stays: define another list for another kind.`,
    operands: ['NAME'],
    flags: FLAGS,
    examples: ['urlwarden list set mirai --age 30d', 'urlwarden list set mirai --families ""'],
  },
  async (control, { operands: [name = ''], flags }) => {
    const changed = await changeList(control, name, readValues(flags), currentTs(), flagName).catch(toUsage);
    const { before, after } = changed;
    await recordChange(control, {
      action: 'list.set',
      subject: name,
      before: listFields(before),
      after: listFields(after),
    });
    return { text: `Changed the list ${name}.\n`, json: toListItem(after) };
  },
);

const AGE_BOUNDS = { least: AGE_MIN_SECONDS, greatest: AGE_MAX_SECONDS, examples: '12h or 30d' };

/** Values that were not given are undefined. */
function readValues(given: FlagValues<typeof FLAGS>): ListValues {
  return {
    description: given.description,
    status: readWord('--status', given.status, STATUSES),
    maxAgeSeconds: readSpan('--age', given.age, AGE_BOUNDS),
    families: readNames(given.families),
    reporters: readNames(given.reporters),
    datasets: readDatasets(given.datasets),
    maxScore: readScore(given['max-score']),
  };
}

function readNames(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function readDatasets(text: string | undefined): AddressDataset[] | undefined {
  const names = readNames(text?.toUpperCase());
  if (names === undefined) return undefined;
  const known = ADDRESS_DATASETS.filter((dataset) => names.includes(dataset));
  if (names.every((name) => known.some((dataset) => dataset === name))) return known;
  throw new UsageError(`--datasets must be some of ${ADDRESS_DATASETS.join(', ')}, not ${JSON.stringify(text)}`);
}

function readScore(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'none') return null;
  const score = /^-?\d{1,4}(?:\.\d)?$/.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(score) <= SCORE_BOUND) return score;
  throw new UsageError(`--max-score must be a number such as -10 or -12.5, or none, not ${JSON.stringify(text)}`);
}
