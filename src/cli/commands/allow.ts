import { OPERATOR_SOURCE } from '../../core/evidence.ts';
import { formatKeyNetwork } from '../../core/ip/key-network.ts';
import { allowedNetworks, allowNetwork, isOwnEntry, removeAllowed } from '../../reputation/manage.ts';
import type { NetworkListEntry } from '../../reputation/store.ts';
import { recordChangeAt } from '../audit-record.ts';
import type { CommandGroup } from '../command.ts';
import { addingCommand, intelligenceCommand } from '../data-command.ts';
import { readNetwork, readReason } from '../operator-input.ts';
import { table, timeText } from '../output.ts';
import { currentTs } from '../time.ts';

export const allow: CommandGroup = {
  entries: [
    { name: 'add', summary: 'Never list an address or a network.', load: async () => allowAdd },
    { name: 'list', summary: 'List the networks that are never listed.', load: async () => allowList },
    { name: 'remove', summary: 'Take a network off the allow lists.', load: async () => allowRemove },
    {
      name: 'import',
      summary: 'Import a whole allow list.',
      load: async () => (await import('./allow-import.ts')).allowImport,
    },
  ],
};

const allowAdd = addingCommand(
  {
    synopsis: 'allow add NETWORK',
    about: `Puts an address or a network on the allow list: no response contains it, nor an address inside it, whatever a source
says, also where a wider network is listed. Imports reject rows about it. Running servers apply it within
five seconds. Listings that are already stored stay: they count again after urlwarden allow remove.`,
    operands: ['NETWORK'],
    flags: { reason: { argument: 'TEXT', meaning: 'why, for other operators' } },
    examples: ['urlwarden allow add 203.0.113.0/24 --reason "our own mail servers"'],
  },
  async (store, { operands: [text = ''], flags, place }) => {
    const network = readNetwork(text);
    const reason = readReason(flags.reason ?? '');
    const ts = currentTs();
    const { entry, before: known } = await allowNetwork(store, { network, reason, ts });
    const json = allowJson(entry);
    const before = known === null ? {} : { reason: known.reason };
    await recordChangeAt(place, { action: 'allow.add', subject: json.network, before, after: { reason } });
    return { text: `${json.network} is on the allow list.\n`, json };
  },
);

const allowList = intelligenceCommand(
  {
    synopsis: 'allow list',
    about: `Lists all networks on allow lists, with the source of each: ${OPERATOR_SOURCE} for those added by urlwarden allow add,
otherwise the name of the imported list. A reason is below its network.`,
  },
  async (store) => {
    const entries = await allowedNetworks(store);
    const rows = entries.map(({ network, source, ts }) => [formatKeyNetwork(network), source, timeText(ts)]);
    const notes = entries.map(({ reason }) => (reason === '' ? [] : [reason]));
    const text = table(['NETWORK', 'SOURCE', 'SINCE'], rows, { shortened: ['SOURCE'], notes });
    return { text: rows.length > 0 ? text : NO_ENTRIES, json: entries.map(allowJson) };
  },
);

const NO_ENTRIES = 'The allow list is empty. Add a network with: urlwarden allow add NETWORK\n';

const allowRemove = intelligenceCommand(
  {
    synopsis: 'allow remove NETWORK',
    about: `Takes exactly this network off all allow lists. An entry of an imported list comes back with its next import.
Running servers apply it within five seconds.`,
    operands: ['NETWORK'],
  },
  async (store, { operands: [text = ''], place }) => {
    const network = readNetwork(text);
    const removed = await removeAllowed(store, network);
    const before = { sources: removed.map(({ source }) => source) };
    await recordChangeAt(place, { action: 'allow.remove', subject: formatKeyNetwork(network), before });
    const imported = removed.filter((entry) => !isOwnEntry(entry)).map(({ source }) => source);
    const note = imported.length === 0 ? '' : ` The next import of ${imported.join(', ')} adds it again.`;
    return {
      text: `${formatKeyNetwork(network)} is no longer on the allow list.${note}\n`,
      json: removed.map(allowJson),
    };
  },
);

/** An entry for programs; the keys are stable. */
function allowJson({ network, source, ts, reason }: NetworkListEntry) {
  return { network: formatKeyNetwork(network), source, ts, reason };
}
