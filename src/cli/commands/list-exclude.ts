import { describeMatch, exclude, exclusionFields, exclusionSubject, removeExclusion } from '../../exports/exclude.ts';
import { requireList } from '../../exports/manage.ts';
import { toExclusionItem } from '../../exports/wire.ts';
import { recordChange } from '../audit-record.ts';
import { UsageError } from '../command.ts';
import { controlAddingCommand, controlCommand } from '../data-command.ts';
import { toUsage } from '../flag-values.ts';
import { table, timeText, visible } from '../output.ts';
import { currentTs, parseSpan, readEndTime } from '../time.ts';

export const listExclude = controlAddingCommand(
  {
    synopsis: 'list exclude VALUE --reason TEXT',
    about: `Keeps VALUE off all lists that devices fetch, or off one of them, whatever the data says. Lookups are not affected.
Running servers apply it within seconds. The same VALUE again replaces the reason and the end. VALUE may be defanged:

  shop.example                     this host; with --subdomains, also the names below it
  https://files.example/shared/    URLs that begin with this, after normalization
  203.0.113.0/24                   an address or a network`,
    operands: ['VALUE'],
    flags: {
      reason: { argument: 'TEXT', meaning: 'why, for other operators', isRequired: true },
      subdomains: { meaning: 'a host: also the names below it' },
      list: { argument: 'NAME', meaning: 'only off this list (default: off all)' },
      for: { argument: 'TIME', meaning: 'how long, such as 7d (default: without end)' },
      until: { argument: 'TIME', meaning: 'until when, such as 2026-12-31 or Unix seconds' },
    },
    examples: [
      'urlwarden list exclude shop.example --subdomains --reason "a customer, cleaned"',
      'urlwarden list exclude 203.0.113.0/24 --list addresses-xbl --for 7d --reason "our test network"',
    ],
  },
  async (control, { operands: [value = ''], flags }) => {
    const nowTs = currentTs();
    const untilTs = readEnd(flags, nowTs);
    const added = { value, withSubdomains: flags.subdomains === true, list: flags.list ?? null, reason: flags.reason };
    const { before, exclusion } = await exclude(control, { ...added, untilTs }, nowTs).catch(toUsage);
    await recordChange(control, {
      action: 'exclusion.add',
      subject: exclusionSubject(exclusion),
      before: before === null ? {} : exclusionFields(before),
      after: exclusionFields(exclusion),
    });
    const { id, match, list } = exclusion;
    const where = list === null ? 'all lists' : `the list ${list}`;
    const until = untilTs === null ? '' : ` until ${timeText(untilTs)}`;
    const text = line(`Excluded from ${where}${until}: ${describeMatch(match)}. Its id is ${id}.`);
    return { text, json: toExclusionItem(exclusion, nowTs) };
  },
);

const line = (text: string): string => `${visible(text)}\n`;

function readEnd(flags: { for?: string | undefined; until?: string | undefined }, nowTs: number): number | null {
  if (flags.for !== undefined && flags.until !== undefined) throw new UsageError('Give --for or --until, not both');
  if (flags.until !== undefined) return readEndTime('--until', flags.until);
  if (flags.for === undefined) return null;
  const seconds = parseSpan(flags.for);
  if (seconds !== null) return nowTs + seconds;
  throw new UsageError(`--for must be a time such as 12h or 30d, not ${JSON.stringify(flags.for)}`);
}

export const listUnexclude = controlCommand(
  {
    synopsis: 'list unexclude ID',
    about: `Removes an exclusion by its id, which urlwarden list exclusions shows. What the data says is on the lists again within
seconds.`,
    operands: ['ID'],
    examples: ['urlwarden list unexclude 7'],
  },
  async (control, { operands: [text = ''] }) => {
    const removed = await removeExclusion(control, readId(text));
    const change = { subject: exclusionSubject(removed), before: exclusionFields(removed) };
    await recordChange(control, { action: 'exclusion.remove', ...change });
    return {
      text: line(`No longer excluded: ${describeMatch(removed.match)}.`),
      json: toExclusionItem(removed, currentTs()),
    };
  },
);

/** An operand ID. */
export function readId(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`ID must be a number, not ${JSON.stringify(text)}`);
}

export const listExclusions = controlCommand(
  {
    synopsis: 'list exclusions',
    about: `Shows what is excluded from lists, the newest first. The reason is below it. What has ended is shown for 30 days
or more.`,
    flags: { list: { argument: 'NAME', meaning: 'only what is excluded from this list, also as part of all lists' } },
  },
  async (control, { flags }) => {
    const nowTs = currentTs();
    if (flags.list !== undefined) await requireList(control, flags.list);
    const all = await control.exclusions();
    const shown = all.filter(({ list }) => flags.list === undefined || list === null || list === flags.list);
    const rows = shown.map(({ id, match, list, untilTs }) => [
      id,
      list ?? 'all',
      untilTs === null ? 'no end' : `${timeText(untilTs)}${untilTs <= nowTs ? ' (ended)' : ''}`,
      describeMatch(match),
    ]);
    const notes = shown.map(({ reason }) => [reason]);
    const text = table(['ID', 'LIST', 'UNTIL', 'EXCLUDED'], rows, { shortened: ['LIST', 'EXCLUDED'], notes });
    return { text: rows.length > 0 ? text : NONE, json: shown.map((one) => toExclusionItem(one, nowTs)) };
  },
);

const NONE = 'Nothing is excluded. Exclude something with: urlwarden list exclude VALUE --reason TEXT\n';
