import { recordChange } from '../audit/request-record.ts';
import type { AuditStore } from '../audit/store.ts';
import { parseDomainName } from '../core/domain-name.ts';
import { AppError } from '../core/errors.ts';
import { ADDRESS_DATASETS, OPERATOR_SOURCE } from '../core/evidence.ts';
import { formatKeyNetwork, type KeyNetwork } from '../core/ip/key-network.ts';
import { paths } from '../core/paths.ts';
import { textFault } from '../core/text.ts';
import { refangHost } from '../core/url/refang.ts';
import type { Route } from '../http/endpoint.ts';
import { IntegerOrNull, StringOrNull, Timestamp } from '../http/scalars.ts';
import { type Static, Type } from '../http/schema.ts';
import { toListing, toNetwork } from '../ingest/evidence.ts';
import { PORT_MAX } from '../ingest/listing-details.ts';
import { type DescribedListing, describeListings, readLists } from '../reputation/listing-state.ts';
import {
  addListing,
  allowedNetworks,
  allowNetwork,
  HUMAN_MAX,
  isOwnEntry,
  REMOVAL_DEFAULT_SECONDS,
  refuseAllowed,
  removeAllowed,
  removeListing,
  setDomain,
} from '../reputation/manage.ts';
import {
  type DomainSettings,
  type ListingRemoval,
  type NetworkListEntry,
  type ReputationStore,
  URL_SOURCE,
} from '../reputation/store.ts';
import { adminRoute } from './route.ts';

export type ListAdminServices = {
  store: ReputationStore;
  control: Pick<AuditStore, 'addAudit' | 'auditEntries'>;
  /** Unix seconds. */
  now(): number;
  /** Reserved networks can be listed. */
  allowReserved: boolean;
};

/** Of each list in an answer: more than people set by hand and read on a page, and few enough for one statement. */
const MAX_ITEMS = 500;

export function listAdminRoutes(services: ListAdminServices): Route[] {
  return [
    domainList(services),
    domainSet(services),
    listingList(services),
    listingAdd(services),
    listingRemove(services),
    allowList(services),
    allowAdd(services),
    allowRemove(services),
  ];
}

const json = <Schema>(schema: Schema) => ({ contentType: 'application/json', schema });

const MAX_REASON = 1_000;
const Reason = Type.String({ maxLength: MAX_REASON });
const BooleanOrNull = Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] });
const Truncated = Type.Boolean({ description: `There are more than ${MAX_ITEMS}.` });

const SetDomain = Type.Object({
  domain: Type.String(),
  human: Type.Integer(),
  abused: BooleanOrNull,
  reason: Type.String(),
  set_ts: Timestamp,
});

const presentDomain = (domain: string, { human, isAbused, reason, setTs }: DomainSettings) => ({
  ...{ domain, human, abused: isAbused, reason, set_ts: setTs },
});

const domainList = ({ store }: ListAdminServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminDomains,
    operationId: 'adminDomains',
    summary: 'Domains that were set by hand, the newest first',
    response: json(Type.Object({ items: Type.Array(SetDomain), truncated: Truncated })),
    read: () => undefined,
    async answer() {
      const found = await store.setDomains(MAX_ITEMS + 1);
      // A domain without points whose abuse is decided by the data is as if it were never set.
      const items = found.filter(({ human, isAbused }) => human !== 0 || isAbused !== null);
      items.sort((a, b) => b.setTs - a.setTs || (a.name < b.name ? -1 : 1));
      return {
        items: items.slice(0, MAX_ITEMS).map(({ name, ...settings }) => presentDomain(name, settings)),
        truncated: found.length > MAX_ITEMS,
      };
    },
  });

const DomainSetRequest = Type.Object(
  {
    domain: Type.String(),
    human: Type.Optional(
      Type.Integer({ minimum: -HUMAN_MAX, maximum: HUMAN_MAX, description: 'Points added to the score; 0: none.' }),
    ),
    abused: Type.Optional(
      Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description: 'null: decide by the data.' }),
    ),
    reason: Type.Optional(Reason),
  },
  { additionalProperties: false },
);
type DomainSetRequest = Static<typeof DomainSetRequest>;

const domainSet = ({ store, control, now }: ListAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminDomains,
    operationId: 'adminDomainSet',
    summary: 'Sets what is known about a domain; what is not sent stays',
    body: DomainSetRequest,
    response: json(SetDomain),
    read(request) {
      const { domain, human, abused, reason } = request.body as DomainSetRequest;
      if (human === undefined && abused === undefined) throw refused('"human" or "abused" is missing');
      if (human !== undefined && !reason)
        throw refused('"reason" is missing: others will ask why the points were given');
      const change: Partial<DomainSettings> = {
        ...(human !== undefined && { human: human + 0 }),
        ...(abused !== undefined && { isAbused: abused }),
        ...(reason !== undefined && { reason: readReason(reason) }),
      };
      return { name: readDomain(domain), change };
    },
    async answer({ name, change }, { request }) {
      const { before, settings } = await setDomain(store, name, change, now());
      const fieldsOf = ({ human, isAbused, reason }: DomainSettings) => ({ human, abused: isAbused, reason });
      await recordChange(control, request, {
        action: 'domain.set',
        subject: name,
        before: before === null ? {} : fieldsOf(before),
        after: fieldsOf(settings),
      });
      return presentDomain(name, settings);
    },
  });

const NO_DOMAIN = {
  not_a_name: 'is not the name of a domain',
  address: 'is an address, not a domain',
  suffix: 'is a public suffix: domains are below it',
} as const;

/** Also defanged: a registrable domain. */
function readDomain(text: string): string {
  const parsed = parseDomainName(refangHost(text));
  if (!parsed.ok) throw refused(`${JSON.stringify(text)} ${NO_DOMAIN[parsed.reason]}`);
  const { hostname, domain } = parsed.name;
  if (hostname !== domain) throw refused(`${hostname} is a name below ${domain}: give the domain ${domain}`);
  return domain;
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
  ...{ cidr: formatKeyNetwork(network), dataset, source, removed_ts: removedTs, until_ts: untilTs, reason },
});

const ListingsResponse = Type.Object({
  added: Type.Array(AddedListing),
  added_truncated: Truncated,
  removed: Type.Array(RemovedListing),
  removed_truncated: Truncated,
});

const listingList = (services: ListAdminServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminListings,
    operationId: 'adminListings',
    summary: 'Listings that were added by hand and have not expired, and removals in force; the newest first',
    response: json(ListingsResponse),
    read: () => undefined,
    async answer() {
      const [added, removed] = await Promise.all([addedListings(services), removalsInForce(services)]);
      return {
        ...{ added: added.listings.map(presentListing), added_truncated: added.isTruncated },
        ...{ removed: removed.slice(0, MAX_ITEMS), removed_truncated: removed.length > MAX_ITEMS },
      };
    },
  });

/**
 * By the audit log, which has every network that was listed by hand: an index of listings by source would cost time in
 * every import. Listings by hand expire after days, long before their entries.
 */
async function addedListings({ store, control, now, allowReserved }: ListAdminServices) {
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

async function removalsInForce({ store, now }: ListAdminServices) {
  const nowTs = now();
  const [{ removals }, names] = await Promise.all([store.addressLists(), store.sourceNames()]);
  const nameOf = (id: number) => (id === URL_SOURCE.id ? URL_SOURCE.name : (names.get(id) ?? ''));
  return removals
    .filter(({ untilTs }) => untilTs >= nowTs)
    .sort((a, b) => b.removedTs - a.removedTs)
    .map((removal) => presentRemoval(removal, nameOf(removal.sourceId)));
}

const Dataset = Type.Enum([...ADDRESS_DATASETS]);

const ListingAddRequest = Type.Object(
  {
    cidr: Type.String(),
    dataset: Dataset,
    botname: Type.Optional(Type.String()),
    port: Type.Optional(Type.Integer({ minimum: 0, maximum: PORT_MAX })),
    heuristic: Type.Optional(Type.String()),
    abused: Type.Optional(Type.Boolean({ description: 'A legitimate host that was broken into.' })),
    reason: Type.Optional(Reason),
  },
  { additionalProperties: false },
);
type ListingAddRequest = Static<typeof ListingAddRequest>;

const listingAdd = ({ store, control, now, allowReserved }: ListAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminListings,
    operationId: 'adminListingAdd',
    summary: 'Lists an address or a network from now on, until it expires',
    body: ListingAddRequest,
    response: json(AddedListing),
    read: (request) => {
      const sent = request.body as ListingAddRequest;
      return { sent, network: readNetwork(sent.cidr) };
    },
    async answer({ sent, network }, { request }) {
      const nowTs = now();
      await refuseAllowed(store, network);
      const { dataset, botname, port, heuristic, abused, reason } = sent;
      const details = { heuristic, abused: abused || undefined, detection: reason };
      const evidence = toListing(
        {
          ...{ type: 'listing', ts: nowTs, network: formatKeyNetwork(network), dataset, botname, details },
          dstport: port ?? null,
        },
        { source: OPERATOR_SOURCE, nowTs, allowReserved, isAllowed: () => false },
      );
      if (typeof evidence === 'string') throw refused(evidence);
      const listing = await addListing(store, evidence, nowTs);
      const { family, validUntilTs: valid_until } = listing;
      const after = { dataset, botname: family ?? undefined, dstport: port, valid_until, reason };
      await recordChange(control, request, { action: 'listing.add', subject: formatKeyNetwork(network), after });
      return presentListing(listing);
    },
  });

/** As long as a source may be wrong without being removed. */
const REMOVAL_MAX_SECONDS = 3_660 * 86_400;

const ListingRemoveRequest = Type.Object(
  {
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
  },
  { additionalProperties: false },
);
type ListingRemoveRequest = Static<typeof ListingRemoveRequest>;

const listingRemove = ({ store, control, now }: ListAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminListingsRemove,
    operationId: 'adminListingRemove',
    summary: 'Removes the live listings of exactly this address or network',
    body: ListingRemoveRequest,
    response: json(
      Type.Object({
        cidr: Type.String(),
        removed: Type.Array(RemovedListing),
        still_covered_by: Type.Array(Type.String()),
      }),
    ),
    refusals: ['not_found'],
    read(request) {
      const { cidr, dataset, for_seconds: seconds, reason = '' } = request.body as ListingRemoveRequest;
      const question = { network: readNetwork(cidr), dataset: dataset ?? null };
      return { question, seconds: seconds ?? REMOVAL_DEFAULT_SECONDS, reason: readReason(reason) };
    },
    async answer({ question, seconds, reason }, { request }) {
      const nowTs = now();
      const removal = { removedTs: nowTs, untilTs: nowTs + seconds, reason };
      const { removed, removals, wider } = await removeListing(store, question, removal);
      const cidr = formatKeyNetwork(question.network);
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

const AllowEntry = Type.Object({
  cidr: Type.String(),
  source: Type.String({ description: `${OPERATOR_SOURCE}: added by hand; otherwise the name of an imported list.` }),
  ts: Timestamp,
  reason: Type.String(),
});

const presentEntry = ({ network, source, ts, reason }: NetworkListEntry) => ({
  ...{ cidr: formatKeyNetwork(network), source, ts, reason },
});

const allowList = ({ store }: ListAdminServices) =>
  adminRoute({
    method: 'GET',
    path: paths.adminAllow,
    operationId: 'adminAllow',
    summary: 'Networks that are never listed: those added by hand, then those of imported lists',
    response: json(Type.Object({ items: Type.Array(AllowEntry), truncated: Truncated })),
    read: () => undefined,
    async answer() {
      const entries = await allowedNetworks(store);
      const items = [...entries.filter(isOwnEntry), ...entries.filter((entry) => !isOwnEntry(entry))];
      return { items: items.slice(0, MAX_ITEMS).map(presentEntry), truncated: items.length > MAX_ITEMS };
    },
  });

const AllowAddRequest = Type.Object(
  { cidr: Type.String(), reason: Type.Optional(Reason) },
  { additionalProperties: false },
);

const allowAdd = ({ store, control, now }: ListAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminAllow,
    operationId: 'adminAllowAdd',
    summary: 'Never lists an address or a network, whatever a source says',
    body: AllowAddRequest,
    response: json(AllowEntry),
    read(request) {
      const { cidr, reason = '' } = request.body as Static<typeof AllowAddRequest>;
      return { network: readNetwork(cidr), reason: readReason(reason) };
    },
    async answer({ network, reason }, { request }) {
      const { entry, before } = await allowNetwork(store, { network, reason, ts: now() });
      const change = { before: before === null ? {} : { reason: before.reason }, after: { reason } };
      await recordChange(control, request, { action: 'allow.add', subject: formatKeyNetwork(network), ...change });
      return presentEntry(entry);
    },
  });

const AllowRemoveRequest = Type.Object({ cidr: Type.String() }, { additionalProperties: false });

const allowRemove = ({ store, control }: ListAdminServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminAllowRemove,
    operationId: 'adminAllowRemove',
    summary: 'Takes exactly this network off all allow lists; the next import of a list adds its entry again',
    body: AllowRemoveRequest,
    response: json(Type.Object({ items: Type.Array(AllowEntry) })),
    refusals: ['not_found'],
    read: (request) => readNetwork((request.body as Static<typeof AllowRemoveRequest>).cidr),
    async answer(network, { request }) {
      const removed = await removeAllowed(store, network);
      const before = { sources: removed.map(({ source }) => source) };
      await recordChange(control, request, { action: 'allow.remove', subject: formatKeyNetwork(network), before });
      return { items: removed.map(presentEntry) };
    },
  });

/** Also defanged, within the width of networks that can be listed. Host bits are cleared. */
function readNetwork(text: string): KeyNetwork {
  const network = toNetwork(refangHost(text));
  if (typeof network !== 'string') return network;
  throw refused(`"cidr" must be like 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32. ${network}`);
}

function readReason(text: string): string {
  const fault = textFault(text);
  if (fault !== null) throw refused(`"reason": ${fault}`);
  return text;
}

const refused = (message: string): AppError => new AppError('bad_request', message);
