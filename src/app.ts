import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ensureFirstAccount, type FirstAccount } from './accounts/first-account.ts';
import { startBackground } from './app/background.ts';
import { readCertificate } from './app/certificate.ts';
import { fillDemo, fillDemoControl } from './app/demo.ts';
import { createFeeds, openUploads } from './app/feeds.ts';
import { withKeys } from './app/keys.ts';
import { createMetricsListener, listenOn, type MetricsListener, refuseUsedPort } from './app/listen.ts';
import { createOpenParts, type OpenParts } from './app/open-parts.ts';
import { openOwner } from './app/owner.ts';
import { createOwnerTasks } from './app/owner-calls.ts';
import { createProcessState } from './app/process-state.ts';
import { openRedis } from './app/redis.ts';
import {
  logOf,
  now,
  openMetrics,
  openNetworkTable,
  openServing,
  TASK_FAILED,
  type ThreadStart,
  timed,
} from './app/serving.ts';
import { describePlace, openControl, openIntelligence } from './app/stores.ts';
import { planThreads } from './app/thread-plan.ts';
import { createThreads, type Threads } from './app/threads.ts';
import type { Settings } from './config/settings.ts';
import { programVersion } from './config/version.ts';
import { AppError } from './core/errors.ts';
import { OPERATOR_TIER } from './core/tier.ts';
import { createOutages } from './health/outages.ts';
import { closeServer, endKeepAlive, setTlsPair } from './http/server.ts';
import { readFamilies } from './ingest/tag-families.ts';
import { joinMetrics } from './metrics/metrics.ts';
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

/** The number of the thread that runs this file. */
const FIRST_THREAD = 0;

/**
 * The composition root: opens everything in order, and closes it in reverse. The thread that runs it owns what exists once
 * in the process (`app/owner.ts`), and answers requests like the others (`app/serving.ts`).
 */
export async function openApp(settings: Settings): Promise<App> {
  const open = createOpenParts();
  try {
    return createApp(await openParts(settings, open), open);
  } catch (error) {
    await open.close();
    throw error;
  }
}

type Parts = Awaited<ReturnType<typeof openParts>>;

/** Opens what the process works with, up to the server of this thread. */
async function openParts(given: Settings, open: OpenParts) {
  const threadPlan = await planThreads(given);
  const { settings } = threadPlan;
  const certificate = readCertificate(settings);
  const metrics = openMetrics(settings, FIRST_THREAD);
  const knownUrls = createKnownUrlsBuffer();
  const store = timed(open.add(await openIntelligence(settings, { knownUrls })), 'intelligence', metrics);
  if (settings.demo) await fillDemo(store, now());
  const openedControl = timed(open.add(await openControl(settings)), 'control', metrics);
  const { control, fileKeys, newKid } = await withKeys(openedControl, settings, now());

  const log = logOf(() => server); // which is built last; nothing is logged before
  const outages = createOutages(log, () => performance.now());
  const onFailure =
    (task: 'usage_write' | 'usage_cleanup' | 'change_cleanup' | 'totals_count' | 'node_write') => (err: unknown) => {
      metrics?.failed(task);
      if (!outages.report(err)) log.error({ err, task }, TASK_FAILED);
    };
  const state = createProcessState();
  const redis = settings.redis && open.add(await openRedis(settings.redis, settings.redisPrefix));
  if (redis !== null) metrics?.watchRedis(state.isRedisUp);
  if (certificate !== null) metrics?.watchCertificate(certificate.expiryTs);
  const networks = open.add(openNetworkTable(settings, log));
  const shared = { settings, store, control, networks, metrics, log, outages, now };
  const forImports = { ...shared, families: readFamilies(settings.familiesFile) };
  const feeds = createFeeds(forImports);
  const uploads = openUploads(forImports);
  const once = openOwner({ ...shared, redis, feeds, uploads, onFailure }, open);
  const node = randomUUID();
  const tls = certificate?.pair();
  const { server } = open.add(
    await openServing({ ...shared, thread: FIRST_THREAD, state, node, tls, redis, owner: once.owner }),
  );
  return {
    ...shared,
    ...once,
    threadPlan,
    certificate,
    knownUrls,
    fileKeys,
    newKid,
    onFailure,
    state,
    redis,
    feeds,
    uploads,
    node,
    server,
  };
}

function createApp(parts: Parts, open: OpenParts): App {
  const { settings, certificate, log, state, feeds, uploads, server } = parts;
  const metricsListener = open.add(createMetricsListener(settings)); // closes after the server: metrics can be read until then
  const failed = new AbortController();
  const threads = threadsOf(parts, () => failed.abort(new AppError('unavailable', CRASH_LOOP)));
  // Together, because an import waits for its batch, and PostgreSQL may hang.
  open.add({
    close: () =>
      Promise.all([closeServer(server, CLOSE_GRACE_MS), threads.close(CLOSE_GRACE_MS), feeds.close(), uploads.close()]),
  });
  return {
    dataDir: settings.dataDir,
    place: describePlace(settings),
    async listen() {
      try {
        return await listen({ ...parts, threads, metricsListener }, open);
      } catch (error) {
        await open.close();
        throw error;
      }
    },
    rereadTls() {
      if (certificate === null) return;
      try {
        const pair = certificate.reread();
        setTlsPair(server, pair);
        threads.setTlsPair(pair);
        log.info({}, 'certificate and key were read again');
        warnOfCertificate(parts);
      } catch (err) {
        log.error({ err }, 'certificate and key stay as they were');
      }
    },
    announceStop() {
      state.announceStop();
      endKeepAlive(server);
      threads.endKeepAlive();
      void feeds.close(); // `close` waits for them
      void uploads.close();
      log.info({}, 'stopping');
    },
    failed: failed.signal,
    async close() {
      await open.close();
      log.info({}, 'stopped');
    },
  };
}

type ListeningParts = Parts & { threads: Threads; metricsListener: MetricsListener };

/** Adds what runs in the background to `open`. */
async function listen(parts: ListeningParts, open: OpenParts): Promise<Listening> {
  const { settings, threadPlan, threads, certificate, metrics, metricsListener, log } = parts;
  const { store, control, server, feeds, audit } = parts;
  // Of two servers with the same settings, the second one should name the port that people know, not that of the metrics.
  await refuseUsedPort(settings);
  const metricsUrl = metrics
    ? await metricsListener.listen(async () =>
        joinMetrics([await metrics.read(), ...(await threads.readMetrics())]).text(),
      )
    : null;
  const isShared = threadPlan.count > 1;
  const { url, port } = await listenOn(server, { ...settings, isShared }, certificate === null ? 'http' : 'https');
  feeds.start();
  // After everything that can fail: its password is shown only once.
  const firstAccount = await ensureFirstAccount(control, settings.demo, now());
  if (parts.newKid !== null) await audit.record('key.add', parts.newKid, {});
  if (settings.demo)
    await fillDemoControl(control, store, now()); // its audit log has the account
  else if (firstAccount !== null) await audit.record('account.add', firstAccount.username, { tier: OPERATOR_TIER });
  audit.start();
  const version = programVersion();
  const node = { node: parts.node, name: `${hostname()}:${port}`, version };
  open.add(startBackground({ ...parts, node, onFaults: parts.state.setFaults }));
  const place = describePlace(settings);
  log.info({ url, metricsUrl, place, version, node: process.version, threads: threadPlan.count }, 'started');
  // Last: this thread answers while the others start. They do not make the start longer.
  const allThreads = threads.start(port);
  if (threadPlan.isReduced) log.warn({}, ONE_THREAD_ONLY);
  warnOfCertificate(parts);
  return { url, metricsUrl, firstAccount, allThreads };
}

/** The server starts all the same: its clock may be wrong. */
function warnOfCertificate({ certificate, log }: Pick<Parts, 'certificate' | 'log'>): void {
  const fault = certificate?.timeFault();
  if (fault) log.warn({}, fault);
}

/** The threads besides this one, which call the owner on it. */
function threadsOf(parts: Parts, onCrashLoop: () => void): Threads {
  const { settings, store, control, owner, counts, state, metrics, log } = parts;
  const { threadPlan, knownUrls, node, fileKeys, certificate } = parts;
  return createThreads({
    count: threadPlan.count - 1,
    start: (thread): ThreadStart => ({
      settings,
      thread,
      state: state.buffer,
      knownUrls,
      node,
      fileKeys,
      tls: certificate?.pair(),
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
    onCrashLoop,
  });
}

const CRASH_LOOP = 'Threads of the server end again and again; the log has the errors';
const ONE_THREAD_ONLY = 'one thread answers: on this system several threads cannot listen on one port';
