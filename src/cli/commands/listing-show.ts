import type { Intelligence } from '../../app/stores.ts';
import { containsNetwork, formatKeyNetwork, type KeyNetwork } from '../../core/ip/key-network.ts';
import { createFamilySets } from '../../core/ip/network-set.ts';
import { isReserved } from '../../core/ip/reserved.ts';
import { type DescribedListing, describeListings } from '../../reputation/listing-state.ts';
import { type ListingRemoval, type NetworkListEntry, URL_SOURCE } from '../../reputation/store.ts';
import { parseSearchKey } from '../../urls/search-key.ts';
import { factsIn } from '../../urls/wire.ts';
import { intelligenceCommand } from '../data-command.ts';
import { INGEST_FLAGS, readIngestSettings } from '../ingest-settings.ts';
import { entryJson, listingJson } from '../listing-output.ts';
import { readNetwork } from '../operator-input.ts';
import { fitTerminal, table, timeText } from '../output.ts';
import { currentTs } from '../time.ts';

export const listingShow = intelligenceCommand(
  {
    synopsis: 'listing show NETWORK',
    about: `Shows everything that is stored about an address or a network: its listings, those of networks that contain it
and those inside it, live or ended, with the source, the times and the reason; the allow lists and lists of shared
networks that it is on; and the newest URLs of an address that is listed because of them. The newest listing is first.

States of a listing:
  live       responses contain it
  expired    its source has not named it again in time
  removed    by urlwarden listing remove
  allowed    an allow list contains it: see urlwarden allow list
  reserved   private, documentation and other reserved networks are not listed`,
    operands: ['NETWORK'],
    flags: { 'allow-reserved': INGEST_FLAGS['allow-reserved'] },
    examples: ['urlwarden listing show 203.0.113.7', 'urlwarden listing show 203.0.113.0/24 --json'],
  },
  async (store, { operands: [text = ''], flags }) => {
    const network = readNetwork(text);
    const { allowReserved } = readIngestSettings(flags);
    const place = { inside: true, covering: true };
    const listings = await describeListings(store, network, { ...place, nowTs: currentTs(), allowReserved });
    const { entries } = await store.addressLists();
    const related = entries.filter(
      (entry) => containsNetwork(entry.network, network) || containsNetwork(network, entry.network),
    );
    const urls = listings.some(({ source }) => source.id === URL_SOURCE.id) ? await newestUrls(store, network) : [];
    const name = formatKeyNetwork(network);
    return {
      text: [
        listingsText(name, listings),
        entriesText(related),
        urlsText(urls),
        fitTerminal(exceptionText(network, related, allowReserved), process.stdout),
      ].join(''),
      json: { network: name, listings: listings.map(listingJson), lists: related.map(entryJson), urls },
    };
  },
);

type UrlFact = { ts: number; url: string };

/** URLs that are shown for a listing that follows from them. */
const URLS_SHOWN = 5;
/** An address rarely has more; beyond it, some URLs are shown that are not the newest. */
const MAX_FACTS = 10_000;

/** The newest URLs whose host is this address; none for a network. */
async function newestUrls(store: Intelligence, network: KeyNetwork): Promise<UrlFact[]> {
  const parsed = parseSearchKey('host', formatKeyNetwork(network));
  if (!parsed.ok) return [];
  const bounds = { limit: MAX_FACTS, signal: new AbortController().signal };
  const newest = new Map<string, number>();
  for await (const page of store.search(parsed.key, { since: 0, until: currentTs() }, bounds)) {
    for (const { ts, url } of factsIn(page)) newest.set(url, Math.max(ts, newest.get(url) ?? 0));
  }
  const urls = [...newest].map(([url, ts]) => ({ ts, url })).sort((a, b) => b.ts - a.ts || (a.url < b.url ? -1 : 1));
  return urls.slice(0, URLS_SHOWN);
}

function urlsText(urls: readonly UrlFact[]): string {
  if (urls.length === 0) return '';
  const heading = `URL (the newest ${URLS_SHOWN} at most)`;
  const rows = urls.map(({ ts, url }) => [timeText(ts), url]);
  return `\n${table(['SEEN', heading], rows, { shortened: [heading] })}`;
}

/** Why no response about the network itself contains a listing, not even a wider one. */
function exceptionText(network: KeyNetwork, entries: readonly NetworkListEntry[], allowReserved: boolean): string {
  const name = formatKeyNetwork(network);
  const allowed = entries.filter((entry) => entry.as === 'allow').map((entry) => entry.network);
  if (createFamilySets(allowed).covers(network)) {
    return `\n${name} is on an allow list, so no response about it contains a listing.\n`;
  }
  if (allowReserved || !isReserved(network)) return '';
  return `\n${name} is reserved, so no response about it contains a listing, unless --allow-reserved is set.\n`;
}

function listingsText(name: string, listings: readonly DescribedListing[]): string {
  if (listings.length === 0) return `${name} is not listed, and was not.\n`;
  const rows = listings.map(({ network, dataset, source, state }) => [
    formatKeyNetwork(network),
    dataset,
    source.name,
    state,
  ]);
  const notes = listings.map(listingNotes);
  return table(['NETWORK', 'DATASET', 'SOURCE', 'STATE'], rows, { shortened: ['SOURCE'], notes });
}

function listingNotes({ family, port, listedTs, seenTs, validUntilTs, removal, details }: DescribedListing): string[] {
  const target = [...(family === null ? [] : [family]), ...(port === null ? [] : [`port ${port}`])];
  return [
    ...(target.length === 0 ? [] : [target.join(', ')]),
    `listed ${timeText(listedTs)}, seen ${timeText(seenTs)}`,
    `valid until ${timeText(validUntilTs)}`,
    ...(removal === null ? [] : [removalText(removal)]),
    ...(details === '' ? [] : [details]),
  ];
}

function removalText({ removedTs, untilTs, reason }: ListingRemoval): string {
  const why = reason === '' ? '' : `: ${reason}`;
  return `removed ${timeText(removedTs)} until ${timeText(untilTs)}${why}`;
}

function entriesText(entries: readonly NetworkListEntry[]): string {
  if (entries.length === 0) return '';
  const rows = entries.map(({ as, network, source }) => [as, formatKeyNetwork(network), source]);
  const notes = entries.map(({ ts, reason }) => [`since ${timeText(ts)}${reason === '' ? '' : `: ${reason}`}`]);
  return `\n${table(['LIST', 'NETWORK', 'SOURCE'], rows, { shortened: ['SOURCE'], notes })}`;
}
