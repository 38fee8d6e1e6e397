import { ADDRESS_DATASETS, DEFAULT_TRUST_PERMILLE, DOMAIN_KINDS, OPERATOR_SOURCE } from '../core/evidence.ts';
import { LIST_KINDS } from '../ingest/evidence.ts';
import type { EvidenceChoices, Format } from '../ingest/sources/format.ts';
import { URL_SOURCE } from '../reputation/store.ts';
import { UsageError } from './command.ts';
import type { FlagValues } from './define-command.ts';
import { parseSpan } from './time.ts';
import type { Flags } from './usage.ts';

/** What a source is trusted with, and what its evidence means. `import` and `feed add` have these flags. */
export const EVIDENCE_FLAGS = {
  trust: { argument: 'NUMBER', meaning: 'trust in evidence about addresses and domains, from 0 to 0.9 (default 0.9)' },
  life: {
    argument: 'TIME',
    meaning: 'how long a listing lives without new evidence, from 1h to 366d (default: that of its dataset)',
  },
  dataset: {
    argument: 'NAME',
    meaning: `dataset of the addresses: ${ADDRESS_DATASETS.join(', ')}`,
    values: ADDRESS_DATASETS,
  },
  kind: { argument: 'KIND', meaning: `what the domains are: ${DOMAIN_KINDS.join(', ')}`, values: DOMAIN_KINDS },
  as: { argument: 'KIND', meaning: `what the list is: ${LIST_KINDS.join(', ')}`, values: LIST_KINDS },
} as const satisfies Flags;

type Given = FlagValues<typeof EVIDENCE_FLAGS>;

const LIFE_MIN_SECONDS = 3_600;
/** The longest window of `history`. */
const LIFE_MAX_SECONDS = 366 * 86_400;

/** Values that were not given are null; `defaults` are those of a well-known feed. */
export function readEvidenceFlags(format: Format, given: Given, defaults: EvidenceChoices = {}) {
  const choices = {
    dataset: readWord('--dataset', given.dataset?.toUpperCase(), ADDRESS_DATASETS),
    evidenceKind: readWord('--kind', given.kind, DOMAIN_KINDS),
    listKind: readWord('--as', given.as, LIST_KINDS),
  };
  const isAnyGiven = Object.values(choices).some((choice) => choice !== null);
  const { dataset = null, evidenceKind = null, listKind = null } = isAnyGiven ? choices : defaults;
  checkChoices(format, { dataset, evidenceKind, listKind });
  for (const flag of ['trust', 'life'] as const) {
    if (given[flag] !== undefined && !format.hasEvidence) {
      throw new UsageError(
        `--${flag} has no meaning for the format ${format.name}: it has no evidence about addresses and domains`,
      );
    }
  }
  return { dataset, evidenceKind, listKind, trustPermille: readTrust(given.trust), lifeSeconds: readLife(given.life) };
}

function readWord<const Word extends string>(
  flag: string,
  text: string | undefined,
  words: readonly Word[],
): Word | null {
  if (text === undefined) return null;
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  throw new UsageError(`${flag} must be one of ${words.join(', ')}, not ${JSON.stringify(text)}`);
}

/** Each format accepts some of these flags; some formats need one. */
function checkChoices({ name, choices = {} }: Format, { dataset, evidenceKind, listKind }: EvidenceChoices): void {
  const { listKinds = [] } = choices;
  const flags = [
    { flag: '--dataset NAME', isGiven: dataset != null, isAccepted: choices.dataset === true },
    { flag: '--kind KIND', isGiven: evidenceKind != null, isAccepted: choices.evidenceKind === true },
    { flag: `--as ${listKinds.join('|')}`, isGiven: listKind != null, isAccepted: listKinds.length > 0 },
  ];
  const given = flags.filter(({ isGiven }) => isGiven);
  const wrong = given.find(({ isAccepted }) => !isAccepted);
  if (wrong !== undefined) throw new UsageError(`${wrong.flag.split(' ')[0]} has no meaning for the format ${name}`);
  if (listKind != null && !listKinds.includes(listKind)) {
    throw new UsageError(`--as must be one of ${listKinds.join(', ')} for the format ${name}`);
  }
  if (choices.isRequired && given.length !== 1) {
    const accepted = flags.filter(({ isAccepted }) => isAccepted).map(({ flag }) => flag);
    throw new UsageError(
      `The format ${name} needs ${accepted.length > 1 ? 'exactly one of ' : ''}${accepted.join(' and ')}`,
    );
  }
}

function readTrust(text: string | undefined): number | null {
  if (text === undefined) return null;
  const permille = /^(?:0|0?\.\d{1,3})$/.test(text) ? Math.round(Number(text) * 1000) : -1;
  if (permille >= 0 && permille <= DEFAULT_TRUST_PERMILLE) return permille;
  throw new UsageError(`--trust must be a number from 0 to 0.9, such as 0.75, not ${JSON.stringify(text)}`);
}

function readLife(text: string | undefined): number | null {
  if (text === undefined) return null;
  const seconds = parseSpan(text);
  if (seconds !== null && seconds >= LIFE_MIN_SECONDS && seconds <= LIFE_MAX_SECONDS) return seconds;
  throw new UsageError(`--life must be a time from 1h to 366d, such as 12h or 14d, not ${JSON.stringify(text)}`);
}

const RESERVED_NAMES = [URL_SOURCE.name, OPERATOR_SOURCE];

/** Refuses names of sources that are not feeds. */
export function refuseSourceName(flag: string, name: string): void {
  if (!RESERVED_NAMES.includes(name)) return;
  throw new UsageError(`${flag} must not be ${JSON.stringify(name)}: Urlwarden uses this name itself`);
}
