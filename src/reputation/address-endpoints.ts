import type { FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../core/errors.ts';
import { ADDRESS_DATASETS, type AddressDataset } from '../core/evidence.ts';
import { paths } from '../core/paths.ts';
import type { TimeWindow } from '../core/time.ts';
import { callerOf } from '../http/authenticate.ts';
import { withinBudget } from '../http/budget.ts';
import type { Endpoint, Parameter } from '../http/endpoint.ts';
import { createLookupResponder } from '../http/errors.ts';
import {
  limitParameter,
  queryString,
  readLimit,
  readOpenWindow,
  readWindow,
  sinceParameter,
  untilParameter,
} from '../http/query.ts';
import { Type } from '../http/schema.ts';
import type { AddressQuery, AddressReport } from './address-report.ts';
import { parseQueriedNetwork, type QueriedNetwork } from './queried-network.ts';
import { MAX_RECORDS, RecordsResponse } from './schemas.ts';
import { type AsnOf, recordsJson } from './wire.ts';

type Services = { addresses: Pick<AddressReport, 'records'>; asnOf: AsnOf; now(): number };

const ALL = 'ALL';
const DEFAULT_RECORDS = 500;
/** Twelve months, one of them a leap year's. */
const MAX_WINDOW_SECONDS = 366 * 86_400;

const DATASET_NAMES = [...ADDRESS_DATASETS, ALL].join(', ');
const MODES = ['listed', 'listings'] as const;
const TYPES = ['live', 'history'] as const;

const datasetParameter: Parameter = {
  in: 'path',
  name: 'dataset',
  schema: Type.Enum([...ADDRESS_DATASETS, ALL]),
  description:
    'XBL: infected or attacking hosts. CSS: spam sources. BCL: botnet controllers. DROP: networks under hostile control. ' +
    'ALL: those that the account may query. In any case.',
};

/** A path with another word in this place does not exist. */
const wordParameter = (name: string, words: readonly string[], description: string): Parameter => ({
  in: 'path',
  name,
  schema: Type.Enum([...words]),
  description,
  isValid: (text) => words.includes(text),
});

const PARAMETERS: readonly Parameter[] = [
  datasetParameter,
  wordParameter(
    'mode',
    MODES,
    'listed: inside the network. listings: networks that contain it. Both with the network itself.',
  ),
  wordParameter('type', TYPES, 'live: neither expired nor removed. history: seen inside the time window.'),
  {
    in: 'path',
    name: 'ip',
    schema: Type.String(),
    description: 'IPv4 or IPv6 address; a mask may follow as %2F24.',
  },
];

const maskParameter: Parameter = {
  in: 'path',
  name: 'mask',
  schema: Type.Integer({ minimum: 0, maximum: 128 }),
  description: '24 to 32 for IPv4, 56 to 128 for IPv6. Default: 32 and 64.',
};

const QUERY_PARAMETERS: readonly Parameter[] = [
  limitParameter(DEFAULT_RECORDS, MAX_RECORDS),
  { ...sinceParameter, description: 'Listings seen at or after this. Default for history: 12 months before now.' },
  { ...untilParameter, description: 'Listings seen at or before this. Default for history: now.' },
];

const respondToLookup = createLookupResponder('Nothing is listed for this query');

type Params = { dataset: string; mode: 'listed' | 'listings'; type: 'live' | 'history'; ip: string; mask?: string };
type Query = AddressQuery & Pick<QueriedNetwork, 'cost'>;

export function addressEndpoints({ addresses, asnOf, now }: Services): Endpoint<Query>[] {
  const endpoint = {
    method: 'GET',
    response: { contentType: 'application/json', schema: RecordsResponse },
    refusals: ['not_found'],
    read(request): Query {
      const { dataset, mode, type, ip, mask } = request.params as Params;
      const datasets = readDatasets(request, dataset);
      const queried = parseQueriedNetwork(ip, mask);
      if (!queried.ok) throw badRequest(queried.reason);
      const { network, asked, cost } = queried;
      const limit = readLimit(queryString(request), MAX_RECORDS) ?? DEFAULT_RECORDS;
      const { since, until } =
        type === 'live' ? readOpenWindow(queryString(request)) : readHistoryWindow(request, now());
      return { network, asked, cost, datasets, mode, type, limit, sinceTs: since, untilTs: until };
    },
    weight: ({ cost }) => cost,
    async respond(query, { reply }, { queryBudgetMs }) {
      const stop = new AbortController();
      const found = addresses.records({ ...query, signal: stop.signal });
      const records = found instanceof Promise ? await withinBudget(found, queryBudgetMs, stop) : found;
      return respondToLookup(reply, records.length > 0 ? sent(recordsJson(records, asnOf)) : null);
    },
  } as const satisfies Partial<Endpoint<Query>>;
  const summary = 'Listings of an address or a small network, newest first';
  return [
    { ...endpoint, path: paths.cidr, operationId: 'cidr', summary, parameters: [...PARAMETERS, ...QUERY_PARAMETERS] },
    {
      ...endpoint,
      path: paths.cidrMask,
      operationId: 'cidrMask',
      summary: `${summary}, with its mask in the path`,
      parameters: [...PARAMETERS, maskParameter, ...QUERY_PARAMETERS],
    },
  ];
}

/** From this length on bytes are sent in less time than text: Node would reserve three bytes for each character. */
const LONG_TEXT = 4_096;

const sent = (json: string): string | Buffer => (json.length < LONG_TEXT ? json : Buffer.from(json));

/** An unknown name is refused before a known one that the account does not have. */
function readDatasets(request: FastifyRequest, text: string): readonly AddressDataset[] {
  const name = text.toUpperCase();
  const { ads } = callerOf(request).limits;
  if (name === ALL) {
    const datasets = ADDRESS_DATASETS.filter((dataset) => ads.includes(dataset));
    if (datasets.length > 0) return datasets;
    throw new AppError('forbidden', `None of the datasets ${ADDRESS_DATASETS.join(', ')} is part of this subscription`);
  }
  const dataset = ADDRESS_DATASETS.find((known) => known === name);
  if (dataset === undefined) throw badRequest(`The dataset must be one of ${DATASET_NAMES}`);
  if (ads.includes(dataset)) return [dataset];
  throw new AppError('forbidden', `The dataset ${dataset} is not part of this subscription`);
}

function readHistoryWindow(request: FastifyRequest, nowTs: number): TimeWindow {
  const window = readWindow(queryString(request), nowTs);
  if (window.until - window.since <= MAX_WINDOW_SECONDS) return window;
  throw badRequest('The time window must not be longer than 366 days: set both "since" and "until"');
}
