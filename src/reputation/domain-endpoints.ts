import type { FastifyRequest } from 'fastify';
import { then } from '../core/awaitable.ts';
import { parseDomainName } from '../core/domain-name.ts';
import { badRequest } from '../core/errors.ts';
import { ADDRESS_DATASETS } from '../core/evidence.ts';
import { paths } from '../core/paths.ts';
import { withinBudget } from '../http/budget.ts';
import type { Endpoint, Parameter } from '../http/endpoint.ts';
import { createLookupResponder } from '../http/errors.ts';
import { limitParameter, queryString, readLimit } from '../http/query.ts';
import { type Schema, Type } from '../http/schema.ts';
import { abusedDecision } from './abused.ts';
import type { AddressReport } from './address-report.ts';
import { type DomainReport, type FindListings, findDomain, listedAddresses } from './domain-report.ts';
import {
  AddressesResponse,
  ContextsResponse,
  DimensionsResponse,
  DomainResponse,
  ExplanationResponse,
  FilesResponse,
  HostnamesResponse,
  ListingResponse,
  OverviewResponse,
  SendersResponse,
  ServersResponse,
  UrlsResponse,
} from './schemas.ts';
import type { DomainState, ReputationStore } from './store.ts';
import {
  toWireAddress,
  toWireContexts,
  toWireDomain,
  toWireExplanation,
  toWireFile,
  toWireHostname,
  toWireListing,
  toWireOverview,
  toWireSender,
  toWireServers,
  toWireUrl,
} from './wire.ts';

type Services = { store: ReputationStore; addresses: Pick<AddressReport, 'liveListings'>; now(): number };

const DEFAULT_RECORDS = 1_000;
const MAX_RECORDS = 10_000;

type View = {
  /** Also the name of its path. */
  operationId: keyof typeof paths;
  summary: string;
  schema: Schema;
} & (
  | { view(report: DomainReport, limit: number): unknown }
  /** Without the score, which needs the listings of all addresses. */
  | { rows(state: DomainState, limit: number): Promise<unknown> }
);

export function domainEndpoints({ store, addresses, now }: Services): Endpoint<Query>[] {
  const parts: Parts = { store, now, findListings: (ip) => addresses.liveListings(ip, ADDRESS_DATASETS, now()) };
  return [
    ...scoreViews.map((view) => domainEndpoint(parts, view, false)),
    ...arrayViews(parts).map((view) => domainEndpoint(parts, view, true)),
  ];
}

type Parts = Pick<Services, 'store' | 'now'> & { findListings: FindListings };

const scoreViews: readonly View[] = [
  {
    operationId: 'domain',
    summary: 'What is known about a domain, and its score',
    schema: DomainResponse,
    view: toWireDomain,
  },
  {
    operationId: 'domainOverview',
    summary: 'The same with the dimensions of the score',
    schema: OverviewResponse,
    view: toWireOverview,
  },
  {
    operationId: 'domainDimensions',
    summary: 'The dimensions of the score, whose sum it is',
    schema: DimensionsResponse,
    view: ({ dimensions }) => dimensions,
  },
  {
    operationId: 'domainListing',
    summary: 'Whether a domain is listed, and until when without new evidence',
    schema: ListingResponse,
    view: toWireListing,
  },
  {
    operationId: 'domainExplain',
    summary: 'Why a domain has its score: reasons whose points add up to it',
    schema: ExplanationResponse,
    view: toWireExplanation,
  },
];

const arrayViews = ({ store, findListings, now }: Parts): View[] => [
  {
    operationId: 'domainContexts',
    summary: 'Where data about a domain come from',
    schema: ContextsResponse,
    view: (report, limit) => toWireContexts(report).slice(0, limit),
  },
  {
    operationId: 'domainSenders',
    summary: 'Addresses that sent mail for a domain',
    schema: SendersResponse,
    async rows({ id }, limit) {
      const senders = await store.domainSenders(id, limit);
      const listed = await listedOf(senders, findListings);
      return senders.map((sender) => toWireSender(sender, listed));
    },
  },
  {
    operationId: 'domainServers',
    summary: 'The name servers of a domain',
    schema: ServersResponse,
    view: (report, limit) => toWireServers(report).slice(0, limit),
  },
  {
    operationId: 'domainAddresses',
    summary: 'The addresses of a domain and of the hosts of its URLs',
    schema: AddressesResponse,
    async rows({ id }, limit) {
      const addresses = await store.domainAddresses(id, limit);
      const listed = await listedOf(addresses, findListings);
      return addresses.map((address) => toWireAddress(address, listed));
    },
  },
  {
    operationId: 'domainHostnames',
    summary: 'The host names of a domain, and whether each is listed for its own evidence',
    schema: HostnamesResponse,
    async rows(state, limit) {
      const isAbused = abusedDecision(state)?.isAbused ?? false;
      const hosts = await store.domainHostnames(state.id, limit);
      return hosts.map((host) => toWireHostname(host, isAbused, now()));
    },
  },
  {
    operationId: 'domainUrls',
    summary: 'The malware URLs of a domain',
    schema: UrlsResponse,
    rows: async ({ id }, limit) => (await store.domainUrls(id, limit)).map(toWireUrl),
  },
  {
    operationId: 'domainFiles',
    summary: 'The files that URLs of a domain served',
    schema: FilesResponse,
    rows: async ({ id }, limit) => (await store.domainFiles(id, limit)).map(toWireFile),
  },
];

function listedOf(rows: readonly { ip: Uint8Array }[], findListings: FindListings) {
  return listedAddresses(
    rows.map(({ ip }) => ip),
    findListings,
  );
}

const domainParameter: Parameter = {
  in: 'path',
  name: 'domain',
  schema: Type.String(),
  description: 'A registrable domain: one label below a public suffix. Unicode or xn--, in any case.',
};

const respondToLookup = createLookupResponder('This domain is not known');

type Query = { name: string; limit: number };

/** `isArray`: the response is an array with a limit. */
function domainEndpoint(parts: Parts, view: View, isArray: boolean): Endpoint<Query> {
  const { operationId, summary, schema } = view;
  return {
    method: 'GET',
    path: paths[operationId],
    operationId,
    summary,
    parameters: isArray ? [domainParameter, limitParameter(DEFAULT_RECORDS, MAX_RECORDS)] : [domainParameter],
    response: { contentType: 'application/json', schema },
    refusals: ['not_found'],
    read: (request) => ({
      name: readDomain(request),
      limit: (isArray && readLimit(queryString(request), MAX_RECORDS)) || DEFAULT_RECORDS,
    }),
    async respond(query, { reply }, { queryBudgetMs }) {
      const found = bodyOf(parts, view, query);
      const body = found instanceof Promise ? await withinBudget(found, queryBudgetMs) : found;
      return respondToLookup(reply, body === null ? null : JSON.stringify(body));
    },
  };
}

/** Null: the domain is unknown. Not a promise if the store answers without one. */
function bodyOf({ store, findListings, now }: Parts, view: View, { name, limit }: Query): unknown {
  if ('rows' in view) return rowsOf(store, view.rows, name, limit);
  return then(findDomain(store, findListings, name, now()), (report) =>
    report === null ? null : view.view(report, limit),
  );
}

async function rowsOf(
  store: ReputationStore,
  rows: (state: DomainState, limit: number) => Promise<unknown>,
  name: string,
  limit: number,
): Promise<unknown> {
  const state = await store.domainState(name);
  return state === null ? null : rows(state, limit);
}

const REFUSALS = {
  not_a_name: 'The domain must be a DNS name such as example.com',
  address: 'The domain must be a name, not an address; ask for addresses under /api/intel/v1/byobject/cidr',
  suffix: 'This is a public suffix; ask for a domain one label below it',
} as const;

function readDomain(request: FastifyRequest): string {
  const parsed = parseDomainName((request.params as { domain: string }).domain);
  if (!parsed.ok) throw badRequest(REFUSALS[parsed.reason]);
  const { hostname, domain } = parsed.name;
  if (hostname === domain) return domain;
  throw badRequest(`${hostname} is a name below a registrable domain; ask for ${domain}`);
}
