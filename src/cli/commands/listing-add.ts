import type { Intelligence } from '../../app/stores.ts';
import { ADDRESS_DATASETS, type ListingEvidence, OPERATOR_SOURCE } from '../../core/evidence.ts';
import { toOperatorListing } from '../../ingest/evidence.ts';
import { PORT_MAX } from '../../ingest/listing-details.ts';
import { addListing, refuseAllowed, requireLive } from '../../reputation/manage.ts';
import { recordChangeAt } from '../audit-record.ts';
import { UsageError } from '../command.ts';
import { addingCommand } from '../data-command.ts';
import type { FlagValues } from '../define-command.ts';
import { toUsage } from '../flag-values.ts';
import { INGEST_FLAGS, readIngestSettings } from '../ingest-settings.ts';
import { listingJson } from '../listing-output.ts';
import { readDataset, readNetwork } from '../operator-input.ts';
import { timeText } from '../output.ts';
import { currentTs } from '../time.ts';
import type { Flags } from '../usage.ts';

const FLAGS = {
  dataset: { argument: 'NAME', meaning: ADDRESS_DATASETS.join(', '), isRequired: true, values: ADDRESS_DATASETS },
  botname: { argument: 'FAMILY', meaning: 'malware family' },
  port: { argument: 'PORT', meaning: 'port of a botnet controller (dstport)' },
  heuristic: { argument: 'WORD', meaning: 'how it was found, one word' },
  abused: { meaning: 'a legitimate host that was broken into' },
  reason: { argument: 'TEXT', meaning: 'what was found; responses show it as detection' },
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
    const listing = await addListing(store, evidence, nowTs);
    const json = listingJson(listing);
    const { dataset, botname, dstport, valid_until } = json;
    const after = { dataset, botname, dstport, valid_until, reason: flags.reason };
    await recordChangeAt(place, { action: 'listing.add', subject: json.network, after });
    requireLive(listing);
    return { text: `${json.network} is listed in ${json.dataset} until ${timeText(json.valid_until)}.\n`, json };
  },
);

async function readEvidence(
  store: Intelligence,
  text: string,
  flags: FlagValues<typeof FLAGS>,
  nowTs: number,
): Promise<ListingEvidence> {
  const network = readNetwork(text);
  await refuseAllowed(store, network).catch(toUsage);
  const { botname, port, heuristic, abused, reason } = flags;
  const dstport = port === undefined ? null : readPort(port);
  const listed = { network, dataset: readDataset(flags.dataset), botname, dstport, heuristic, abused, reason };
  const evidence = toOperatorListing(listed, nowTs, readIngestSettings(flags).allowReserved);
  if (typeof evidence === 'string') throw new UsageError(evidence);
  return evidence;
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= PORT_MAX) return Number(text);
  throw new UsageError(`--port must be a number from 0 to ${PORT_MAX}, not ${JSON.stringify(text)}`);
}
