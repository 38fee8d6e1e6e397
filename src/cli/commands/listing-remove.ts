import type { Intelligence } from '../../app/stores.ts';
import { AppError } from '../../core/errors.ts';
import type { AddressDataset } from '../../core/evidence.ts';
import { formatKeyNetwork, type KeyNetwork } from '../../core/ip/key-network.ts';
import type { ListingRemoval } from '../../reputation/store.ts';
import { recordChangeAt } from '../audit-record.ts';
import { UsageError } from '../command.ts';
import { intelligenceCommand } from '../data-command.ts';
import { type DescribedListing, describeListings, isSame, listingText } from '../listing-state.ts';
import { readDataset, readNetwork, readText } from '../operator-input.ts';
import { timeText } from '../output.ts';
import { countText } from '../progress.ts';
import { currentTs, parseSpan } from '../time.ts';

/** How long the same source does not bring a listing back. */
const DEFAULT_SPAN = '24h';

export const listingRemove = intelligenceCommand(
  {
    synopsis: 'listing remove NETWORK',
    about: `Removes the live listings of exactly this address or network, of every source. Answers of type live no longer
contain them; history shows when they were removed. The same source does not list it again for 24
hours (--for); evidence after that time does. To never list it, use urlwarden allow add. Running servers apply it
within five seconds.`,
    operands: ['NETWORK'],
    flags: {
      dataset: { argument: 'NAME', meaning: 'only listings of this dataset: XBL, CSS, BCL or DROP' },
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
    const reason = readText('--reason', flags.reason ?? '');
    const nowTs = currentTs();
    const live = await liveListings(store, network, { inside: false, nowTs });
    const own = live.filter((one) => isSame(one.network, network) && (dataset ?? one.dataset) === one.dataset);
    if (own.length === 0) throw new AppError('not_found', await absence(store, network, dataset, nowTs));
    const removals = removalsOf(own, { removedTs: nowTs, untilTs: nowTs + seconds, reason });
    await store.removeListings(removals);
    await recordChangeAt(place, {
      action: 'listing.remove',
      subject: formatKeyNetwork(network),
      before: { listed: [...new Set(own.map(({ dataset, source }) => `${dataset} by ${source.name}`))] },
      after: { removed_until: nowTs + seconds, reason },
    });
    const wider = live.filter((one) => !isSame(one.network, network));
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

/** Also those of allowed and reserved networks: they count again when the exception ends. */
async function liveListings(
  store: Intelligence,
  network: KeyNetwork,
  { inside, nowTs }: { inside: boolean; nowTs: number },
): Promise<DescribedListing[]> {
  const all = await describeListings(store, network, { inside, covering: true, nowTs, allowReserved: true });
  return all.filter(({ state }) => state === 'live' || state === 'allowed');
}

function readFor(text: string): number {
  const seconds = parseSpan(text);
  if (seconds !== null) return seconds;
  throw new UsageError(`--for must be a number with s, m, h or d, such as 24h or 7d, not ${JSON.stringify(text)}`);
}

type Removal = Pick<ListingRemoval, 'removedTs' | 'untilTs' | 'reason'>;

/** One for each dataset and source: a source may have several listings of the network, with other families or ports. */
function removalsOf(listings: readonly DescribedListing[], removal: Removal): ListingRemoval[] {
  const distinct = new Map(listings.map((listing) => [`${listing.dataset} ${listing.source.id}`, listing]));
  return [...distinct.values()].map(({ network, dataset, source }) => ({
    ...{ network, dataset, sourceId: source.id },
    ...removal,
  }));
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

/** What to do about a network that has no live listing of its own. */
async function absence(
  store: Intelligence,
  network: KeyNetwork,
  dataset: AddressDataset | null,
  nowTs: number,
): Promise<string> {
  const name = formatKeyNetwork(network);
  const live = await liveListings(store, network, { inside: true, nowTs });
  const own = live.filter((one) => isSame(one.network, network));
  const wider = live.filter((one) => one.network.prefix < network.prefix);
  const narrower = live.filter((one) => one.network.prefix > network.prefix);
  const hints = [
    ...own.map((one) => `It is listed as ${listingText(one)}.`),
    ...wider.map((one) => `It is inside ${listingText(one)}. To exempt it: urlwarden allow add ${name}`),
    ...(narrower[0] === undefined ? [] : [insideText(narrower.length, narrower[0], name)]),
  ];
  const what = dataset === null ? 'has no live listing of its own' : `has no live listing in ${dataset}`;
  return [`${name} ${what}.`, ...hints, `For its history: urlwarden listing show ${name}`].join('\n');
}

function insideText(count: number, first: DescribedListing, name: string): string {
  const what = count === 1 ? 'one live listing' : `${countText(count)} live listings, such as`;
  return `It contains ${what} ${listingText(first)}. To exempt all of it: urlwarden allow add ${name}`;
}
