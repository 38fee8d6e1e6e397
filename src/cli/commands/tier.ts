import { tierFields } from '../../accounts/audit-fields.ts';
import { allTiers, limitsJson, removeTier, setTier, tierFault } from '../../accounts/tiers.ts';
import { BUILT_IN_TIERS, DATASETS, DEFAULT_TRS, limitsOf, NO_LIMIT, type Tier, toDatasets } from '../../core/tier.ts';
import { recordChange } from '../audit-record.ts';
import { type CommandGroup, UsageError } from '../command.ts';
import { controlAddingCommand, controlCommand } from '../data-command.ts';
import type { FlagValues } from '../define-command.ts';
import { table } from '../output.ts';
import type { Flags } from '../usage.ts';

export const tier: CommandGroup = {
  entries: [
    { name: 'list', summary: 'List all tiers and their limits.', load: async () => tierList },
    { name: 'set', summary: 'Create or replace a tier.', load: async () => tierSet },
    { name: 'remove', summary: 'Remove a tier that no account has.', load: async () => tierRemove },
  ],
};

const tierList = controlCommand(
  {
    synopsis: 'tier list',
    about: 'Lists the built-in tiers and your own, with all limits and rates.',
  },
  async (control) => {
    const tiers = await allTiers(control);
    const rows = tiers.map((tier) => {
      const { qms, qmh, rlQps, rlQpm, rlQph } = limitsOf(tier);
      return [tier.name, qms, qmh, rlQps, rlQpm, rlQph];
    });
    const notes = tiers.map(({ ads, trs }) => [`datasets ${ads.join(', ') || 'none'}; access level ${trs}`]);
    const headings = ['NAME', 'SOFT/MONTH', 'HARD/MONTH', 'PER SECOND', 'PER MINUTE', 'PER HOUR'];
    return {
      text: table(headings, rows, { shortened: ['NAME'], notes }),
      json: tiers.map((tier) => tierJson(tier, BUILT_IN_TIERS.includes(tier))),
    };
  },
);

const TIER_FLAGS = {
  qms: { argument: 'N', meaning: 'soft limit, queries a month: exceeding it is only logged', isRequired: true },
  qmh: { argument: 'N', meaning: 'hard limit, queries a month: further queries are refused', isRequired: true },
  'rl-qps': { argument: 'N', meaning: 'queries a second (default: D / 8, rounded up; D = qmh / 30, rounded down)' },
  'rl-qpm': { argument: 'N', meaning: 'queries a minute (default: D)' },
  'rl-qph': { argument: 'N', meaning: 'queries an hour (default: 4 × D)' },
  ads: {
    argument: 'LIST',
    meaning: `datasets that may be queried, separated by commas (default: all, ${DATASETS.join()})`,
  },
  trs: { argument: 'NAME', meaning: `access level (default ${DEFAULT_TRS})` },
} as const satisfies Flags;

const tierSet = controlAddingCommand(
  {
    synopsis: 'tier set NAME --qms N --qmh N',
    about: `Creates a tier, or replaces all limits of one. Running servers apply the new limits to its accounts within
seconds. ${NO_LIMIT} means no limit.`,
    operands: ['NAME'],
    flags: TIER_FLAGS,
    examples: ['urlwarden tier set partner --qms 400000 --qmh 600000 --rl-qps 100'],
  },
  async (control, { operands: [name = ''], flags }) => {
    const tier = readTier(name, flags);
    const before = await tierFields(control, name);
    await setTier(control, tier);
    await recordChange(control, { action: 'tier.set', subject: name, before, after: limitsJson(limitsOf(tier)) });
    const { qms, qmh, rlQps, rlQpm, rlQph } = limitsOf(tier);
    return {
      text: `The tier ${name} has ${qms} (soft) and ${qmh} (hard) queries a month, ${rlQps} a second, ${rlQpm} a minute, ${rlQph} an hour.\n`,
      json: tierJson(tier, false),
    };
  },
);

const tierRemove = controlCommand(
  {
    synopsis: 'tier remove NAME',
    about: 'Removes one of your own tiers. A tier that an account has cannot be removed.',
    operands: ['NAME'],
  },
  async (control, { operands: [name = ''] }) => {
    const before = await tierFields(control, name);
    await removeTier(control, name);
    await recordChange(control, { action: 'tier.remove', subject: name, before });
    return { text: `Removed the tier ${name}.\n`, json: { name } };
  },
);

function readTier(name: string, flags: FlagValues<typeof TIER_FLAGS>): Tier {
  const tier = {
    name,
    trs: flags.trs ?? DEFAULT_TRS,
    ads: toDatasets((flags.ads ?? DATASETS.join()).split(',').filter((dataset) => dataset !== '')),
    qms: wholeNumber(flags.qms),
    qmh: wholeNumber(flags.qmh),
    rlQps: readRate(flags['rl-qps']),
    rlQpm: readRate(flags['rl-qpm']),
    rlQph: readRate(flags['rl-qph']),
  };
  const fault = tierFault(tier);
  if (fault === null) return tier;
  const flag = fault.field.replace('_', '-') as keyof typeof TIER_FLAGS;
  const form = flag === 'ads' ? ', separated by commas' : '';
  throw new UsageError(`--${flag} must be ${fault.rule}${form}, not ${JSON.stringify(flags[flag])}`);
}

function readRate(text: string | undefined): number | null {
  return text === undefined ? null : wholeNumber(text);
}

/** NaN for any other text. */
function wholeNumber(text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
}

/** A tier for programs; the keys are stable. Rates that were not set have their default. */
function tierJson(tier: Tier, isBuiltIn: boolean) {
  return { name: tier.name, built_in: isBuiltIn, ...limitsJson(limitsOf(tier)) };
}
