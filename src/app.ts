import { randomUUID } from 'node:crypto';
import { availableParallelism, hostname } from 'node:os';
import { join } from 'node:path';
import { ensureFirstAccount, type FirstAccount } from './accounts/first-account.ts';
import { createPasswordCheck } from './accounts/login.ts';
import { createSharedLoginFailures, createSharedLoginPenalty } from './accounts/login-shared.ts';
import { createPasswordVerifier } from './accounts/password-verifier.ts';
import { ensureKey, readKeyFile } from './accounts/signing-keys.ts';
import type { SigningKey } from './accounts/store.ts';
import { createServerAudit } from './app/audit.ts';
import { startBackground } from './app/background.ts';
import { fillDemo, fillDemoControl } from './app/demo.ts';
import { openUploads, startFeeds } from './app/feeds.ts';
import { watchStores } from './app/health.ts';
import { canSharePort, listenOn, openMetricsListener, refuseUsedPort } from './app/listen.ts';
import { openListCopies } from './app/lists.ts';
import { createOwnerTasks, type Owner } from './app/owner.ts';
import { createProcessState } from './app/process-state.ts';
import { openRedis } from './app/redis.ts';
import {
  now,
  openMetrics,
  openNetworkTable,
  openServing,
  TASK_FAILED,
  type ThreadStart,
  timed,
} from './app/serving.ts';
import { type Control, describePlace, openControl, openIntelligence } from './app/stores.ts';
import { createThreads } from './app/threads.ts';
import type { Settings } from './config/settings.ts';
import { programVersion } from './config/version.ts';
import { AppError } from './core/errors.ts';
import { OPERATOR_TIER } from './core/tier.ts';
import { createOutages } from './health/outages.ts';
import { closeServer, endKeepAlive, setTlsPair } from './http/server.ts';
import { expiryOf, readTlsPair, type TlsPair, timeFaultOf } from './http/tls.ts';
import { readFamilies } from './ingest/tag-families.ts';
import { createSharedCounts } from './limits/shared-counts.ts';
import { joinMetrics } from './metrics/metrics.ts';
import { createTotals } from './portal/totals.ts';
import { createKnownUrlsBuffer } from './urls/sqlite/known-urls.ts';

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
  /** Aborted if the server cannot go on: it has to be closed. The reason is an AppError. */
  failed: AbortSignal;
  /** For tests: ends a thread, not the first one, as a defect outside of any request would. */
  crashThread(thread: number): void;
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
  /** Resolves when all threads answer. The first one does already. */
  allThreads: Promise<void>;
};

/** Responses that take longer than this to finish are aborted when the server closes. */
const CLOSE_GRACE_MS = 8_000;

/** More threads answer more requests only while nothing else limits them; each takes memory. */
const DEFAULT_MAX_THREADS = 8;

/** The number of the thread that runs this file. */
const FIRST_THREAD = 0;

/**
 * The composition root: opens everything in order, and closes it in reverse. The thread that runs it owns what exists once
 * in the process (`app/owner.ts`), and answers requests like the others (`app/serving.ts`).
 */
export async function openApp(given: Settings): Promise<App> {
  const wantedThreads = threadsFor(given);
  const threadCount = wantedThreads === 1 || (await canSharePort()) ? wantedThreads : 1;
  const settings = settingsOfThread(given, threadCount);
  const { dataDir } = settings;
  let tls = readTls(settings);
  const scheme = tls === undefined ? 'http' : 'https';
  const metrics = openMetrics(settings, FIRST_THREAD);
  const open: { close(): unknown }[] = [];
  const opened = <Part extends { close(): unknown }>(part: Part): Part => {
    open.unshift(part);
    return part;
  };
  const close = async () => {
    for (const part of open.splice(0)) await part.close();
  };
  try {
    const knownUrls = createKnownUrlsBuffer();
    const store = timed(opened(await openIntelligence(settings, { knownUrls })), 'intelligence', metrics);
    if (settings.demo) await fillDemo(store, now());
    const openedControl = timed(opened(await openControl(settings)), 'control', metrics);
    const { control, fileKeys, newKid } = await withKeys(openedControl, settings);

    // These callbacks need the server, which is built later; none of them is called before.
    const log = {
      error: (details: object, message: string) => server.log.error(details, message),
      warn: (details: object, message: string) => server.log.warn(details, message),
      info: (details: object, message: string) => server.log.info(details, message),
    };
    const outages = createOutages(log, () => performance.now());
    const onFailure =
      (task: 'usage_write' | 'usage_cleanup' | 'change_cleanup' | 'totals_count' | 'node_write') => (err: unknown) => {
        metrics?.failed(task);
        if (!outages.report(err)) log.error({ err, task }, TASK_FAILED);
      };
    const state = createProcessState();
    const redis = settings.redis && opened(await openRedis(settings.redis, settings.redisPrefix));
    if (redis !== null) metrics?.watchRedis(state.isRedisUp);
    const counts = opened(createSharedCounts(control, { nowMs: Date.now, onFlushFailed: onFailure('usage_write') }));
    const { verify } = opened(createPasswordVerifier());
    const checkPassword = createPasswordCheck({
      ...{ store: control, nowMs: Date.now, verify },
      onOutcome(outcome) {
        metrics?.loginEnded(outcome);
        server.log.debug({ outcome }, 'login');
      },
      ...(redis && { failures: createSharedLoginFailures(redis), penalty: createSharedLoginPenalty(redis) }),
    });
    const audit = opened(createServerAudit({ control, settings, log, outages, now }));
    const { ready } = opened(watchStores({ store, control, outages, metrics }));
    if (tls !== undefined) metrics?.watchCertificate(() => Number(expiryOf(tls as TlsPair)) / 1000);
    const networks = opened(openNetworkTable(settings, log));
    const families = readFamilies(settings.familiesFile);
    const uploads = openUploads({ store, control, networks, families, settings, now, log });
    const totals = opened(
      createTotals({
        ...{ store, now },
        changes: async () =>
          JSON.stringify([await control.imports({ limit: 1 }), await store.lastIds(), await store.listVersion()]),
        onFailure: onFailure('totals_count'),
      }),
    );
    const lists = opened(
      openListCopies({
        ...{ store, control, settings },
        onFailure(err, list) {
          metrics?.failed('list_build');
          if (!outages.report(err)) log.error({ err, task: 'list_build', list }, LIST_FAILED);
        },
      }),
    );
    const owner: Owner = {
      ...{ counts, checkPassword, ready, reportFailure: outages.report, onAboveSoftLimit: audit.onAboveSoftLimit },
      totals: totals.current,
      receiveUpload: uploads.receive,
      wakeFeeds: () => void feeds?.runDue(),
      listCopy: lists.copy,
      keptListCopy: lists.keptCopy,
      knownLists: lists.known,
      explainEntry: lists.explain,
    };
    const node = randomUUID();
    const serving = opened(
      await openServing({
        ...{ settings, thread: FIRST_THREAD, state, node, tls, store, control, redis, networks, owner, metrics },
      }),
    );
    const { server } = serving;
    let metricsListener: Awaited<ReturnType<typeof openMetricsListener>> | undefined;
    opened({ close: () => metricsListener?.close() }); // closes after the server, so that metrics can be read until then
    let feeds: ReturnType<typeof startFeeds> | undefined;
    const failed = new AbortController();
    const threads = createThreads({
      count: threadCount - 1,
      start: (thread): ThreadStart => ({
        ...{ settings, thread, state: state.buffer, knownUrls, node, fileKeys, tls },
      }),
      tasksFor: ({ call }) =>
        createOwnerTasks(owner, {
          writes: { intelligence: store.write, control: control.write },
          nextUploadedBytes: (upload) => call('nextUploadedBytes', upload),
        }),
      onEnded(thread, err) {
        counts.releaseThread(thread);
        state.setRedisUp(thread, true);
        metrics?.threadEnded();
        log.error({ err, thread }, 'a thread ended; its connections were lost, and it is replaced');
      },
      onCrashLoop: () => failed.abort(new AppError('unavailable', CRASH_LOOP)),
    });
    // Together, because an import waits for its batch, and PostgreSQL may hang.
    opened({
      close: () =>
        Promise.all([
          ...[closeServer(server, CLOSE_GRACE_MS), threads.close(CLOSE_GRACE_MS), feeds?.close(), uploads.close()],
        ]),
    });
    const readMetrics = async () =>
      joinMetrics([...(metrics ? [await metrics.read()] : []), ...(await threads.readMetrics())]).text();

    async function listen(): Promise<Listening> {
      if (metrics !== undefined) metricsListener = await openMetricsListener(readMetrics, settings);
      const isShared = threadCount > 1;
      if (isShared) await refuseUsedPort(settings);
      const { url, port } = await listenOn(server, { ...settings, isShared }, scheme);
      feeds = startFeeds({ store, control, metrics, log: server.log, outages, settings, networks, families, now });
      // After everything that can fail: its password is shown only once.
      const firstAccount = await ensureFirstAccount(control, settings.demo, now());
      if (newKid !== null) await audit.record('key.add', newKid, {});
      if (firstAccount !== null) await audit.record('account.add', firstAccount.username, { tier: OPERATOR_TIER });
      if (settings.demo) await fillDemoControl(control, store, now());
      audit.start();
      const version = programVersion();
      opened(
        startBackground({
          ...{ settings, store, control, redis, totals, outages, metrics, log, now, onFailure },
          node: { node, name: `${hostname()}:${port}`, version },
          onFaults: state.setFaults,
        }),
      );
      const metricsUrl = metricsListener?.url ?? null;
      const started = { url, metricsUrl, place: describePlace(settings), version, node: process.version };
      server.log.info({ ...started, threads: threadCount }, 'started');
      // Last: this thread answers while the others start. They do not make the start longer.
      const allThreads = threads.start(port);
      if (threadCount < wantedThreads) log.warn({}, ONE_THREAD_ONLY);
      warnOfCertificate();
      return { url, metricsUrl, firstAccount, allThreads };
    }

    /** The server starts all the same: its clock may be wrong. */
    function warnOfCertificate(): void {
      const fault = tls && timeFaultOf(tls, Date.now());
      if (fault) log.warn({}, fault);
    }

    return {
      dataDir,
      place: describePlace(settings),
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
            threads.setTlsPair(pair);
            tls = pair;
          }
          server.log.info('certificate and key were read again');
          warnOfCertificate();
        } catch (err) {
          server.log.error({ err }, 'certificate and key stay as they were');
        }
      },
      announceStop() {
        state.announceStop();
        endKeepAlive(server);
        threads.endKeepAlive();
        void feeds?.close(); // `close` waits for them
        void uploads.close();
        server.log.info('stopping');
      },
      failed: failed.signal,
      crashThread: threads.crash,
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

const LIST_FAILED = 'a list could not be built; its last copy is served';
const CRASH_LOOP = 'Threads of the server end again and again; the log has the errors';
const ONE_THREAD_ONLY = 'one thread answers: on this system several threads cannot listen on one port';

function threadsFor({ threads, demo }: Settings): number {
  return threads ?? (demo ? 1 : Math.min(availableParallelism(), DEFAULT_MAX_THREADS));
}

/** Every thread has a pool of connections; together they have those of the settings, but each at least this many. */
const MIN_CONNECTIONS = 2;

function settingsOfThread(settings: Settings, threads: number): Settings {
  const share = Math.max(MIN_CONNECTIONS, Math.floor(settings.databaseConnections / threads));
  return {
    ...settings,
    dataDir: settings.demo ? join(settings.dataDir, 'demo') : settings.dataDir,
    databaseConnections: threads === 1 ? settings.databaseConnections : share,
  };
}

function readTls({ tlsCertFile, tlsKeyFile }: Settings): TlsPair | undefined {
  return tlsCertFile === null || tlsKeyFile === null ? undefined : readTlsPair(tlsCertFile, tlsKeyFile);
}

type WithKeys = { control: Control; fileKeys: SigningKey[] | null; newKid: string | null };

/** Keys from a file replace those in the store. `newKid` is the id of the key that was created because there was none. */
async function withKeys(control: Control, { signingKeyFile }: Settings): Promise<WithKeys> {
  if (signingKeyFile !== null) {
    const fileKeys = readKeyFile(signingKeyFile);
    return { control: { ...control, keys: async () => fileKeys }, fileKeys, newKid: null };
  }
  let newKid: string | null = null;
  await ensureKey(control, now(), (kid) => {
    newKid = kid;
  });
  return { control, fileKeys: null, newKid };
}
