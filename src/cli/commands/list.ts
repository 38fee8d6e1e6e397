import { allLists } from '../../exports/built-in.ts';
import { datasetsOf } from '../../exports/datasets.ts';
import { listFields, removeList, requireList, requireOwnList } from '../../exports/manage.ts';
import { isBuiltIn } from '../../exports/rows.ts';
import type { ListDefinition } from '../../exports/store.ts';
import { toListItem } from '../../exports/wire.ts';
import { recordChange } from '../audit-record.ts';
import type { CommandGroup } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import { fieldList, table, timeText } from '../output.ts';
import { counted } from '../progress.ts';
import { confirm } from '../terminal.ts';
import { spanText } from '../time.ts';

export const list: CommandGroup = {
  entries: [
    { name: 'show', summary: 'Show all lists, or one of them.', load: async () => listShow },
    {
      name: 'add',
      summary: 'Define a list of your own.',
      load: async () => (await import('./list-define.ts')).listAdd,
    },
    {
      name: 'set',
      summary: 'Change a list of your own.',
      load: async () => (await import('./list-define.ts')).listSet,
    },
    { name: 'remove', summary: 'Remove a list of your own and its keys.', load: async () => listRemove },
    {
      name: 'exclude',
      summary: 'Keep a host, the beginning of URLs or a network off the lists.',
      load: async () => (await import('./list-exclude.ts')).listExclude,
    },
    {
      name: 'unexclude',
      summary: 'Remove an exclusion.',
      load: async () => (await import('./list-exclude.ts')).listUnexclude,
    },
    {
      name: 'exclusions',
      summary: 'Show what is excluded, why and until when.',
      load: async () => (await import('./list-exclude.ts')).listExclusions,
    },
    {
      name: 'key',
      summary: 'Manage the keys with which devices fetch lists.',
      load: async () => (await import('./list-key.ts')).listKey,
    },
  ],
};

const listShow = controlCommand(
  {
    synopsis: 'list show [NAME]',
    about: `Shows all lists that devices can fetch: those that every server has, then your own. With NAME, shows one of them
with its filter.`,
    optional: ['NAME'],
    examples: ['urlwarden list show', 'urlwarden list show hosts-malware'],
  },
  async (control, { operands: [name] }) => {
    if (name !== undefined) {
      const one = await requireList(control, name);
      return { text: listText(one), json: toListItem(one) };
    }
    const lists = await allLists(control);
    const rows = lists.map((one) => [one.name, one.kind, isBuiltIn(one.name) ? 'yes' : 'no', filterText(one)]);
    const notes = lists.map(({ description }) => (description === '' ? [] : [description]));
    const text = table(['NAME', 'KIND', 'BUILT IN', 'FILTER'], rows, { shortened: ['NAME', 'FILTER'], notes });
    return { text, json: lists.map(toListItem) };
  },
);

function listText(one: ListDefinition): string {
  const { name, kind, description, filter, changedTs } = one;
  return fieldList([
    ['name', name],
    ['kind', kind],
    ['description', description || 'none'],
    ['filter', filterText(one)],
    ['families', filter.families.join(', ') || 'all'],
    ['reporters', filter.reporters.join(', ') || 'all'],
    ['datasets of an account', datasetsOf(one).join(', ')],
    ['changed', isBuiltIn(name) ? 'never: it is built in' : timeText(changedTs)],
  ]);
}

/** In short: `online, 30 d`. */
function filterText({ kind, filter }: ListDefinition): string {
  const { status, maxAgeSeconds, families, reporters, datasets, maxScore, listedDomains } = filter;
  return [
    ...(kind === 'addresses' ? [datasets.join('+')] : [listedDomains ? 'listed domains' : status]),
    spanText(maxAgeSeconds),
    ...(maxScore === null ? [] : [`score ≤ ${maxScore}`]),
    ...(families.length === 0 ? [] : [counted(families.length, 'family', 'families')]),
    ...(reporters.length === 0 ? [] : [counted(reporters.length, 'reporter')]),
  ].join(', ');
}

const listRemove = controlCommand(
  {
    synopsis: 'list remove NAME',
    about: `Removes one of your own lists, its keys and what is excluded from it alone. Devices that fetch it get an error;
most of them keep what they have.`,
    operands: ['NAME'],
    flags: { yes: { meaning: 'do not ask for confirmation' } },
  },
  async (control, { operands: [name = ''], flags }) => {
    await requireOwnList(control, name);
    const keys = await control.listKeys({ list: name });
    if (!flags.yes) await confirm(`Remove the list ${name} and its ${counted(keys.length, 'key')}?`);
    const removed = await removeList(control, name);
    await recordChange(control, { action: 'list.remove', subject: name, before: listFields(removed) });
    return { text: `Removed the list ${name}.\n`, json: toListItem(removed) };
  },
);
