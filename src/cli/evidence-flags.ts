import { ADDRESS_DATASETS, DOMAIN_KINDS } from '../core/evidence.ts';
import { IMPORTED_LIST_KINDS } from '../ingest/evidence.ts';
import {
  chooseEvidence,
  type EvidenceValues,
  LIFE_MAX_SECONDS,
  LIFE_MIN_SECONDS,
  type NameOf,
  TRUST_MAX_PERMILLE,
} from '../ingest/evidence-choices.ts';
import type { Format } from '../ingest/sources/format.ts';
import { UsageError } from './command.ts';
import type { FlagValues } from './define-command.ts';
import { asUsage, readWord } from './flag-values.ts';
import { readSpan } from './time.ts';
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
  as: { argument: 'KIND', meaning: `what the list is: ${IMPORTED_LIST_KINDS.join(', ')}`, values: IMPORTED_LIST_KINDS },
} as const satisfies Flags;

const LIFE_BOUNDS = { least: LIFE_MIN_SECONDS, greatest: LIFE_MAX_SECONDS, examples: '12h or 14d' };

type Given = FlagValues<typeof EVIDENCE_FLAGS>;

export const flagName: NameOf = (key, argument) => (argument === undefined ? `--${key}` : `--${key} ${argument}`);

/** Values that were not given are undefined. */
export function readEvidenceValues(given: Given): EvidenceValues {
  return {
    dataset: readWord('--dataset', given.dataset?.toUpperCase(), ADDRESS_DATASETS),
    evidenceKind: readWord('--kind', given.kind, DOMAIN_KINDS),
    listKind: readWord('--as', given.as, IMPORTED_LIST_KINDS),
    trustPermille: readTrust(given.trust),
    lifeSeconds: readSpan('--life', given.life, LIFE_BOUNDS),
  };
}

/** Values that were not given are null. */
export function readEvidenceFlags(format: Format, given: Given) {
  return asUsage(() => chooseEvidence(format, readEvidenceValues(given), {}, flagName));
}

function readTrust(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const permille = /^(?:0|0?\.\d{1,3})$/.test(text) ? Math.round(Number(text) * 1000) : -1;
  if (permille >= 0 && permille <= TRUST_MAX_PERMILLE) return permille;
  throw new UsageError(`--trust must be a number from 0 to 0.9, such as 0.75, not ${JSON.stringify(text)}`);
}
