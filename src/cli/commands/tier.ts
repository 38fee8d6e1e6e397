import { allTiers, removeTier, setTier } from '../../accounts/tiers.ts';
import { BUILT_IN_TIERS, DEFAULT_TRS, limitsOf, NO_LIMIT, type Tier, URL_DATASET } from '../../core/tier.ts';
import { tierJson } from '../account-output.ts';
import { type CommandGroup, UsageError } from '../command.ts';
import { controlCommand, type Input } from '../data-command.ts';
import { table } from '../output.ts';

export const tier: CommandGroup = {
  entries: [
    { name: 'list', summary: 'List all tiers and their limits.', load: async () => tierList },
    { name: 'set', summary: 'Define a tier, or replace one.', load: async () => tierSet },
    { name: 'remove', summary: 'Remove a tier that no account has.', load: async () => tierRemove },
  ],
};

export const tierList = controlCommand(
  {
    synopsis: 'tier list',
    about: 'Lists the built-in tiers and your own, with every rate worked out.\n',
  },
  async (control) => {
    const tiers = await allTiers(control);
    const rows = tiers.map((tier) => {
      const { trs, ads, qms, qmh, rlQps, rlQpm, rlQph } = limitsOf(tier);
      return [tier.name, qms, qmh, rlQps, rlQpm, rlQph, ads.join(','), trs];
    });
    const headings = ['NAME', 'SOFT/MONTH', 'HARD/MONTH', 'PER SECOND', 'PER MINUTE', 'PER HOUR', 'DATASETS', 'ACCESS'];
    return { text: table(headings, rows), json: tiers.map((tier) => tierJson(tier, BUILT_IN_TIERS.includes(tier))) };
  },
);

/** What fits into an answer, where datasets stand with commas between them. */
const DATASET = /^[A-Za-z0-9._-]{1,32}$/;
const ACCESS_LEVEL = /^[A-Za-z0-9._-]{1,64}$/;

export const tierSet = controlCommand(
  {
    synopsis: 'tier set NAME --qms N --qmh N [--rl-qps N] [--rl-qpm N] [--rl-qph N] [--ads URL] [--trs base]',
    about: `Defines a tier, or replaces one as a whole; accounts that have it follow within seconds.
`,
    flags: `  --qms N      soft limit of queries a month: passing it is noted
  --qmh N      hard limit of queries a month: passing it is refused
  --rl-qps N   queries a second, minute and hour. Those not given follow from qmh: with D = qmh / 30
  --rl-qpm N   (rounded down) they are D / 8 (rounded up), D and 4 × D
  --rl-qph N
  --ads LIST   datasets that may be queried, with commas between them (default ${URL_DATASET})
  --trs NAME   access level (default ${DEFAULT_TRS})
`,
    operands: ['NAME'],
    options: {
      qms: { type: 'string' },
      qmh: { type: 'string' },
      'rl-qps': { type: 'string' },
      'rl-qpm': { type: 'string' },
      'rl-qph': { type: 'string' },
      ads: { type: 'string' },
      trs: { type: 'string' },
    },
  },
  async (control, { operands: [name = ''], options }) => {
    const tier = readTier(name, options);
    await setTier(control, tier);
    const { qms, qmh, rlQps, rlQpm, rlQph } = limitsOf(tier);
    return {
      text: `The tier ${name} has ${qms} (soft) and ${qmh} (hard) queries a month, ${rlQps} a second, ${rlQpm} a minute, ${rlQph} an hour.\n`,
      json: tierJson(tier, false),
    };
  },
);

function readTier(name: string, options: Input['options']): Tier {
  const ads = `${options.ads ?? URL_DATASET}`.split(',').filter((dataset) => dataset !== '');
  if (!ads.every((dataset) => DATASET.test(dataset)))
    throw new UsageError('--ads must be names with commas between them');
  const trs = `${options.trs ?? DEFAULT_TRS}`;
  if (!ACCESS_LEVEL.test(trs)) throw new UsageError('--trs must be one word of letters and digits');
  return {
    name,
    trs,
    ads,
    qms: required('qms', readNumber(options, 'qms', 0)),
    qmh: required('qmh', readNumber(options, 'qmh', 0)),
    rlQps: readNumber(options, 'rl-qps', 1),
    rlQpm: readNumber(options, 'rl-qpm', 1),
    rlQph: readNumber(options, 'rl-qph', 1),
  };
}

/** A rate of nothing would be taken for "no limit" by whoever types it, and would shut everybody out. */
function readNumber(options: Input['options'], flag: string, least: number): number | null {
  const text = options[flag];
  if (text === undefined) return null;
  const number = /^\d{1,10}$/.test(`${text}`) ? Number(text) : Number.NaN;
  if (number >= least && number <= NO_LIMIT) return number;
  const rule = `a whole number from ${least} to ${NO_LIMIT}, which stands for no limit`;
  throw new UsageError(`--${flag} must be ${rule}, not ${JSON.stringify(text)}`);
}

function required(flag: string, value: number | null): number {
  if (value === null) throw new UsageError(`--${flag} N is missing`);
  return value;
}

export const tierRemove = controlCommand(
  {
    synopsis: 'tier remove NAME',
    about: 'Removes one of your own tiers. One that an account still has stays.\n',
    operands: ['NAME'],
  },
  async (control, { operands: [name = ''] }) => {
    await removeTier(control, name);
    return { text: `Removed the tier ${name}.\n`, json: { name } };
  },
);
