import { accountNames, keyFields, makeListKeyFor, revokeListKey } from '../../exports/keys.ts';
import { requireList } from '../../exports/manage.ts';
import type { ListKey } from '../../exports/store.ts';
import { toKeyItem } from '../../exports/wire.ts';
import { recordChange } from '../audit-record.ts';
import type { CommandGroup } from '../command.ts';
import { controlCommand } from '../data-command.ts';
import { toUsage } from '../flag-values.ts';
import { table, timeText, visible } from '../output.ts';
import { currentTs } from '../time.ts';
import { readId } from './list-exclude.ts';

export const listKey: CommandGroup = {
  entries: [
    { name: 'add', summary: 'Make a key with which one device fetches one list.', load: async () => keyAdd },
    { name: 'list', summary: 'List the keys and their last fetches.', load: async () => keyList },
    { name: 'remove', summary: 'Revoke a key.', load: async () => keyRemove },
  ],
};

const keyAdd = controlCommand(
  {
    synopsis: 'list key add NAME DEVICE --account USERNAME',
    about: `Makes a key with which one device fetches the list NAME, and shows it once: only its hash is stored. It opens no
other list. Its fetches count against the limits of the account, whose tier must have the datasets of the list. DEVICE is
the name by which people know it.`,
    operands: ['NAME', 'DEVICE'],
    flags: { account: { argument: 'USERNAME', meaning: 'the account whose limits count', isRequired: true } },
    examples: ['urlwarden list key add urls-online "proxy in Berlin" --account ada@example.com'],
  },
  async (control, { operands: [name = '', device = ''], flags }) => {
    const making = makeListKeyFor(control, flags.account, { list: name, device }, currentTs());
    const { key, made, username } = await making.catch(toUsage);
    await recordChange(control, { action: 'list-key.add', subject: name, after: keyFields(made, username) });
    const text = `${key}\nThe key of ${visible(device)} for the list ${name}, id ${made.id}. It is not shown again.\n`;
    return { text, json: { ...toKeyItem(made), username, key } };
  },
);

const keyList = controlCommand(
  {
    synopsis: 'list key list [NAME]',
    about: `Lists the keys of devices, the newest first, with the account whose limits count and the last fetch. With NAME, only
those of one list. The keys themselves are not stored. The last fetch is up to five seconds behind.`,
    optional: ['NAME'],
  },
  async (control, { operands: [name] }) => {
    if (name !== undefined) await requireList(control, name);
    const keys = await control.listKeys(name === undefined ? {} : { list: name });
    const names = await accountNames(control, keys);
    const nameOf = ({ sub }: ListKey) => names.get(sub) ?? null;
    const rows = keys.map((key) => [key.id, key.list, key.device, nameOf(key) ?? 'removed', fetchText(key)]);
    const headings = ['ID', 'LIST', 'DEVICE', 'ACCOUNT', 'LAST FETCH'];
    const text = table(headings, rows, { shortened: ['LIST', 'DEVICE', 'ACCOUNT'] });
    return {
      text: rows.length > 0 ? text : NO_KEYS,
      json: keys.map((key) => ({ ...toKeyItem(key), username: nameOf(key) })),
    };
  },
);

const NO_KEYS = 'There are no keys. Make one with: urlwarden list key add NAME DEVICE --account USERNAME\n';

function fetchText({ lastFetch }: ListKey): string {
  return lastFetch === null ? 'never' : `${timeText(lastFetch.ts)} by ${lastFetch.address}`;
}

const keyRemove = controlCommand(
  {
    synopsis: 'list key remove ID',
    about: `Revokes a key by its id, which urlwarden list key list shows. Running servers refuse it within five seconds.`,
    operands: ['ID'],
    examples: ['urlwarden list key remove 12'],
  },
  async (control, { operands: [text = ''] }) => {
    const key = await revokeListKey(control, readId(text));
    const username = (await accountNames(control, [key])).get(key.sub) ?? null;
    await recordChange(control, { action: 'list-key.remove', subject: key.list, before: keyFields(key, username) });
    const shown = `${visible(key.device)} for the list ${key.list}`;
    return { text: `Revoked the key of ${shown}.\n`, json: { ...toKeyItem(key), username } };
  },
);
