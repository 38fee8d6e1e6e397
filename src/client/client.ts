import { type BulkOptions, bulk } from './bulk.ts';
import { BadRequestError } from './errors.ts';
import { type ClientOptions, createTransport, type Transport } from './transport.ts';
import type {
  AddressDataset,
  AddressRecords,
  BulkInput,
  BulkLine,
  BulkView,
  Domain,
  DomainAddress,
  DomainContext,
  DomainContextName,
  DomainDimension,
  DomainDimensions,
  DomainExplanation,
  DomainFile,
  DomainHostname,
  DomainListing,
  DomainNameServer,
  DomainOverview,
  DomainSender,
  DomainTag,
  DomainUrl,
  Limits,
  Payload,
  Rate,
  SearchKey,
  SearchRecord,
  UrlEvent,
  UrlHistory,
  UrlLast,
} from './types.ts';

export type CallOptions = { signal?: AbortSignal | undefined };
export type LimitOptions = CallOptions & {
  /** The most records. */
  limit?: number;
};
export type WindowOptions = LimitOptions & {
  /** Unix seconds or a Date. Default: 12 months ago. */
  since?: number | Date;
  /** Unix seconds or a Date. Default: now. */
  until?: number | Date;
};
export type AddressOptions = WindowOptions & {
  /** Default: `ALL` that the account may query. */
  dataset?: AddressDataset | 'ALL';
  /** `live`: neither expired nor removed. `history`: seen in the time window. Default: `live`. */
  type?: 'live' | 'history';
};

const URL_OBJECT = '/api/intel/v2/byobject/url';
const CIDR_OBJECT = '/api/intel/v1/byobject/cidr';
const DOMAIN_OBJECT = '/api/intel/v2/byobject/domain';
const DOMAINS = '/api/intel/v2/domains';

export class UrlwardenClient {
  readonly url: ReturnType<typeof urlCalls>;
  readonly address: ReturnType<typeof addressCalls>;
  readonly domain: ReturnType<typeof domainCalls>;
  readonly catalogue: ReturnType<typeof catalogueCalls>;
  /** Private, so that a printed client shows no password. */
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    const transport = createTransport(options);
    this.#transport = transport;
    this.url = urlCalls(transport);
    this.address = addressCalls(transport);
    this.domain = domainCalls(transport);
    this.catalogue = catalogueCalls(transport);
  }

  /** The limits of the account and its counters. Does not count as a query. */
  limits({ signal }: CallOptions = {}): Promise<Limits> {
    return known(this.#transport.json<Limits>({ path: '/api/intel/v1/limits', signal }));
  }

  /** As of the newest response with RateLimit headers; null before the first. */
  get rate(): Rate | null {
    return this.#transport.rate();
  }
}

function urlCalls(transport: Transport) {
  const { json, lines } = transport;
  const ask = <T>(name: string, url: string, { signal }: CallOptions) =>
    json<T>({ path: `${URL_OBJECT}/${name}`, body: JSON.stringify({ url }), expects: 'id', signal });
  return {
    /** The number of a URL; null if it is unknown. */
    async id(url: string, options: CallOptions = {}): Promise<number | null> {
      return (await ask<{ id: number }>('id', url, options))?.id ?? null;
    },
    /** The last status and the last payload; null if the URL is unknown. */
    last: (url: string, options: CallOptions = {}): Promise<UrlLast | null> => ask('last', url, options),
    /** The newest hundred events and payloads; null if the URL is unknown. */
    history: (url: string, options: CallOptions = {}): Promise<UrlHistory | null> => ask('history', url, options),
    /** A record for every matching fact, in any order. */
    search: (key: SearchKey, { signal, ...query }: WindowOptions = {}): AsyncGenerator<SearchRecord, void, void> =>
      lines({ path: `${URL_OBJECT}/search`, body: JSON.stringify(key), query, signal }),
    /** The newest events of a URL, in any order; none if the id is unknown. */
    statuses: (id: number, { signal, ...query }: WindowOptions = {}): AsyncGenerator<UrlEvent, void, void> =>
      lines({ path: `${URL_OBJECT}/${segment(id)}/statuses`, query, signal }),
    /** The newest payloads of a URL, in any order; none if the id is unknown. */
    payloads: (id: number, { signal, ...query }: LimitOptions = {}): AsyncGenerator<Payload, void, void> =>
      lines({ path: `${URL_OBJECT}/${segment(id)}/payloads`, query, signal }),
    /** A line for each URL, in the order of the list. Waits at every limit but the monthly one. */
    bulk: <View extends BulkView = 'last'>(
      urls: Iterable<BulkInput> | AsyncIterable<BulkInput>,
      options: BulkOptions<View> = {},
    ): AsyncGenerator<BulkLine<View>, void, void> => bulk(transport, urls, options),
  };
}

function addressCalls({ json }: Transport) {
  const ask = (mode: string) =>
    async function records(network: string, options: AddressOptions = {}): Promise<AddressRecords> {
      const { dataset = 'ALL', type = 'live', signal, ...query } = options;
      const path = `${CIDR_OBJECT}/${segment(dataset)}/${mode}/${segment(type)}/${segment(network)}`;
      const found = await json<AddressRecords>({ path, query, expects: 'results', signal });
      return { results: found?.results ?? [] };
    };
  return {
    /** Listings of an address or of what is inside a small network, such as 192.0.2.0/24. */
    listed: ask('listed'),
    /** Listings of the networks that contain it. */
    listings: ask('listings'),
  };
}

function domainCalls({ json }: Transport) {
  /** Null: the domain is unknown. */
  const ask =
    <T, Options extends LimitOptions = CallOptions>(name: string, expects?: string) =>
    async (domain: string, options?: Options): Promise<T | null> => {
      const { signal, ...query } = options ?? ({} as LimitOptions);
      return json<T>({ path: `${DOMAIN_OBJECT}/${segment(domain)}${name}`, query, expects, signal });
    };
  return {
    /** What is known about a domain, and its score. */
    get: ask<Domain>('', 'domain'),
    /** The same with the dimensions of the score. */
    overview: ask<DomainOverview>('/overview', 'domain'),
    dimensions: ask<DomainDimensions>('/dimensions', 'malware'),
    /** Whether it is listed, and until when. */
    listing: ask<DomainListing>('/listing', 'is-listed'),
    /** The reasons of the score. */
    explain: ask<DomainExplanation>('/explain', 'domain'),
    /** Where the data about it come from. */
    contexts: ask<DomainContext[], LimitOptions>('/contexts'),
    hostnames: ask<DomainHostname[], LimitOptions>('/hostnames'),
    addresses: ask<DomainAddress[], LimitOptions>('/a'),
    nameServers: ask<DomainNameServer[], LimitOptions>('/ns'),
    /** Addresses that sent mail for it. */
    senders: ask<DomainSender[], LimitOptions>('/senders'),
    /** Its malware URLs. */
    urls: ask<DomainUrl[], LimitOptions>('/malware/urls'),
    /** The files that its URLs served. */
    files: ask<DomainFile[], LimitOptions>('/malware/hashes'),
  };
}

/** Lists that change only with the version of the server. They do not count as queries. */
function catalogueCalls({ json }: Transport) {
  const ask =
    <T>(name: string) =>
    ({ signal }: CallOptions = {}): Promise<T> =>
      known(json<T>({ path: `${DOMAINS}/${name}`, signal }));
  return {
    /** With *. and ! as in the Public Suffix List. */
    publicSuffixes: ask<string[]>('tld'),
    tags: ask<{ tag: DomainTag; description: string }[]>('tags'),
    contexts: ask<{ context: DomainContextName; description: string }[]>('contexts'),
    dimensions: ask<{ dimension: DomainDimension; description: string }[]>('dimensions'),
  };
}

/** These paths exist on every server. */
async function known<T>(response: Promise<T | null>): Promise<T> {
  const value = await response;
  if (value === null) throw new BadRequestError('The server does not have this endpoint', { status: 404 });
  return value;
}

/** A URL without "." and ".." would be another path, escaped or not. */
function segment(value: string | number): string {
  const text = String(value);
  if (/^\.{0,2}$/.test(text)) throw new BadRequestError(`"${text}" is neither an address nor a name`);
  return encodeURIComponent(text);
}
