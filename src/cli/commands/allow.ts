import type { Intelligence } from '../../app/stores.ts';
import { AppError } from '../../core/errors.ts';
import { OPERATOR_SOURCE } from '../../core/evidence.ts';
import { containsNetwork, formatKeyNetwork, type KeyNetwork } from '../../core/ip/key-network.ts';
import { compareNetworks } from '../../reputation/listing-rows.ts';
import type { NetworkListEntry } from '../../reputation/store.ts';
import { recordChangeAt } from '../audit-record.ts';
import type { CommandGroup } from '../command.ts';
import { addingCommand, intelligenceCommand } from '../data-command.ts';
import { isSame } from '../listing-state.ts';
import { readNetwork, readText } from '../operator-input.ts';
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
    about: `Puts an address or a network on the allow list: no answer contains it, nor an address inside it, whatever a source
says, also where a wider network is listed. Imports reject rows about it. Running servers apply it within
five seconds. Listings that are already stored stay: they count again after urlwarden allow remove.`,
    operands: ['NETWORK'],
    flags: { reason: { argument: 'TEXT', meaning: 'why, for other operators' } },
    examples: ['urlwarden allow add 203.0.113.0/24 --reason "our own mail servers"'],
  },
  async (store, { operands: [text = ''], flags, place }) => {
    const network = readNetwork(text);
    const reason = readText('--reason', flags.reason ?? '');
    const ts = currentTs();
    const known = (await allowed(store)).find((entry) => isSame(entry.network, network) && isOwn(entry));
    await store.applyLists([{ as: 'allow', network, source: OPERATOR_SOURCE, ts, reason }]);
    const json = allowJson({ as: 'allow', network, source: OPERATOR_SOURCE, ts, reason });
    const before = known === undefined ? {} : { reason: known.reason };
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
    const entries = await allowed(store);
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
    const entries = await allowed(store);
    const removed = entries.filter((entry) => isSame(entry.network, network));
    if (removed.length === 0) throw new AppError('not_found', absence(network, entries));
    await store.removeListEntry('allow', network, null);
    const before = { sources: removed.map(({ source }) => source) };
    await recordChangeAt(place, { action: 'allow.remove', subject: formatKeyNetwork(network), before });
    const imported = removed.filter((entry) => !isOwn(entry)).map(({ source }) => source);
    const note = imported.length === 0 ? '' : ` The next import of ${imported.join(', ')} adds it again.`;
    return {
      text: `${formatKeyNetwork(network)} is no longer on the allow list.${note}\n`,
      json: removed.map(allowJson),
    };
  },
);

/** In order of address, wider networks first. */
async function allowed(store: Intelligence): Promise<NetworkListEntry[]> {
  const { entries } = await store.addressLists();
  return entries.filter(({ as }) => as === 'allow').sort(compareEntries);
}

/** Added by `urlwarden allow add`, not by an import. */
function isOwn({ source }: NetworkListEntry): boolean {
  return source === OPERATOR_SOURCE;
}

function compareEntries(a: NetworkListEntry, b: NetworkListEntry): number {
  return compareNetworks(a.network, b.network) || (a.source < b.source ? -1 : 1);
}

/** What to do about a network that has no entry of its own. */
function absence(network: KeyNetwork, entries: readonly NetworkListEntry[]): string {
  const name = formatKeyNetwork(network);
  const covering = entries.filter((entry) => containsNetwork(entry.network, network));
  const inside = entries.filter((entry) => containsNetwork(network, entry.network));
  const [relation, found] = covering.length > 0 ? ['is inside', covering] : ['contains', inside];
  const hint = found[0] === undefined ? '' : ` It ${relation} ${formatKeyNetwork(found[0].network)}, which is.`;
  return `${name} is not on an allow list.${hint} See: urlwarden allow list`;
}

/** An entry for programs; the keys are stable. */
export function allowJson({ network, source, ts, reason }: NetworkListEntry) {
  return { network: formatKeyNetwork(network), source, ts, reason };
}
