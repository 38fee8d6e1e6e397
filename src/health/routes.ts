import { AppError } from '../core/errors.ts';
import { paths } from '../core/paths.ts';
import { type Endpoint, json, type Route } from '../http/endpoint.ts';
import { queryString, readSwitch, verboseParameter } from '../http/query.ts';
import { IntegerOrNull } from '../http/scalars.ts';
import { type Static, Type } from '../http/schema.ts';

const Health = Type.Object({ status: Type.Literal('ok') });
type Health = Static<typeof Health>;

const FeedHealth = Type.Object({
  name: Type.String(),
  state: Type.Enum(['ok', 'new', 'failing', 'stale', 'paused'], {
    description: 'new: not fetched yet. failing: will be retried. stale: no success for three intervals.',
  }),
  last_success_ts: IntegerOrNull,
});
type FeedHealth = Static<typeof FeedHealth>;

const Readiness = Type.Object({
  status: Type.Literal('ok'),
  limits: Type.Optional(
    Type.Enum(['shared', 'local'], {
      description: 'With `verbose`, if Redis is configured: local while Redis is down and this server counts alone.',
    }),
  ),
  integrity: Type.Optional(
    Type.Enum(['ok', 'faults'], {
      description: 'With `verbose`: faults if the check in the background found rows that contradict each other.',
    }),
  ),
  data: Type.Optional(
    Type.Object(
      { newest_event_ts: IntegerOrNull, confirmed_ts: IntegerOrNull },
      {
        description:
          'With `verbose`: the time of the newest event of a URL, and the newest time at which a URL was seen, by the stored imports.',
      },
    ),
  ),
  feeds: Type.Optional(Type.Array(FeedHealth, { description: 'With `verbose`: the state of each feed.' })),
});
type Readiness = Static<typeof Readiness>;

export type HealthServices = {
  /** Whether the server still answers, but will close soon. */
  isStopping(): boolean;
  /** Throws `not_ready` when the database cannot answer. */
  ready(): Promise<void>;
  /** With Redis: whether queries are counted there, on this node, or refused. */
  limitsState?(): 'shared' | 'local' | 'refused';
  /** Whether rows were found that contradict each other. */
  hasFaults(): boolean;
  /** How fresh the data of URLs is. */
  freshness(): Promise<{ newestEventTs: number | null; confirmedTs: number | null }>;
  feeds(): Promise<FeedHealth[]>;
};

export function healthRoutes(services: HealthServices): Route[] {
  return [
    { endpoint: healthz, access: 'open', charge: 'none' },
    { endpoint: readyz(services), access: 'open', charge: 'none' },
  ];
}

const healthz: Endpoint = {
  method: 'GET',
  path: paths.healthz,
  operationId: 'healthz',
  summary: 'Whether the process is up',
  response: json(Health),
  read: () => undefined,
  respond: async (): Promise<Health> => ({ status: 'ok' }),
};

/**
 * A stale feed, counting without Redis, or rows that contradict each other are reported but no error: such a server is
 * better than none.
 */
const readyz = ({
  isStopping,
  ready,
  limitsState,
  hasFaults,
  freshness,
  feeds,
}: HealthServices): Endpoint<{ isVerbose: boolean }> => ({
  method: 'GET',
  path: paths.readyz,
  operationId: 'readyz',
  summary:
    'Whether the server can answer now; with `verbose` also how fresh its data is, and the state of its feeds, rows and limits',
  parameters: [verboseParameter],
  response: json(Readiness),
  read: (request) => ({ isVerbose: readSwitch(queryString(request), 'verbose') }),
  async respond({ isVerbose }): Promise<Readiness> {
    if (isStopping()) throw new AppError('not_ready', 'The server is stopping');
    const limits = limitsState?.();
    if (limits === 'refused') throw new AppError('not_ready', 'Redis, which holds the counters, does not answer');
    await ready();
    if (!isVerbose) return { status: 'ok' };
    const integrity = hasFaults() ? 'faults' : 'ok';
    const [{ newestEventTs, confirmedTs }, states] = await Promise.all([freshness(), feeds()]);
    const data = { newest_event_ts: newestEventTs, confirmed_ts: confirmedTs };
    return { status: 'ok', ...(limits === undefined ? {} : { limits }), integrity, data, feeds: states };
  },
});
