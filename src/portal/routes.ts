import type { FastifyRequest } from 'fastify';
import { parseDomainName } from '../core/domain-name.ts';
import { AppError, badRequest } from '../core/errors.ts';
import { ADDRESS_DATASETS } from '../core/evidence.ts';
import { parseIp } from '../core/ip/address.ts';
import { KEY_BITS, type KeyNetwork } from '../core/ip/key-network.ts';
import { paths } from '../core/paths.ts';
import { DOMAIN_DATASET, URL_DATASET } from '../core/tier.ts';
import type { TimeWindow } from '../core/time.ts';
import { URL_ERRORS } from '../core/url/errors.ts';
import { type NormalizedUrl, normalizeUrl } from '../core/url/normalize.ts';
import { callerOf } from '../http/authenticate.ts';
import { withinBudget } from '../http/budget.ts';
import { type Caller, type Endpoint, json, type Parameter, type Route } from '../http/endpoint.ts';
import { JSON_TYPE } from '../http/errors.ts';
import { checkIfEmpty, linesOf, NDJSON, sendNdjson } from '../http/ndjson.ts';
import { limitParameter, queryString, readLimit, readWindow, sinceParameter, untilParameter } from '../http/query.ts';
import { MAX_INTEGER } from '../http/scalars.ts';
import { Type } from '../http/schema.ts';
import { daysParameter, readDays, toUsageByDay, UsageByDayResponse, usageDays } from '../limits/wire.ts';
import { NEWEST_URLS, type SearchKey, type UrlSummary } from '../urls/store.ts';
import { factsIn } from '../urls/wire.ts';
import { addressPage } from './address-page.ts';
import {
  AddressPageResponse,
  DomainPageResponse,
  OverviewResponse,
  SearchLine,
  UrlPageResponse,
  UrlQuery,
} from './schemas.ts';
import type { PortalServices } from './services.ts';
import { urlPage } from './url-page.ts';
import { networkFields, toWireNewest, unknownDomain } from './wire.ts';

/** What the pages need besides the public API. */
export function portalRoutes(services: PortalServices): Route[] {
  return [
    { endpoint: overview(services), access: 'account', charge: 'call' },
    { endpoint: usage(services), access: 'account', charge: 'call' },
    { endpoint: url(services), access: { dataset: URL_DATASET }, charge: 'query' },
    // The response has what the datasets of the account allow.
    { endpoint: address(services), access: 'account', charge: 'query' },
    { endpoint: network(services), access: 'account', charge: 'query' },
    { endpoint: domain(services), access: { dataset: DOMAIN_DATASET }, charge: 'query' },
    { endpoint: search(services), access: { dataset: URL_DATASET }, charge: 'query' },
  ];
}

type Page<Query> = Pick<
  Endpoint<Query>,
  'method' | 'path' | 'operationId' | 'summary' | 'parameters' | 'body' | 'read' | 'weight'
> & {
  schema: NonNullable<Endpoint['response']['schema']>;
  find(query: Query): Promise<object>;
};

/** An endpoint whose response is one JSON object. */
function pageEndpoint<Query>({ schema, find, ...page }: Page<Query>): Endpoint<Query> {
  return {
    ...page,
    response: json(schema),
    // A path whose parameter is empty does not exist.
    refusals: page.path.includes(':') ? ['not_found'] : [],
    async respond(query, { reply }, { queryBudgetMs }) {
      const body = await withinBudget(find(query), queryBudgetMs);
      reply.type(JSON_TYPE);
      return JSON.stringify(body);
    },
  };
}

const overview = ({ store, totals, freshness, feeds }: PortalServices) =>
  pageEndpoint<Caller>({
    method: 'GET',
    path: paths.portalOverview,
    operationId: 'portalOverview',
    summary: 'For the first page: totals, how fresh the data is, and the newest URLs; does not count as a query',
    schema: OverviewResponse,
    read: callerOf,
    async find({ limits }): Promise<OverviewResponse> {
      const { countedTs, urls, online, listings, domains, newestIds } = await totals();
      const [fresh, states, newest] = await Promise.all([
        freshness(),
        feeds(),
        limits.ads.includes(URL_DATASET) ? newestUrls(store, newestIds) : [],
      ]);
      return {
        counted_ts: countedTs,
        totals: { urls, online, listings, domains },
        newest_event_ts: fresh.newestEventTs,
        confirmed_ts: fresh.confirmedTs,
        feeds: states,
        newest: newest.map(toWireNewest),
      };
    },
  });

/**
 * Those that were stored since the last count are among the last ones. They alone would not do: a dump has its newest URLs
 * first, and its oldest ones would be shown.
 */
async function newestUrls(store: PortalServices['store'], countedIds: readonly number[]): Promise<UrlSummary[]> {
  const found = [...(await store.lastStoredUrls(NEWEST_URLS)), ...(await store.urlSummaries(countedIds))];
  const byId = new Map(found.map((summary) => [summary.id, summary]));
  return [...byId.values()].sort((a, b) => b.ts - a.ts || b.id - a.id).slice(0, NEWEST_URLS);
}

const usage = ({ counters, usageByDay }: PortalServices) =>
  pageEndpoint<Caller & { days: number }>({
    method: 'GET',
    path: paths.portalUsage,
    operationId: 'portalUsage',
    summary: 'The queries of the account by day, and of this month; does not count as a query',
    parameters: [daysParameter],
    schema: UsageByDayResponse,
    read: (request) => ({
      ...callerOf(request),
      days: readDays(request),
    }),
    async find({ account, limits, days }): Promise<UsageByDayResponse> {
      const reading = await counters.read(account.sub);
      const { fromDay, toDay } = usageDays(reading.ts, days);
      return toUsageByDay(await usageByDay(account.sub, fromDay, toDay), reading, limits, days);
    },
  });

type WithDatasets = { datasets: readonly string[] };

const datasetsOf = (request: FastifyRequest) => callerOf(request).limits.ads;

const url = (services: PortalServices) =>
  pageEndpoint<WithDatasets & { input: string; normal: NormalizedUrl }>({
    method: 'POST',
    path: paths.portalUrl,
    operationId: 'portalUrl',
    summary: 'Everything about one URL for one page; for an unknown URL, what is known about its host',
    body: UrlQuery,
    schema: UrlPageResponse,
    read(request) {
      const { url: input } = request.body as UrlQuery;
      const normal = normalizeUrl(input);
      if (!normal.ok) throw badRequest(`url: ${URL_ERRORS[normal.error]}`);
      return { input, normal, datasets: datasetsOf(request) };
    },
    find: ({ input, normal, datasets }) => urlPage(services, input, normal, datasets),
  });

type NetworkQuery = WithDatasets & { network: KeyNetwork; cost: number };

const PAGE_DATASETS = [...ADDRESS_DATASETS, URL_DATASET, DOMAIN_DATASET];

/** An account without any of them would pay for an empty response. */
function readPageDatasets(request: FastifyRequest): readonly string[] {
  const datasets = datasetsOf(request);
  if (PAGE_DATASETS.some((dataset) => datasets.includes(dataset))) return datasets;
  throw new AppError('forbidden', `None of the datasets ${PAGE_DATASETS.join(', ')} is part of this subscription`);
}

const ipParameter: Parameter = { in: 'path', name: 'ip', schema: Type.String(), description: 'IPv4 or IPv6 address.' };

const maskParameter: Parameter = {
  in: 'path',
  name: 'mask',
  schema: Type.Integer({ minimum: 0, maximum: 128 }),
  description: '24 to 32 for IPv4, 56 to 128 for IPv6.',
};

const address = (services: PortalServices) =>
  pageEndpoint<NetworkQuery>({
    method: 'GET',
    path: paths.portalAddress,
    operationId: 'portalAddress',
    summary: 'Everything about one address for one page, in the datasets of the account',
    parameters: [ipParameter],
    schema: AddressPageResponse,
    read(request) {
      const ip = parseIp((request.params as { ip: string }).ip);
      if (ip === null) throw badRequest('The address must be IPv4 or IPv6, such as 192.0.2.1');
      return { network: { ip, prefix: KEY_BITS }, cost: 1, datasets: readPageDatasets(request) };
    },
    find: ({ network, datasets }) => addressPage(services, network, datasets),
  });

const network = (services: PortalServices) =>
  pageEndpoint<NetworkQuery>({
    method: 'GET',
    path: paths.portalNetwork,
    operationId: 'portalNetwork',
    summary: 'Everything about a small network for one page, in the datasets of the account; counts as a search for it',
    parameters: [ipParameter, maskParameter],
    schema: AddressPageResponse,
    read(request) {
      const { ip, mask } = request.params as { ip: string; mask: string };
      const parsed = services.parseNetwork(ip, mask);
      if (!parsed.ok) throw badRequest(parsed.reason);
      return { network: parsed.network, cost: parsed.cost, datasets: readPageDatasets(request) };
    },
    weight: ({ cost }) => cost,
    find: ({ network, datasets }) => addressPage(services, network, datasets),
  });

const nameParameter: Parameter = {
  in: 'path',
  name: 'name',
  schema: Type.String(),
  description: 'A domain, or a name below it. Unicode or xn--, in any case.',
};

const REFUSALS = {
  not_a_name: 'The domain must be a DNS name such as example.com',
  address: 'The domain must be a name, not an address',
  suffix: 'This is a public suffix; ask for a domain one label below it',
} as const;

const domain = (services: PortalServices) =>
  pageEndpoint<string>({
    method: 'GET',
    path: paths.portalDomain,
    operationId: 'portalDomain',
    summary: 'Everything about one domain for one page; also about an unknown domain',
    parameters: [nameParameter],
    schema: DomainPageResponse,
    read(request) {
      const parsed = parseDomainName((request.params as { name: string }).name);
      if (!parsed.ok) throw badRequest(REFUSALS[parsed.reason]);
      return parsed.name.domain;
    },
    async find(name): Promise<DomainPageResponse> {
      const page = await services.domainPage(name);
      if (page === null) return unknownDomain(name);
      const addresses = page.addresses.map((one) => {
        const ip = parseIp(one.ip);
        return { ...one, ...(ip === null ? { asn: null, network: null } : networkFields({ ip, asn: null }, services)) };
      });
      return { ...page, known: true, addresses };
    },
  });

type SearchQuery = { key: SearchKey; window: TimeWindow; limit: number };

const search = (services: PortalServices): Endpoint<SearchQuery> => ({
  method: 'POST',
  path: paths.portalSearch,
  operationId: 'portalSearch',
  summary: 'The search for URLs, with the last status, the last family and the newest network of each URL',
  parameters: [sinceParameter, untilParameter, limitParameter()],
  body: services.search.body,
  response: { contentType: NDJSON, schema: SearchLine },
  refusals: ['not_found'],
  read: (request) => ({
    key: services.search.read(request.body),
    window: readWindow(queryString(request), services.now()),
    limit: readLimit(queryString(request)) ?? MAX_INTEGER,
  }),
  weight: ({ key }) => services.search.cost(key),
  respond({ key, window, limit }, exchange, options) {
    const lines = (signal: AbortSignal) =>
      linesOf(
        exchange.reply,
        searchPages(services, services.store.search(key, window, { limit, signal })),
        (line) => line,
      );
    return sendNdjson(exchange, (signal) => checkIfEmpty(lines(signal), services.search.refuse), options);
  },
});

async function* searchPages(services: PortalServices, pages: AsyncIterable<string>): AsyncGenerator<SearchLine[]> {
  for await (const page of pages) {
    const facts = factsIn(page);
    const ids = [...new Set(facts.map(({ id }) => id))];
    const byId = new Map((await services.store.urlSummaries(ids)).map((summary) => [summary.id, summary]));
    yield facts.map(({ ts, id, url: found }) => {
      const { status = null, family = null, address: seen = null } = byId.get(id) ?? {};
      const fields = seen === null ? { asn: null, network: null } : networkFields(seen, services);
      return { ts, id, url: found, status, family, ...fields };
    });
  }
}
