import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { openDirectory } from './accounts/directory.ts';
import { ensureFirstAccount, type FirstAccount } from './accounts/first-account.ts';
import { readKeyFile } from './accounts/key-file.ts';
import { ensureKey } from './accounts/keys.ts';
import { createLogin } from './accounts/login.ts';
import { createSharedLoginFailures, createSharedLoginPenalty } from './accounts/login-shared.ts';
import { createPasswordJudge } from './accounts/password-judge.ts';
import { startFeeds } from './app/feeds.ts';
import { now } from './app/now.ts';
import { openRedis, standIn, watchRedis } from './app/redis.ts';
import type { Settings } from './config/settings.ts';
import type { UrlLastResponse } from './contract/url.ts';
import { AppError } from './core/errors.ts';
import { METRICS_PATH, openMetricsServer } from './http/metrics-server.ts';
import { buildServer, closeServer, setTlsPair } from './http/server.ts';
import { readTlsPair, type TlsPair } from './http/tls.ts';
import { demoObservations } from './ingest/demo.ts';
import { createMemoryCounters } from './limits/counters-memory.ts';
import { createRedisCounters } from './limits/counters-redis.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { timedPort } from './metrics/timed-port.ts';
import type { Control } from './store/control.ts';
import { describePlace, openControl, openStore } from './store/open.ts';
import type { Store } from './store/store.ts';

export type App = {
  /** Where it listens, such as http://127.0.0.1:8080 */
  url: string;
  /** Where its metrics are; null when they are off. */
  metricsUrl: string | null;
  dataDir: string;
  /** Where the data is, for people. */
  place: string;
  /** The account that this start has made, with its password; null when there were accounts. */
  firstAccount: FirstAccount | null;
  /** Reads certificate and key again, for connections from now on; what is wrong with them is logged. */
  rereadTls(): void;
  /** Lets running answers finish, then closes everything. */
  close(): Promise<void>;
};

/** In every token; another server's tokens are none of ours. */
const ISSUER = 'urlwarden';

/** Answers that run longer than this after a stop are cut off; below the ten seconds that service managers grant. */
const CLOSE_GRACE_MS = 8_000;

/** Demo data older than this is told again up to today: the default window of a search is twelve months. */
const DEMO_FRESH_SECONDS = 90 * 86_400;

/** The composition root: opens everything, closes everything. */
export async function openApp(settings: Settings): Promise<App> {
  const dataDir = settings.demo ? join(settings.dataDir, 'demo') : settings.dataDir;
  const tls = tlsPairOf(settings);
  const metrics = settings.metricsPort === 'off' ? undefined : createMetrics();
  const open: { close(): unknown }[] = [];
  const opened = <Part extends { close(): unknown }>(part: Part): Part => {
    open.unshift(part);
    return part;
  };
  const close = async () => {
    for (const part of open) await part.close();
  };
  try {
    const place = { ...settings, dataDir };
    const store = timed(opened(await openStore(place)), 'intelligence', metrics);
    if (settings.demo) await fillDemo(store, now());
    const control = await withKeys(timed(opened(await openControl(place)), 'control', metrics), settings);
    const firstAccount = await ensureFirstAccount(control, settings.demo, now());
    // The server comes last, but none of these has anything to say before it is there.
    const onFailure = (err: unknown) => {
      metrics?.failed('account_poll');
      server.log.warn({ err }, 'accounts could not be looked at again');
    };
    const onFlushFailed = (err: unknown) => {
      metrics?.failed('usage_write');
      server.log.error({ err }, 'counted queries could not be written down; they are kept and tried again');
    };
    const onOutcome = (outcome: string) => {
      metrics?.loggedIn(outcome);
      server.log.debug({ outcome }, 'a login');
    };
    const directory = opened(await openDirectory(control, { nowMs: Date.now, issuer: ISSUER, onFailure }));
    const { tokenLifeSeconds, queryBudgetMs, trustedProxies, logLevel, limitsWhenRedisIsDown: whenDown } = settings;
    const redis = settings.redis && opened(await openRedis(settings.redis, settings.redisPrefix));
    const onCountedLocally = () => metrics?.countedLocally();
    const counters = opened(
      redis === null
        ? createMemoryCounters(control, { nowMs: Date.now, onFlushFailed })
        : createRedisCounters(redis, control, { whenDown, onFlushFailed, onCountedLocally }),
    );
    const { verify } = opened(createPasswordJudge());
    const login = createLogin({
      ...{ control, directory, nowMs: Date.now, verify, tokenLifeSeconds, onOutcome },
      ...(redis && { failures: createSharedLoginFailures(redis), penalty: createSharedLoginPenalty(redis) }),
    });
    const logger = { level: logLevel, stream: process.stderr };
    const server = buildServer(
      {
        store,
        now,
        authenticate: directory.authenticate,
        counters,
        ...(redis === null ? {} : { countedWhere: () => (redis.isUp() ? 'shared' : standIn(whenDown)) }),
        login,
        feeds: control.feeds,
      },
      { queryBudgetMs, logger, tls, metrics, trustedProxies },
    );
    if (redis !== null) watchRedis(redis, { log: server.log, metrics, whenDown });
    const metricsUrl = metrics === undefined ? null : await listenForMetrics(metrics, settings, opened);
    opened({ close: () => closeServer(server, CLOSE_GRACE_MS) });
    const { host, port } = settings;
    const scheme = tls === undefined ? 'http' : 'https';
    await server
      .listen({ host, port, listenTextResolver: (address) => `listening on ${address.replace(/^http/, scheme)}` })
      .catch(explainListen(host, port, 'host', 'port'));
    opened(startFeeds({ store, control, metrics, log: server.log, settings }));
    const url = urlOf(scheme, host, (server.server.address() as { port: number }).port);
    server.log.info(
      { url, metricsUrl, place: describePlace(place), version: version(), node: process.version },
      'started',
    );
    return {
      url,
      metricsUrl,
      dataDir,
      place: describePlace(place),
      firstAccount,
      rereadTls() {
        try {
          const pair = tlsPairOf(settings);
          if (pair !== undefined) setTlsPair(server, pair);
          server.log.info('certificate and key were read again');
        } catch (err) {
          server.log.error({ err }, 'certificate and key stay as they were');
        }
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

function tlsPairOf({ tlsCertFile, tlsKeyFile }: Settings): TlsPair | undefined {
  return tlsCertFile === null || tlsKeyFile === null ? undefined : readTlsPair(tlsCertFile, tlsKeyFile);
}

/** Keys from a file take the place of those in the store. */
async function withKeys(control: Control, { signingKeyFile }: Settings): Promise<Control> {
  if (signingKeyFile !== null) {
    const keys = readKeyFile(signingKeyFile);
    return { ...control, keys: async () => keys };
  }
  await ensureKey(control, now());
  return control;
}

async function fillDemo(store: Store, now: number): Promise<void> {
  const observations = demoObservations(now);
  const last = await store.urlLast(observations[0]?.url ?? '');
  const status = last === null ? null : (JSON.parse(last) as UrlLastResponse).status;
  if (status !== null && status.ts > now - DEMO_FRESH_SECONDS) return;
  await store.apply(observations);
}

async function listenForMetrics(
  metrics: Metrics,
  { metricsHost: host, metricsPort: port }: Settings,
  opened: <Part extends { close(): unknown }>(part: Part) => Part,
): Promise<string> {
  const listening = openMetricsServer(metrics, { host, port: Number(port) });
  const server = opened(await listening.catch(explainListen(host, Number(port), 'metrics-host', 'metrics-port')));
  return urlOf('http', host, server.port) + METRICS_PATH;
}

function urlOf(scheme: string, host: string, port: number): string {
  return `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function explainListen(host: string, port: number, hostFlag: string, portFlag: string) {
  return (error: NodeJS.ErrnoException): never => {
    const reasons: Record<string, string> = {
      EADDRINUSE: `Port ${port} on ${host} is taken: choose another with --${portFlag}, or --${portFlag} 0 for any free one`,
      EACCES: `Port ${port} needs more rights than this user has: choose one from 1024 on with --${portFlag}`,
      EADDRNOTAVAIL: `${host} is no address of this machine: choose another with --${hostFlag}`,
    };
    throw new AppError('unavailable', reasons[error.code ?? ''] ?? `Cannot listen on ${host}: ${error.message}`, {
      cause: error,
    });
  };
}

/** Beside `src` and beside `dist`. */
function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
