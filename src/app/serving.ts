import type { FastifyInstance } from 'fastify';
import { openAuthenticator } from '../accounts/authenticator.ts';
import { createLogin } from '../accounts/login.ts';
import { createSessions } from '../accounts/sessions.ts';
import type { SigningKey } from '../accounts/store.ts';
import { recordChange } from '../audit/request-record.ts';
import type { ChangeServices } from '../changes/routes.ts';
import type { Settings } from '../config/settings.ts';
import { programVersion } from '../config/version.ts';
import { everyMs } from '../core/every.ts';
import { toTs } from '../core/time.ts';
import { createListServices } from '../exports/services.ts';
import { lastKnown } from '../health/last-known.ts';
import type { Log } from '../health/outages.ts';
import { createFindCaller } from '../http/authenticate.ts';
import { buildServer } from '../http/server.ts';
import type { TlsPair } from '../http/tls.ts';
import { DEMO_NETWORKS } from '../ingest/demo.ts';
import { type Networks, openNetworks } from '../ingest/networks.ts';
import { createCharging } from '../limits/charge.ts';
import { createMemoryCounters } from '../limits/counters-memory.ts';
import { createRedisCounters } from '../limits/counters-redis.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { timedPort } from '../metrics/timed-port.ts';
import type { RedisLink } from '../redis/link.ts';
import { createAddressListCopy } from '../reputation/address-lists.ts';
import { createAddressReport } from '../reputation/address-report.ts';
import { createChangeViews } from '../reputation/change-views.ts';
import { feedHealth, feedsOnPage } from './feeds.ts';
import type { Owner } from './owner.ts';
import { openPortalFiles } from './portal-files.ts';
import type { ProcessState } from './process-state.ts';
import { createAccountDeletion, watchRedis } from './redis.ts';
import { createRoutes } from './routes.ts';
import { type Control, describePlace, type Intelligence } from './stores.ts';

/** What every thread gets from the first one; it can be sent in a message. */
export type ThreadStart = {
  settings: Settings;
  /** The number of the thread; the first one has 0. */
  thread: number;
  /** The buffer of the `ProcessState`. */
  state: SharedArrayBuffer;
  /** URLs of the embedded store (urls/sqlite/known-urls.ts). */
  knownUrls: SharedArrayBuffer;
  /** The id of this process among the nodes. */
  node: string;
  /** From a file of the operator; null if they are in the store. */
  fileKeys: SigningKey[] | null;
  tls: TlsPair | undefined;
};

type ServingParts = Omit<ThreadStart, 'state' | 'knownUrls' | 'fileKeys'> & {
  state: ProcessState;
  store: Intelligence;
  control: Control;
  redis: RedisLink | null;
  networks: Networks;
  owner: Owner;
  metrics: Metrics | undefined;
};

/** The issuer in every token; tokens of other servers are not accepted. */
const ISSUER = 'urlwarden';

/** Unix seconds. */
export const now = () => toTs(Date.now());

/** The HTTP server of one thread, and what it needs besides the stores. It does not listen yet. */
export async function openServing(parts: ServingParts): Promise<{ server: FastifyInstance; close(): void }> {
  const { settings, thread, state, tls, store, control, redis, networks, owner, metrics } = parts;
  const onFailure = (task: 'account_poll' | 'session_write') => (err: unknown) => {
    metrics?.failed(task);
    if (!owner.reportFailure(err)) server.log.error({ err, task }, TASK_FAILED);
  };
  const authenticator = await openAuthenticator(control, {
    nowMs: Date.now,
    issuer: ISSUER,
    onFailure: onFailure('account_poll'),
  });
  const counters = createCounters(parts);
  metrics?.watchStreams(counters.countStreams);
  if (store.pools !== undefined) metrics?.watchPools(() => [store, control].flatMap(({ pools }) => pools?.() ?? []));
  const { checkPassword } = owner;
  const { tokenLifeSeconds } = settings;
  const sessions = createSessions({
    store: control,
    authenticator,
    nowMs: Date.now,
    onFailure: onFailure('session_write'),
  });
  const findCaller = createFindCaller(authenticator.authenticate, sessions.authenticate);
  const routes = createRoutes({
    store,
    now,
    counters,
    login: createLogin({ checkPassword, authenticator, nowMs: Date.now, tokenLifeSeconds }),
    pages: {
      checkPassword,
      sessions,
      store: control,
      recordChange: (request, change) => recordChange(control, request, change),
      version: programVersion(),
    },
    lists: createListServices({
      store: control,
      callerOfAccount: authenticator.callerOf,
      now,
      copies: owner.lists,
    }),
    health: healthServices(parts),
    ...openReputation(store, networks, settings, { findCaller, isStopping: state.isStopping }),
    portal: {
      totals: owner.totals,
      usageByDay: control.usageByDay,
      networkOf: networks.networkOf,
      nameOf: networkNames(networks, settings),
      feeds: lastKnown(() => feedsOnPage(control, now()), []),
    },
    ownKeys: { control },
    ...adminServices(parts),
  });
  const server = buildServer(
    [...routes, ...(settings.noPortal ? [] : await openPortalFiles())],
    { findCaller, charging: createCharging(counters, owner.onAboveSoftLimit) },
    {
      logger: { level: settings.logLevel, stream: process.stderr },
      reportFailure: owner.reportFailure,
      queryBudgetMs: settings.queryBudgetMs,
      tls,
      metrics,
      trustedProxies: settings.trustedProxies,
      accessLog: { sample: settings.accessLogSample, hasQueries: settings.accessLogQueries },
    },
  );
  if (redis !== null) {
    watchRedis(redis, { thread, state, log: server.log, whenDown: settings.limitsWhenRedisIsDown });
  }
  return { server, close: authenticator.close };
}

function createCounters({ settings, thread, control, redis, owner, metrics }: ServingParts) {
  if (redis === null) return createMemoryCounters(owner.counts, { nowMs: Date.now, thread });
  return createRedisCounters(redis, control, owner.counts, {
    whenDown: settings.limitsWhenRedisIsDown,
    thread,
    onCountedLocally: () => metrics?.countedLocally(),
  });
}

function healthServices(parts: ServingParts) {
  const { state, control, owner } = parts;
  const limitsState = limitsStateOf(parts);
  return {
    isStopping: state.isStopping,
    ready: owner.ready,
    hasFaults: state.hasFaults,
    freshness: lastKnown(() => control.freshness(), { newestEventTs: null, confirmedTs: null }),
    feeds: lastKnown(() => feedHealth(control, now()), []),
    ...(limitsState && { limitsState }),
  };
}

/** Null without Redis: then each server counts by itself. */
function limitsStateOf({ settings, state, redis }: ServingParts) {
  const whenDown = settings.limitsWhenRedisIsDown === 'local' ? 'local' : 'refused';
  return redis && (() => (state.isRedisUp() ? 'shared' : whenDown));
}

/** For the pages and the API of administrators. */
function adminServices(parts: ServingParts) {
  const { settings, state, node, store, control, redis, owner } = parts;
  const system = {
    engine: settings.databaseUrl === null ? ('sqlite' as const) : ('postgres' as const),
    place: describePlace(settings),
    ready: owner.ready,
    sizeBytes: () => sizeOf([store, control]),
    freeBytes: store.freeBytes,
    hasFaults: state.hasFaults,
    isRedisUp: redis && state.isRedisUp,
    limitsState: limitsStateOf(parts) ?? (() => 'local' as const),
    node,
    hasNetworkTable: settings.asnDb !== null,
  };
  return {
    admin: {
      control,
      hasKeyFile: settings.signingKeyFile !== null,
      deleteAccountKeys: redis && createAccountDeletion(redis),
      system,
    },
    dataAdmin: {
      control,
      uploads: { receive: owner.receiveUpload },
      feedsAllowPrivate: settings.feedsAllowPrivate,
      allowReserved: settings.allowReserved,
      wakeFeeds: owner.wakeFeeds,
    },
  };
}

/** The log of a server that is built after the parts that write to it. */
export function logOf(server: () => FastifyInstance): Log {
  return {
    error: (details, message) => server().log.error(details, message),
    warn: (details, message) => server().log.warn(details, message),
    info: (details, message) => server().log.info(details, message),
    debug: (details, message) => server().log.debug(details, message),
  };
}

export const TASK_FAILED = 'a background task failed; it will be retried';

/** What one thread counts; undefined if metrics are off. */
export function openMetrics({ metricsPort }: Settings, thread: number): Metrics | undefined {
  return metricsPort === 'off' ? undefined : createMetrics(thread);
}

export function timed<Port extends object>(port: Port, name: string, metrics: Metrics | undefined): Port {
  return metrics === undefined ? port : timedPort(port, (operation) => metrics.storeCall(name, operation));
}

/** `log` is called later than this function. */
export function openNetworkTable({ asnDb }: Settings, log: Log<'warn'>): Networks {
  const onFailure = (err: unknown) =>
    log.warn({ err }, 'the table of networks could not be read again; the old one stays in use');
  return openNetworks(asnDb, { every: everyMs, onFailure });
}

function openReputation(
  store: Intelligence,
  { asnOf }: Networks,
  { allowReserved, listedExact }: Settings,
  streams: Pick<ChangeServices, 'findCaller' | 'isStopping'>,
) {
  const lists = createAddressListCopy(store, { nowMs: Date.now });
  const current = { listings: store.currentListings, domainState: store.currentDomain };
  return {
    reputation: { addresses: createAddressReport({ store, lists, now, allowReserved, listedExact }), asnOf },
    changes: { views: createChangeViews({ store: current, lists, now, allowReserved }), ...streams },
  };
}

/** The AS numbers of the demo data are reserved for documentation, so no table has their names. */
function networkNames({ nameOf }: Networks, { demo }: Settings): Networks['nameOf'] {
  if (!demo) return nameOf;
  return (asn) => nameOf(asn) ?? DEMO_NETWORKS.find((network) => network.asn === asn)?.name ?? null;
}

/** The files of the embedded store; null for PostgreSQL. */
function sizeOf(databases: readonly Pick<Control, 'sizes'>[]): number | null {
  const sizes = databases.flatMap((database) => database.sizes?.() ?? []);
  return sizes.length === 0 ? null : sizes.reduce((sum, { fileBytes, walBytes }) => sum + fileBytes + walBytes, 0);
}
