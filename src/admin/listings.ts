import { recordChange } from '../audit/request-record.ts';
import { badRequest } from '../core/errors.ts';
import { ADDRESS_DATASETS, OPERATOR_SOURCE } from '../core/evidence.ts';
import { formatKeyNetwork } from '../core/ip/key-network.ts';
import { paths } from '../core/paths.ts';
import { json, type Route } from '../http/endpoint.ts';
import { IntegerOrNull, StringOrNull, Timestamp } from '../http/scalars.ts';
import { type Static, Type } from '../http/schema.ts';
import { toNetwork, toOperatorListing } from '../ingest/evidence.ts';
import { PORT_MAX } from '../ingest/listing-details.ts';
import { type DescribedListing, describeListings, readLists } from '../reputation/listing-state.ts';
import {
  addListing,
  REMOVAL_DEFAULT_SECONDS,
  refuseAllowed,
  removeListing,
  requireLive,
} from '../reputation/manage.ts';
import { type ListingRemoval, URL_SOURCE } from '../reputation/store.ts';
import { type ByHandServices, MAX_ITEMS, Reason, readNetwork, readReason, Truncated } from './by-hand.ts';
import { adminRoute } from './route.ts';

export function listingAdminRoutes(services: ByHandServices): Route[] {
  return [listingList(services), listingAdd(services), listingRemove(services)];
}

const AddedListing = Type.Object({
  cidr: Type.String(),
  dataset: Type.String(),
  state: Type.String({ description: 'live, expired, removed, allowed or reserved.' }),
  botname: StringOrNull,
  port: IntegerOrNull,
  details: Type.Object({}, { additionalProperties: true }),
  listed_ts: Timestamp,
  seen_ts: Timestamp,
  valid_until_ts: Timestamp,
});
export type AddedListing = Static<typeof AddedListing> & { details: Record<string, unknown> };

const presentListing = (listing: DescribedListing) => ({
  cidr: formatKeyNetwork(listing.network),
  dataset: listing.dataset,
  state: listing.state,
  botname: listing.family,
  port: listing.port,
  details: listing.details === '' ? {} : JSON.parse(listing.details),
  listed_ts: listing.listedTs,
  seen_ts: listing.seenTs,
  valid_until_ts: listing.validUntilTs,
});

const RemovedListing = Type.Object({
  cidr: Type.String(),
  dataset: Type.String(),
  source: Type.String(),
  removed_ts: Timestamp,
  until_ts: Timestamp,
  reason: Type.String(),
});

const presentRemoval = ({ network, dataset, removedTs, untilTs, reason }: ListingRemoval, source: string) => ({
  cidr: formatKeyNetwork(network),
  dataset,
  source,
  removed_ts: removedTs,
  until_ts: untilTs,
  reason,
});

const ListingsResponse = Type.Object({
  added: Type.Array(AddedListing),
  added_truncated: Truncated,
  removed: Type.Array(RemovedListing),
  removed_truncated: Truncated,
});
export type ListingsResponse = Static<typeof ListingsResponse> & { added: AddedListing[] };

const listingList = (services: ByHandServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminListings,
    operationId: 'adminListings',
    summary: 'Listings that were added by hand and have not expired, and removals in force; the newest first',
    response: json(ListingsResponse),
    read: () => undefined,
    async respond() {
      const [added, removed] = await Promise.all([addedListings(services), removalsInForce(services)]);
      return {
        added: added.listings.map(presentListing),
        added_truncated: added.isTruncated,
        removed: removed.slice(0, MAX_ITEMS),
        removed_truncated: removed.length > MAX_ITEMS,
      };
    },
  });

/**
 * By the audit log, which has every network that was listed by hand: an index of listings by source would cost time in
 * every import. Listings by hand expire after days, long before their entries.
 */
async function addedListings({ store, control, now, allowReserved }: ByHandServices) {
  const nowTs = now();
  const lists = await readLists(store);
  const entries = await control.auditEntries({
    sinceTs: nowTs - lists.longestLifeSeconds,
    untilTs: Number.MAX_SAFE_INTEGER,
    subject: null,
    action: 'listing.add',
    limit: MAX_ITEMS,
  });
  const found: DescribedListing[] = [];
  for (const subject of new Set(entries.map((entry) => entry.subject))) {
    const network = toNetwork(subject);
    if (typeof network === 'string') continue;
    const options = { inside: false, covering: false, nowTs, allowReserved, lists };
    found.push(...(await describeListings(store, network, options)));
  }
  const listings = found.filter(({ source, state }) => source.name === OPERATOR_SOURCE && state !== 'expired');
  listings.sort((a, b) => b.seenTs - a.seenTs);
  return { listings, isTruncated: entries.length === MAX_ITEMS };
}

async function removalsInForce({ store, now }: ByHandServices) {
  const nowTs = now();
  const [{ removals }, names] = await Promise.all([store.addressLists(), store.sourceNames()]);
  const nameOf = (id: number) => (id === URL_SOURCE.id ? URL_SOURCE.name : (names.get(id) ?? ''));
  return removals
    .filter(({ untilTs }) => untilTs >= nowTs)
    .sort((a, b) => b.removedTs - a.removedTs)
    .map((removal) => presentRemoval(removal, nameOf(removal.sourceId)));
}

const Dataset = Type.Enum([...ADDRESS_DATASETS]);

const ListingAddRequest = Type.Closed({
  cidr: Type.String(),
  dataset: Dataset,
  botname: Type.Optional(Type.String()),
  port: Type.Optional(Type.Integer({ minimum: 0, maximum: PORT_MAX })),
  heuristic: Type.Optional(Type.String()),
  abused: Type.Optional(Type.Boolean({ description: 'A legitimate host that was broken into.' })),
  reason: Type.Optional(Reason),
});
type ListingAddRequest = Static<typeof ListingAddRequest>;

const listingAdd = ({ store, control, now, allowReserved }: ByHandServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminListings,
    operationId: 'adminListingAdd',
    summary: 'List an address or a network from now on, until it expires',
    body: ListingAddRequest,
    response: json(AddedListing),
    refusals: ['conflict'],
    read: (request) => {
      const sent = request.body as ListingAddRequest;
      return { sent, network: readNetwork(sent.cidr) };
    },
    async respond({ sent, network }, { request }) {
      const nowTs = now();
      await refuseAllowed(store, network);
      const { dataset, botname, port: dstport, heuristic, abused, reason } = sent;
      const listed = { network, dataset, botname, dstport, heuristic, abused, reason };
      const evidence = toOperatorListing(listed, nowTs, allowReserved);
      if (typeof evidence === 'string') throw badRequest(evidence);
      const listing = await addListing(store, evidence, nowTs);
      const { family, validUntilTs: valid_until } = listing;
      const after = { dataset, botname: family ?? undefined, dstport, valid_until, reason };
      await recordChange(control, request, { action: 'listing.add', subject: formatKeyNetwork(network), after });
      requireLive(listing);
      return presentListing(listing);
    },
  });

/** As long as a source may be wrong without being removed. */
const REMOVAL_MAX_SECONDS = 3_660 * 86_400;

const ListingRemoveRequest = Type.Closed({
  cidr: Type.String(),
  dataset: Type.Optional(Dataset),
  for_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: REMOVAL_MAX_SECONDS,
      default: REMOVAL_DEFAULT_SECONDS,
      description: 'How long the same sources do not list it again.',
    }),
  ),
  reason: Type.Optional(Reason),
});
type ListingRemoveRequest = Static<typeof ListingRemoveRequest>;

const RemovalResponse = Type.Object({
  cidr: Type.String(),
  removed: Type.Array(RemovedListing),
  still_covered_by: Type.Array(Type.String()),
});
export type RemovalResponse = Static<typeof RemovalResponse>;

const listingRemove = ({ store, control, now }: ByHandServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminListingsRemove,
    operationId: 'adminListingRemove',
    summary: 'Remove the live listings of exactly this address or network',
    body: ListingRemoveRequest,
    response: json(RemovalResponse),
    refusals: ['not_found'],
    read(request) {
      const { cidr, dataset, for_seconds: seconds, reason = '' } = request.body as ListingRemoveRequest;
      const query = { network: readNetwork(cidr), dataset: dataset ?? null };
      return { query, seconds: seconds ?? REMOVAL_DEFAULT_SECONDS, reason: readReason(reason) };
    },
    async respond({ query, seconds, reason }, { request }) {
      const nowTs = now();
      const removal = { removedTs: nowTs, untilTs: nowTs + seconds, reason };
      const { removed, removals, wider } = await removeListing(store, query, removal);
      const cidr = formatKeyNetwork(query.network);
      await recordChange(control, request, {
        action: 'listing.remove',
        subject: cidr,
        before: { listed: [...new Set(removed.map(({ dataset, source }) => `${dataset} by ${source.name}`))] },
        after: { removed_until: nowTs + seconds, reason },
      });
      const nameOf = (id: number) => removed.find(({ source }) => source.id === id)?.source.name ?? '';
      return {
        cidr,
        removed: removals.map((one) => presentRemoval(one, nameOf(one.sourceId))),
        still_covered_by: wider.map(({ network }) => formatKeyNetwork(network)),
      };
    },
  });
