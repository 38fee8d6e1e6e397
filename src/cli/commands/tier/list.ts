import { allTiers } from '../../../accounts/tiers.ts';
import { BUILT_IN_TIERS, limitsOf } from '../../../core/tier.ts';
import { controlCommand } from '../../data-command.ts';
import { tierJson } from '../../present-account.ts';
import { table } from '../../table.ts';

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
