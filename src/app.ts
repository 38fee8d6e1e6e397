import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { openAuthenticator } from './accounts/authenticator.ts';
import { ensureFirstAccount, type FirstAccount } from './accounts/first-account.ts';
import { createLogin, createPasswordCheck } from './accounts/login.ts';
import { createSharedLoginFailures, createSharedLoginPenalty } from './accounts/login-shared.ts';
import { createPasswordVerifier } from './accounts/password-verifier.ts';
import { createSessions } from './accounts/sessions.ts';
import { ensureKey, readKeyFile } from './accounts/signing-keys.ts';
import { createServerAudit } from './app/audit.ts';
import { fillDemo, fillDemoControl } from './app/demo.ts';
import { feedHealth, feedsOnPage, openUploads, startFeeds } from './app/feeds.ts';
import { watchStores } from './app/health.ts';
import { startIntegrityChecks } from './app/integrity-sweep.ts';
import { listenOn, openMetricsListener } from './app/listen.ts';
import { announceNode } from './app/nodes.ts';
import { openPortalFiles } from './app/portal-files.ts';
import { createAccountDeletion, limitsWithoutRedis, openRedis, watchRedis } from './app/redis.ts';
import { createRoutes } from './app/routes.ts';
import { type Control, describePlace, type Intelligence, openControl, openIntelligence } from './app/stores.ts';
import { startUsageCleanup } from './app/usage-cleanup.ts';
import type { Settings } from './config/settings.ts';
import { programVersion } from './config/version.ts';
import { OPERATOR_TIER } from './core/tier.ts';
import { toTs } from './core/time.ts';
import { lastKnown } from './health/last-known.ts';
import { createOutages } from './health/outages.ts';
import { buildServer, closeServer, endKeepAlive, setTlsPair } from './http/server.ts';
import { expiryOf, readTlsPair, type TlsPair } from './http/tls.ts';
import { DEMO_NETWORKS } from './ingest/demo.ts';
import { everyMs } from './ingest/feeds/schedule.ts';
import { type Networks, openNetworks } from './ingest/networks.ts';
import { readFamilies } from './ingest/tag-families.ts';
import { createCharging } from './limits/charge.ts';
import { createMemoryCounters } from './limits/counters-memory.ts';
import { createCounterDeletion, createRedisCounters } from './limits/counters-redis.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { timedPort } from './metrics/timed-port.ts';
import { createTotals } from './portal/totals.ts';
import { createAddressLists } from './reputation/address-lists.ts';
import { createAddressReport } from './reputation/address-report.ts';

/** Everything is open, but nothing listens yet. */
export type App = {
  dataDir: string;
  /** Where the data is, for messages. */
  place: string;
  /** Starts to listen and to fetch feeds. Closes everything when that fails. */
  listen(): Promise<Listening>;
  /** Reads certificate and key again, for new connections; logs what is wrong with them. */
  rereadTls(): void;
  /**
   * The beginning of a stop: `/readyz` is 503, every response closes its connection, and feeds stop. Requests are still
   * answered until `close`.
   */
  announceStop(): void;
  /** Waits for responses in progress, then closes everything. */
  close(): Promise<void>;
};

export type Listening = {
  /** Such as http://127.0.0.1:8080 */
  url: string;
  /** Null when the metrics are off. */
  metricsUrl: string | null;
  /** The account that was created because there was none, with its password; otherwise null. */
  firstAccount: FirstAccount | null;
};

/** The issuer in every token; tokens of other servers are not accepted. */
const ISSUER = 'urlwarden';

/** Responses that take longer than this to finish are aborted when the server closes. */
const CLOSE_GRACE_MS = 8_000;

/** Unix seconds. */
const now = () => toTs(Date.now());

/** The composition root: opens everything in order, and closes it in reverse. */
export async function openApp(settings: Settings): Promise<App> {
  const dataDir = settings.demo ? join(settings.dataDir, 'demo') : settings.dataDir;
  const tls = readTls(settings);
  const metrics = settings.metricsPort === 'off' ? undefined : createMetrics();
  const open: { close(): unknown }[] = [];
  const opened = <Part extends { close(): unknown }>(part: Part): Part => {
    open.unshift(part);
    return part;
  };
  const close = async () => {
    for (const part of open.splice(0)) await part.close();
  };
  try {
    const place = { ...settings, dataDir };
    const store = timed(opened(await openIntelligence(place)), 'intelligence', metrics);
    if (settings.demo) await fillDemo(store, now());
    const { control, newKid } = await withKeys(timed(opened(await openControl(place)), 'control', metrics), settings);

    // These callbacks need the server, which is built last; none of them is called before.
    const log = {
      error: (details: object, message: string) => server.log.error(details, message),
      warn: (details: object, message: string) => server.log.warn(details, message),
      info: (details: object, message: string) => server.log.info(details, message),
    };
    const outages = createOutages(log, () => performance.now());
    type Task = 'account_poll' | 'session_write' | 'usage_write' | 'usage_cleanup' | 'totals_count' | 'node_write';
    const onFailure = (task: Task) => (err: unknown) => {
      metrics?.failed(task);
      if (!outages.report(err)) log.error({ err, task }, 'a background task failed; it will be retried');
    };
    const onFlushFailed = onFailure('usage_write');
    const onOutcome = (outcome: string) => {
      metrics?.loginEnded(outcome);
      server.log.debug({ outcome }, 'login');
    };
    const redis = settings.redis && opened(await openRedis(settings.redis, settings.redisPrefix));
    const authenticator = opened(
      await openAuthenticator(control, { nowMs: Date.now, issuer: ISSUER, onFailure: onFailure('account_poll') }),
    );
    const { tokenLifeSeconds, queryBudgetMs, trustedProxies, logLevel, limitsWhenRedisIsDown: whenDown } = settings;
    const counters = opened(
      redis === null
        ? createMemoryCounters(control, { nowMs: Date.now, onFlushFailed })
        : createRedisCounters(redis, control, {
            whenDown,
            onFlushFailed,
            onCountedLocally: () => metrics?.countedLocally(),
          }),
    );
    const { verify } = opened(createPasswordVerifier());
    const checkPassword = createPasswordCheck({
      ...{ store: control, nowMs: Date.now, verify, onOutcome },
      ...(redis && { failures: createSharedLoginFailures(redis), penalty: createSharedLoginPenalty(redis) }),
    });
    const login = createLogin({ checkPassword, authenticator, nowMs: Date.now, tokenLifeSeconds });
    const sessions = createSessions({
      ...{ store: control, authenticator, nowMs: Date.now, onFailure: onFailure('session_write') },
    });
    const pages = { checkPassword, sessions, store: control, now, version: programVersion() };
    const audit = opened(createServerAudit({ control, settings, log, outages, now }));
    const charging = createCharging(counters, audit.onAboveSoftLimit);
    metrics?.watchStreams(charging.countStreams);
    const limitsState = redis && (() => (redis.isUp() ? 'shared' : limitsWithoutRedis(whenDown)));
    const { ready } = opened(watchStores({ store, control, outages, metrics }));
    let isStopping = false;
    let expiry = tls && expiryOf(tls);
    if (expiry !== undefined) metrics?.watchCertificate(() => Number(expiry) / 1000);
    const networks = opened(
      openNetworks(settings.asnDb, {
        every: everyMs,
        onFailure: (err) =>
          log.warn({ err }, 'the table of networks could not be read again; the old one stays in use'),
      }),
    );
    const families = readFamilies(settings.familiesFile);
    const health = {
      isStopping: () => isStopping,
      ready,
      hasFaults: () => integrity?.hasFaults() ?? false,
      freshness: lastKnown(() => control.freshness(), { newestEventTs: null, confirmedTs: null }),
      feeds: lastKnown(() => feedHealth(control, now()), []),
      ...(limitsState && { limitsState }),
    };
    const uploads = openUploads({ store, control, networks, families, settings, now, log });
    const dataAdmin = {
      ...{ control, uploads, feedsAllowPrivate: settings.feedsAllowPrivate },
      allowReserved: settings.allowReserved || settings.demo,
      wakeFeeds: () => void feeds?.runDue(),
    };
    const node = randomUUID();
    const admin = {
      control,
      hasKeyFile: settings.signingKeyFile !== null,
      deleteAccountKeys: redis && createAccountDeletion(redis),
      system: {
        engine: settings.databaseUrl === null ? ('sqlite' as const) : ('postgres' as const),
        place: describePlace(place),
        ready,
        sizeBytes: () => sizeOf([store, control]),
        freeBytes: store.freeBytes,
        hasFaults: health.hasFaults,
        isRedisUp: redis?.isUp ?? null,
        limitsState: limitsState ?? (() => 'local' as const),
        node,
        hasNetworkTable: settings.asnDb !== null,
      },
    };
    const pageFiles = settings.noPortal ? [] : await openPortalFiles();
    const totals = opened(
      createTotals({
        ...{ store, now },
        changes: async () =>
          JSON.stringify([await control.imports({ limit: 1 }), await store.lastIds(), await store.listVersion()]),
        onFailure: onFailure('totals_count'),
      }),
    );
    const portal = {
      ...{
        totals,
        usageByDay: control.usageByDay,
        networkOf: networks.networkOf,
        nameOf: networkNames(networks, settings),
      },
      feeds: lastKnown(() => feedsOnPage(control, now()), []),
    };
    const reputation = openReputation(store, networks, settings);
    const server = buildServer(
      [
        ...createRoutes({ store, now, counters, login, pages, health, reputation, portal, admin, dataAdmin }),
        ...pageFiles,
      ],
      { authenticate: authenticator.authenticate, authenticateSession: sessions.authenticate, charging },
      {
        logger: { level: logLevel, stream: process.stderr },
        reportFailure: outages.report,
        ...{ queryBudgetMs, tls, metrics, trustedProxies },
        accessLog: { sample: settings.accessLogSample, hasQuestions: settings.accessLogQuestions },
      },
    );
    let metricsListener: Awaited<ReturnType<typeof openMetricsListener>> | undefined;
    opened({ close: () => metricsListener?.close() }); // closes after the server, so that metrics can be read until then
    let feeds: ReturnType<typeof startFeeds> | undefined;
    // Together, because an import waits for its batch, and PostgreSQL may hang.
    opened({ close: () => Promise.all([closeServer(server, CLOSE_GRACE_MS), feeds?.close(), uploads.close()]) });
    if (redis !== null) watchRedis(redis, { log: server.log, metrics, whenDown });

    let integrity: ReturnType<typeof startIntegrityChecks> | undefined;
    async function listen(): Promise<Listening> {
      metricsListener = metrics && (await openMetricsListener(metrics, settings));
      const url = await listenOn(server, settings, tls === undefined ? 'http' : 'https');
      feeds = startFeeds({ store, control, metrics, log: server.log, outages, settings, networks, families, now });
      // After everything that can fail: its password is shown only once.
      const firstAccount = await ensureFirstAccount(control, settings.demo, now());
      if (newKid !== null) await audit.record('key.add', newKid, {});
      if (firstAccount !== null) await audit.record('account.add', firstAccount.username, { tier: OPERATOR_TIER });
      if (settings.demo) await fillDemoControl(control, store, now());
      audit.start();
      if (!settings.noPortal) totals.start();
      integrity = opened(startIntegrityChecks({ store, outages, metrics, log }));
      const cleanup = startUsageCleanup({
        ...{ control, usageMonths: settings.usageMonths, now, every: everyMs, onFailure: onFailure('usage_cleanup') },
        deleteCounters: redis && createCounterDeletion(redis),
      });
      opened(cleanup);
      void cleanup.runDue();
      const version = programVersion();
      const name = `${hostname()}:${url.slice(url.lastIndexOf(':') + 1)}`;
      opened(
        announceNode({
          ...{ control, node: { node, name, version }, now, every: everyMs, onFailure: onFailure('node_write') },
        }),
      );
      const metricsUrl = metricsListener?.url ?? null;
      const started = {
        url,
        metricsUrl,
        place: describePlace(place),
        version,
        node: process.version,
      };
      server.log.info(started, 'started');
      return { url, metricsUrl, firstAccount };
    }

    return {
      dataDir,
      place: describePlace(place),
      async listen() {
        try {
          return await listen();
        } catch (error) {
          await close();
          throw error;
        }
      },
      rereadTls() {
        try {
          const pair = readTls(settings);
          if (pair !== undefined) {
            setTlsPair(server, pair);
            expiry = expiryOf(pair);
          }
          server.log.info('certificate and key were read again');
        } catch (err) {
          server.log.error({ err }, 'certificate and key stay as they were');
        }
      },
      announceStop() {
        isStopping = true;
        endKeepAlive(server);
        void feeds?.close(); // `close` waits for them
        void uploads.close();
        server.log.info('stopping');
      },
      async close() {
        await close();
        server.log.info('stopped');
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function timed<Port extends object>(port: Port, name: string, metrics: Metrics | undefined): Port {
  return metrics === undefined ? port : timedPort(port, (operation) => metrics.storeCall(name, operation));
}

function openReputation(store: Intelligence, { asnOf }: Networks, { allowReserved, demo, listedExact }: Settings) {
  const lists = createAddressLists(store, { nowMs: Date.now });
  const options = { store, lists, now, allowReserved: allowReserved || demo, listedExact };
  return { addresses: createAddressReport(options), asnOf };
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

function readTls({ tlsCertFile, tlsKeyFile }: Settings): TlsPair | undefined {
  return tlsCertFile === null || tlsKeyFile === null ? undefined : readTlsPair(tlsCertFile, tlsKeyFile);
}

/** Keys from a file replace those in the store. `newKid` is the id of the key that was created because there was none. */
async function withKeys(
  control: Control,
  { signingKeyFile }: Settings,
): Promise<{ control: Control; newKid: string | null }> {
  if (signingKeyFile !== null) {
    const keys = readKeyFile(signingKeyFile);
    return { control: { ...control, keys: async () => keys }, newKid: null };
  }
  let newKid: string | null = null;
  await ensureKey(control, now(), (kid) => {
    newKid = kid;
  });
  return { control, newKid };
}
