import { requireAccount } from '../../../accounts/manage.ts';
import { requireTier } from '../../../accounts/tiers.ts';
import { windowIndex } from '../../../core/quota.ts';
import { limitsOf } from '../../../core/tier.ts';
import { currentTs } from '../../clock.ts';
import { controlCommand } from '../../data-command.ts';
import { accountJson, limitsJson } from '../../present-account.ts';
import { listing, timeText } from '../../table.ts';

export const accountShow = controlCommand(
  {
    synopsis: 'account show USERNAME',
    about: `Shows an account, its limits, and the queries counted in the current month and day (UTC). A running server
writes its counts about once a second.
`,
    operands: ['USERNAME'],
  },
  async (control, { operands: [username = ''] }) => {
    const account = await requireAccount(control, username);
    const limits = limitsOf(await requireTier(control, account.tier));
    const ts = currentTs();
    const usage = await control.usage(account.sub, windowIndex('day', ts), windowIndex('month', ts));
    const text = listing([
      ['username', account.username],
      ['subscription', account.sub],
      ['tier', account.tier],
      ['state', account.isEnabled ? 'enabled' : 'disabled'],
      ['created', timeText(account.createdTs)],
      ['access level', limits.trs],
      ['datasets', limits.ads.join(', ')],
      ['this month', `${usage.month} of ${limits.qmh} queries${usage.month > limits.qms ? SOFT_PASSED : ''}`],
      ['soft limit', `${limits.qms} a month`],
      ['today', `${usage.day} queries`],
      ['rates', `${limits.rlQps} a second, ${limits.rlQpm} a minute, ${limits.rlQph} an hour`],
    ]);
    const used = { month: usage.month, day: usage.day };
    return { text, json: { ...accountJson(account), limits: limitsJson(limits), usage: used } };
  },
);

const SOFT_PASSED = ' (above the soft limit)';
