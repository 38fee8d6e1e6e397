import { setTier } from '../../../accounts/tiers.ts';
import { DEFAULT_TRS, limitsOf, NO_LIMIT, type Tier, URL_DATASET } from '../../../core/tier.ts';
import { UsageError } from '../../command.ts';
import { controlCommand, type Input } from '../../data-command.ts';
import { tierJson } from '../../present-account.ts';

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
  --rl-qpm N   (rounded down) they are D / 400, D / 40 and D / 4, rounded up
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
