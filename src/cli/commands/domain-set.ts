import type { Fields } from '../../audit/entry.ts';
import { HUMAN_MAX } from '../../reputation/manage.ts';
import type { DomainSettings } from '../../reputation/store.ts';
import { recordChangeAt } from '../audit-record.ts';
import { UsageError } from '../command.ts';
import { addingCommand } from '../data-command.ts';
import type { FlagValues } from '../define-command.ts';
import { readDomain, readReason } from '../operator-input.ts';
import { currentTs } from '../time.ts';
import type { Flags } from '../usage.ts';

const ABUSED = new Map([
  ['yes', true],
  ['no', false],
  ['unset', null],
]);

const FLAGS = {
  human: {
    argument: 'POINTS',
    meaning: `points from -${HUMAN_MAX} (bad) to +${HUMAN_MAX} (good) that are added to the score; 0 removes them. Needs --reason`,
  },
  abused: {
    argument: 'yes|no|unset',
    meaning:
      'yes: a good site that somebody misused, so evidence counts one fifth and does not list the domain; no: it is not; unset: decide by the data',
    values: [...ABUSED.keys()],
  },
  reason: { argument: 'TEXT', meaning: 'why; urlwarden domain show and the API (explain) show it' },
} as const satisfies Flags;

export const domainSet = addingCommand(
  {
    synopsis: 'domain set NAME',
    about: `Sets what you know about a domain. A value that is not given stays as it is. Running servers apply it at once.
A score of -10 or less lists the domain.`,
    operands: ['NAME'],
    flags: FLAGS,
    examples: [
      'urlwarden domain set shop.example --human +25 --reason "cleaned, confirmed by its owner"',
      'urlwarden domain set files.example --abused yes',
    ],
  },
  async (store, { operands: [text = ''], flags, place }) => {
    const name = readDomain(text);
    const change = readChange(flags);
    const { before: known, settings } = await store.setDomain(name, { ...change, setTs: currentTs() });
    const before = known === null ? {} : auditFields(known);
    await recordChangeAt(place, { action: 'domain.set', subject: name, before, after: auditFields(settings) });
    return { text: settingsText(name, settings), json: { domain: name, ...settingsJson(settings) } };
  },
);

function readChange({ human, abused, reason }: FlagValues<typeof FLAGS>): Partial<DomainSettings> {
  if (human === undefined && abused === undefined) throw new UsageError('--human POINTS or --abused yes|no is missing');
  if (human !== undefined && !reason) {
    throw new UsageError('--reason TEXT is missing: others will ask why the points were given');
  }
  return {
    ...(human === undefined ? {} : { human: readHuman(human) }),
    ...(abused === undefined ? {} : { isAbused: readAbused(abused) }),
    ...(reason === undefined ? {} : { reason: readReason(reason) }),
  };
}

function readHuman(text: string): number {
  const points = /^[+-]?\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(points) <= HUMAN_MAX) return points + 0;
  throw new UsageError(
    `--human must be a whole number from -${HUMAN_MAX} to +${HUMAN_MAX}, not ${JSON.stringify(text)}`,
  );
}

function readAbused(text: string): boolean | null {
  const isAbused = ABUSED.get(text);
  if (isAbused !== undefined) return isAbused;
  throw new UsageError(`--abused must be yes, no or unset, not ${JSON.stringify(text)}`);
}

function settingsText(name: string, { human, isAbused }: DomainSettings): string {
  const points = `${human > 0 ? '+' : ''}${human} points by the operator`;
  return `${name} has ${points}; abused: ${isAbused === null ? 'decided by the data' : isAbused ? 'yes' : 'no'}.\n`;
}

function auditFields({ human, isAbused, reason }: DomainSettings): Fields {
  return { human, abused: isAbused, reason };
}

/** What an operator set, for programs; the keys are stable. */
export function settingsJson({ human, isAbused, reason, setTs }: DomainSettings) {
  return { human, ...(isAbused === null ? {} : { abused: isAbused }), reason, set_ts: setTs };
}
