import type { Intelligence } from '../../app/stores.ts';
import { AppError } from '../../core/errors.ts';
import type { ListingEvidence } from '../../core/evidence.ts';
import { OPERATOR_SOURCE } from '../../core/evidence.ts';
import { formatKeyNetwork } from '../../core/ip/key-network.ts';
import { createNetworkSet } from '../../core/ip/network-set.ts';
import { foldFamily } from '../../core/text.ts';
import { toListing } from '../../ingest/evidence.ts';
import { PORT_MAX } from '../../ingest/listing-details.ts';
import { recordChangeAt } from '../audit-record.ts';
import { UsageError } from '../command.ts';
import { addingCommand } from '../data-command.ts';
import type { FlagValues } from '../define-command.ts';
import { INGEST_FLAGS, readIngestSettings } from '../ingest-settings.ts';
import { type DescribedListing, describeListings, isSame, listingJson } from '../listing-state.ts';
import { readDataset, readNetwork } from '../operator-input.ts';
import { timeText } from '../output.ts';
import { currentTs } from '../time.ts';
import type { Flags } from '../usage.ts';

const FLAGS = {
  dataset: { argument: 'NAME', meaning: 'XBL, CSS, BCL or DROP', isRequired: true },
  botname: { argument: 'FAMILY', meaning: 'malware family' },
  port: { argument: 'PORT', meaning: 'port of a botnet controller (dstport)' },
  heuristic: { argument: 'WORD', meaning: 'how it was found, one word' },
  abused: { meaning: 'a legitimate host that was broken into' },
  reason: { argument: 'TEXT', meaning: 'what was found; answers show it as detection' },
  'allow-reserved': INGEST_FLAGS['allow-reserved'],
} as const satisfies Flags;

export const listingAdd = addingCommand(
  {
    synopsis: 'listing add NETWORK --dataset NAME',
    about: `Lists an address or a network from now on, as evidence of the source ${OPERATOR_SOURCE}. It expires like any other listing,
after 7 days in XBL and BCL and 3 days in CSS and DROP, unless it is added again. Running servers apply it at once,
after urlwarden listing remove within five seconds.

Datasets:
  XBL    infected or attacking hosts
  CSS    spam sources
  BCL    botnet controllers
  DROP   networks under hostile control`,
    operands: ['NETWORK'],
    flags: FLAGS,
    examples: ['urlwarden listing add 203.0.113.7 --dataset BCL --botname Emotet --port 443'],
  },
  async (store, { operands: [text = ''], flags, place }) => {
    const nowTs = currentTs();
    const evidence = await readEvidence(store, text, flags, nowTs);
    await endOwnRemovals(store, evidence, nowTs);
    await store.applyListings([evidence]);
    const listing = await requireListing(store, evidence, nowTs);
    const json = listingJson(listing);
    const { dataset, botname, dstport, valid_until } = json;
    const after = { dataset, botname, dstport, valid_until, reason: flags.reason };
    await recordChangeAt(place, { action: 'listing.add', subject: json.network, after });
    return { text: `${json.network} is listed in ${json.dataset} until ${timeText(json.valid_until)}.\n`, json };
  },
);

/** Checked like a row of an import. */
async function readEvidence(
  store: Intelligence,
  text: string,
  flags: FlagValues<typeof FLAGS>,
  nowTs: number,
): Promise<ListingEvidence> {
  const network = readNetwork(text);
  const name = formatKeyNetwork(network);
  const { entries } = await store.addressLists();
  const allowed = createNetworkSet(entries.filter(({ as }) => as === 'allow').map((entry) => entry.network));
  if (allowed.covers(network)) {
    throw new UsageError(`${name}: on an allow list. To list it, take it off first: see urlwarden allow list`);
  }
  const evidence = toListing(
    {
      type: 'listing',
      ts: nowTs,
      network: name,
      dataset: readDataset(flags.dataset),
      botname: flags.botname,
      dstport: flags.port === undefined ? null : readPort(flags.port),
      details: { heuristic: flags.heuristic, abused: flags.abused, detection: flags.reason },
    },
    {
      source: OPERATOR_SOURCE,
      nowTs,
      allowReserved: readIngestSettings(flags).allowReserved,
      isAllowed: () => false,
    },
  );
  if (typeof evidence === 'string') throw new UsageError(evidence);
  return evidence;
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= PORT_MAX) return Number(text);
  throw new UsageError(`--port must be a number from 0 to ${PORT_MAX}, not ${JSON.stringify(text)}`);
}

/** An operator who lists a network again has changed their mind: the removal of their own listing ends now. */
async function endOwnRemovals(store: Intelligence, evidence: ListingEvidence, nowTs: number): Promise<void> {
  const own = (await ownListings(store, evidence, nowTs)).flatMap(({ removal }) => (removal === null ? [] : [removal]));
  const ended = own.filter(({ untilTs }) => untilTs >= nowTs).map((removal) => ({ ...removal, untilTs: nowTs - 1 }));
  if (ended.length > 0) await store.removeListings(ended);
}

/** Another process may have removed or allowed it meanwhile. */
async function requireListing(
  store: Intelligence,
  evidence: ListingEvidence,
  nowTs: number,
): Promise<DescribedListing> {
  const own = await ownListings(store, evidence, nowTs);
  const listed = own.find(
    ({ state, seenTs, port, family }) =>
      state === 'live' && seenTs >= nowTs && port === evidence.port && isSameFamily(family, evidence.family),
  );
  if (listed !== undefined) return listed;
  const name = formatKeyNetwork(evidence.network);
  throw new AppError('unavailable', `The listing was added, but it is not live. See: urlwarden listing show ${name}`);
}

function isSameFamily(a: string | null, b: string | null): boolean {
  return foldFamily(a ?? '') === foldFamily(b ?? '');
}

async function ownListings(
  store: Intelligence,
  { network, dataset }: ListingEvidence,
  nowTs: number,
): Promise<DescribedListing[]> {
  const place = { inside: false, covering: true };
  const listings = await describeListings(store, network, { ...place, nowTs, allowReserved: true });
  return listings.filter(
    (one) => one.source.name === OPERATOR_SOURCE && one.dataset === dataset && isSame(one.network, network),
  );
}
