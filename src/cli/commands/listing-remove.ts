import { ADDRESS_DATASETS } from '../../core/evidence.ts';
import { formatKeyNetwork, type KeyNetwork } from '../../core/ip/key-network.ts';
import { type DescribedListing, listingText } from '../../reputation/listing-state.ts';
import { removeListing } from '../../reputation/manage.ts';
import type { ListingRemoval } from '../../reputation/store.ts';
import { recordChangeAt } from '../audit-record.ts';
import { UsageError } from '../command.ts';
import { intelligenceCommand } from '../data-command.ts';
import { readDataset, readNetwork, readReason } from '../operator-input.ts';
import { timeText } from '../output.ts';
import { currentTs, parseSpan } from '../time.ts';

/** How long the same source does not bring a listing back. */
const DEFAULT_SPAN = '24h';

export const listingRemove = intelligenceCommand(
  {
    synopsis: 'listing remove NETWORK',
    about: `Removes the live listings of exactly this address or network, of every source. Responses of type live no longer
contain them; history shows when they were removed. The same source does not list it again for 24
hours (--for); evidence after that time does. To never list it, use urlwarden allow add. Running servers apply it
within five seconds.`,
    operands: ['NETWORK'],
    flags: {
      dataset: {
        argument: 'NAME',
        meaning: `only listings of this dataset: ${ADDRESS_DATASETS.join(', ')}`,
        values: ADDRESS_DATASETS,
      },
      for: {
        argument: 'TIME',
        meaning: `how long its sources do not list it again, such as 7d (default ${DEFAULT_SPAN})`,
      },
      reason: { argument: 'TEXT', meaning: 'why; urlwarden listing show shows it' },
    },
    examples: ['urlwarden listing remove 203.0.113.7 --for 7d --reason "cleaned, ticket 4711"'],
  },
  async (store, { operands: [text = ''], flags, place }) => {
    const network = readNetwork(text);
    const dataset = flags.dataset === undefined ? null : readDataset(flags.dataset);
    const seconds = readFor(flags.for ?? DEFAULT_SPAN);
    const reason = readReason(flags.reason ?? '');
    const nowTs = currentTs();
    const removal = { removedTs: nowTs, untilTs: nowTs + seconds, reason };
    const { removed: own, removals, wider } = await removeListing(store, { network, dataset }, removal);
    await recordChangeAt(place, {
      action: 'listing.remove',
      subject: formatKeyNetwork(network),
      before: { listed: [...new Set(own.map(({ dataset, source }) => `${dataset} by ${source.name}`))] },
      after: { removed_until: nowTs + seconds, reason },
    });
    return {
      text: `${removedText(own, removals)}${wider.map((one) => stillCovered(network, one)).join('')}`,
      json: {
        network: formatKeyNetwork(network),
        removed: removals.map((removal) => removalJson(removal, own)),
        still_covered_by: wider.map((one) => formatKeyNetwork(one.network)),
      },
    };
  },
);

function readFor(text: string): number {
  const seconds = parseSpan(text);
  if (seconds !== null) return seconds;
  throw new UsageError(`--for must be a number with s, m, h or d, such as 24h or 7d, not ${JSON.stringify(text)}`);
}

function removedText(listings: readonly DescribedListing[], [removal]: readonly ListingRemoval[]): string {
  const names = [...new Set(listings.map(listingText))].join(', ');
  return `Removed ${names}. The same sources can list it again after ${timeText(removal?.untilTs ?? 0)}.\n`;
}

function stillCovered(network: KeyNetwork, wider: DescribedListing): string {
  const name = formatKeyNetwork(network);
  return `${name} is still inside ${listingText(wider)}. To exempt it: urlwarden allow add ${name}\n`;
}

function removalJson({ dataset, sourceId, removedTs, untilTs, reason }: ListingRemoval, own: DescribedListing[]) {
  const source = own.find((one) => one.source.id === sourceId)?.source.name;
  return { dataset, source, remove_timestamp: removedTs, removed_until: untilTs, reason };
}
