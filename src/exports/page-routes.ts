import type { FastifyRequest } from 'fastify';
import { badRequest } from '../core/errors.ts';
import { paths } from '../core/paths.ts';
import { callerOf } from '../http/authenticate.ts';
import {
  type Caller,
  type Endpoint,
  type Exchange,
  json,
  type Parameter,
  type Route,
  type StepCharging,
} from '../http/endpoint.ts';
import { isOurFault } from '../http/errors.ts';
import { IntegerOrNull } from '../http/scalars.ts';
import { type Static, Type } from '../http/schema.ts';
import type { KnownList } from './copies.ts';
import { mayFetch, requireDatasets } from './datasets.ts';
import { EXPLAINED_REASONS, isExplainable } from './explain.ts';
import { formatsOf } from './formats/formats.ts';
import type { ListServices } from './routes.ts';
import { listNotFound } from './rows.ts';
import type { ListDefinition } from './store.ts';
import { ListItem, toListItem } from './wire.ts';

/** What the page of lists shows besides the lists themselves, which it fetches as devices do. */
export function listPageRoutes(services: ListServices): Route[] {
  return [
    { endpoint: lists(services), access: 'account', charge: 'call' },
    { endpoint: explain(services), access: 'account', charge: 'own' },
  ];
}

const OwnListItem = Type.Object({
  ...ListItem.properties,
  allowed: Type.Boolean({ description: 'The subscription has the datasets that the list needs.' }),
  formats: Type.Array(Type.Object({ name: Type.String(), summary: Type.String() })),
  entries: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'At the last fetch; null: nobody has fetched it since the server was started.',
  }),
  left_out: Type.Record(Type.Integer({ minimum: 1 }), {
    description: 'What fits the filter and is not on the list, by reason.',
  }),
  serial_ts: IntegerOrNull,
});
export type OwnListItem = Static<typeof OwnListItem>;

const lists = ({ all, known }: ListServices): Endpoint<Caller> => ({
  method: 'GET',
  path: paths.portalLists,
  operationId: 'portalLists',
  summary: 'All lists for devices; does not count as a query',
  response: json(Type.Object({ items: Type.Array(OwnListItem) })),
  read: callerOf,
  async respond(caller) {
    const [definitions, built] = await Promise.all([all(), known()]);
    return { items: definitions.map((definition) => toOwnItem(definition, caller, built)) };
  },
});

function toOwnItem(definition: ListDefinition, caller: Caller, built: readonly KnownList[]): OwnListItem {
  const { name, kind, changedTs } = definition;
  const isAllowed = mayFetch(caller, definition);
  // Not that of an older definition. What the account may not fetch it does not see in numbers either.
  const found = isAllowed ? built.find((one) => one.name === name && one.changedTs === changedTs) : undefined;
  return {
    ...toListItem(definition),
    allowed: isAllowed,
    formats: formatsOf(kind).map((format) => ({ name: format.name, summary: format.summary })),
    entries: found?.count ?? null,
    left_out: { ...found?.leftOut },
    serial_ts: found?.serial ?? null,
  };
}

/** Longer than any URL that is stored. */
const MAX_TEXT = 16_384;

const ExplainRequest = Type.Closed({
  text: Type.String({
    minLength: 1,
    maxLength: MAX_TEXT,
    description: 'A URL with its scheme, a host name, an address or a network; also defanged.',
  }),
});

const ExplainResponse = Type.Object({
  subject: Type.String({ description: 'What was asked about, normalized.' }),
  on_list: Type.Boolean(),
  reasons: Type.Array(
    Type.Object({
      reason: Type.Enum([...EXPLAINED_REASONS]),
      text: Type.String(),
    }),
    { description: 'Every reason why it is not on the list.' },
  ),
});
export type ExplainResponse = Static<typeof ExplainResponse>;

const nameParameter: Parameter = {
  in: 'path',
  name: 'name',
  schema: Type.String(),
  description: 'The name of a list.',
};

type ExplainQuery = { name: string; text: string };

const explain = (services: ListServices): Endpoint<ExplainQuery> => ({
  method: 'POST',
  path: paths.portalListExplain,
  operationId: 'portalListExplain',
  summary: 'Why something is not on a list for devices',
  parameters: [nameParameter],
  body: ExplainRequest,
  response: json(ExplainResponse),
  refusals: ['not_found'],
  read: readQuery,
  respond: (query, exchange, _options, charging) => explained(services, query, exchange, charging),
});

function readQuery({ params, body }: FastifyRequest): ExplainQuery {
  const { text } = body as Static<typeof ExplainRequest>;
  if (!isExplainable(text)) {
    const examples = 'https://files.example/a, shop.example, 203.0.113.7 or 203.0.113.0/24';
    throw badRequest(`"text" must be a URL, a host name, an address or a network, such as ${examples}`);
  }
  return { name: (params as { name: string }).name, text };
}

async function explained(
  { definition: find, explain }: ListServices,
  { name, text }: ExplainQuery,
  exchange: Exchange,
  charging: StepCharging,
): Promise<ExplainResponse> {
  const definition = await find(name);
  if (definition === null) throw listNotFound(name);
  requireDatasets(callerOf(exchange.request), definition);
  const charge = await charging.chargeStep(exchange, 1);
  const found = await explain(definition, text).catch(async (error) => {
    if (isOurFault(error)) await charging.refund(charge);
    throw error;
  });
  if (found === null) throw new Error('unreachable: readQuery refuses what cannot be explained');
  const { subject, isOnList, reasons } = found;
  return { subject, on_list: isOnList, reasons };
}
