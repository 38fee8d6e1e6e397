import { parentPort, workerData } from 'node:worker_threads';
import { closeServer, endKeepAlive, setTlsPair } from '../http/server.ts';
import type { TlsPair } from '../http/tls.ts';
import type { MetricValues } from '../metrics/metrics.ts';
import { createTaskCaller, runTask, type TaskRequest, type TaskResponse } from '../threads/calls.ts';
import { withKeyFile } from './keys.ts';
import { listenOn } from './listen.ts';
import { createReceivedUploads, createRemoteOwner, type OwnerTasks } from './owner-calls.ts';
import { createProcessState } from './process-state.ts';
import { openRedis } from './redis.ts';
import { logOf, openMetrics, openNetworkTable, openServing, type ThreadStart, timed } from './serving.ts';
import { openControl, openIntelligence } from './stores.ts';

// The entry file of every thread that answers requests, except the first one of the process.

/** What the first thread calls. */
export type ServingTasks = {
  listen(port: number): Promise<void>;
  readMetrics(): Promise<MetricValues>;
  setTlsPair(pair: TlsPair): void;
  endKeepAlive(): void;
  nextUploadedBytes(upload: number): Promise<Uint8Array | null>;
  /** Waits for responses in progress, then ends the thread. */
  close(graceMs: number): Promise<void>;
};

if (parentPort === null) throw new Error('the entry file of a worker thread was started as a program');
const port = parentPort;
const start = workerData as ThreadStart;

const { call, settle } = createTaskCaller<OwnerTasks>((request) => port.postMessage(request));
const uploads = createReceivedUploads();
const state = createProcessState(start.state);
const metrics = openMetrics(start.settings, start.thread);

async function open() {
  const { settings, thread } = start;
  const writeFor = (...write: Parameters<OwnerTasks['write']>) => call('write', ...write);
  const store = timed(
    await openIntelligence(settings, { writeFor, knownUrls: start.knownUrls }),
    'intelligence',
    metrics,
  );
  const control = withKeyFile(timed(await openControl(settings, writeFor), 'control', metrics), start.fileKeys);
  const redis = settings.redis && (await openRedis(settings.redis, settings.redisPrefix));
  const networks = openNetworkTable(
    settings,
    logOf(() => server),
  );
  const { server, close } = await openServing({
    settings,
    thread,
    node: start.node,
    tls: start.tls,
    store,
    control,
    redis,
    networks,
    metrics,
    state,
    owner: createRemoteOwner(call, uploads),
  });
  return {
    server,
    async close() {
      close();
      networks.close();
      await redis?.close();
      await Promise.all([store.close(), control.close()]);
    },
  };
}

function tasksOf({ server, close }: Awaited<ReturnType<typeof open>>): ServingTasks {
  return {
    async listen(onPort) {
      if (state.isStopping()) return;
      const { settings, thread, tls } = start;
      const place = { host: settings.host, port: onPort, isShared: true, thread };
      await listenOn(server, place, tls === undefined ? 'http' : 'https');
    },
    readMetrics: async () => (await metrics?.read()) ?? [],
    setTlsPair: (pair) => setTlsPair(server, pair),
    endKeepAlive: () => endKeepAlive(server),
    nextUploadedBytes: uploads.next,
    async close(graceMs) {
      await closeServer(server, graceMs);
      await close();
    },
  };
}

/** A task that is called before everything is open waits for it. */
const tasks = open().then(tasksOf);
port.on('message', async (message: TaskRequest | TaskResponse) => {
  if (!('name' in message)) return settle(message);
  port.postMessage(await runTask(await tasks, message));
  if (message.name === 'close') port.close();
});
await tasks; // an error ends the thread, and the first one logs it
