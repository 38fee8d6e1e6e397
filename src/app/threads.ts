import { Worker } from 'node:worker_threads';
import { AppError } from '../core/errors.ts';
import { lastKnown } from '../health/last-known.ts';
import type { TlsPair } from '../http/tls.ts';
import { joinMetrics, type MetricValues } from '../metrics/metrics.ts';
import { createTaskCaller, runTask, type TaskCaller, type TaskRequest, type TaskResponse } from '../threads/calls.ts';
import { workerEntry } from '../threads/worker-thread.ts';
import type { OwnerTasks } from './owner-calls.ts';
import type { ThreadStart } from './serving.ts';
import type { ServingTasks } from './serving-thread.ts';

/** The threads of the process besides the first one. A thread that dies is replaced. */
export type Threads = {
  /** Starts them. Resolves when all of them listen on the port, or have ended. */
  start(port: number): Promise<void>;
  setTlsPair(pair: TlsPair): void;
  endKeepAlive(): void;
  /** Of each thread, and of those that have ended. */
  readMetrics(): Promise<MetricValues[]>;
  /** Waits for responses in progress, at most `graceMs`, and ends the threads. */
  close(graceMs: number): Promise<void>;
};

type ThreadsOptions = {
  /** How many. */
  count: number;
  start(thread: number): ThreadStart;
  /** What a thread can call on this one. */
  tasksFor(caller: TaskCaller<ServingTasks>): OwnerTasks;
  /** Called after a thread has ended because of an error, before it is replaced. */
  onEnded(thread: number, error: unknown): void;
  /** Threads end again and again: the process has to end. */
  onCrashLoop(): void;
};

const ENTRY = workerEntry('serving-thread', import.meta.url);

/** With more deaths than this in a minute, a new thread does not help. */
const MAX_DEATHS = 5;
const DEATHS_MS = 60_000;

type Thread = {
  worker: Worker;
  caller: TaskCaller<ServingTasks>;
  readMetrics(): Promise<MetricValues>;
  metrics: MetricValues;
};

export function createThreads({ count, start, tasksFor, onEnded, onCrashLoop }: ThreadsOptions): Threads {
  const threads = new Map<number, Thread>();
  /** Counters must not become smaller when a thread ends. */
  let endedMetrics: MetricValues = [];
  let deaths: number[] = [];
  let port = 0;
  let isClosing = false;

  function startThread(number: number): Thread {
    const worker = new Worker(ENTRY, { name: `serving-${number}`, workerData: start(number) });
    const caller = createTaskCaller<ServingTasks>((request) => worker.postMessage(request));
    const tasks = tasksFor(caller);
    const readMetrics = lastKnown(() => caller.call('readMetrics'), []);
    const thread: Thread = { worker, caller, readMetrics, metrics: [] };
    let error: unknown = new Error('the thread ended');
    worker.on('message', async (message: TaskRequest | TaskResponse) => {
      if (!('name' in message)) return caller.settle(message);
      worker.postMessage(await runTask(tasks, message));
    });
    worker.on('error', (thrown) => {
      error = thrown;
    });
    worker.on('exit', () => {
      threads.delete(number);
      caller.rejectAll(new AppError('unavailable', 'a thread of the server ended', { cause: error }));
      if (!isClosing) void replace(number, thread, error);
    });
    threads.set(number, thread);
    return thread;
  }

  /** Resolves also if the thread ends before it listens: then it is replaced. */
  async function run(number: number): Promise<void> {
    const { worker, caller } = startThread(number);
    try {
      await caller.call('listen', port);
    } catch {
      await worker.terminate();
    }
  }

  async function replace(number: number, ended: Thread, error: unknown): Promise<void> {
    onEnded(number, error);
    endedMetrics = await joinMetrics([endedMetrics, ended.metrics.filter(isCounted)]).read();
    deaths = [...deaths.filter((ms) => performance.now() - ms < DEATHS_MS), performance.now()];
    if (deaths.length > MAX_DEATHS) onCrashLoop();
    else if (!isClosing) await run(number);
  }

  /** A thread that ends meanwhile is replaced by one that knows the newest state. */
  function callAll(task: (caller: TaskCaller<ServingTasks>) => Promise<unknown>): void {
    for (const { caller } of threads.values()) task(caller).catch(() => {});
  }

  return {
    async start(chosen) {
      port = chosen;
      await Promise.all(Array.from({ length: count }, (_, i) => run(i + 1)));
    },
    setTlsPair: (pair) => callAll(({ call }) => call('setTlsPair', pair)),
    endKeepAlive: () => callAll(({ call }) => call('endKeepAlive')),
    async readMetrics() {
      const read = [...threads.values()].map(async (thread) => {
        thread.metrics = await thread.readMetrics().catch(() => thread.metrics);
        return thread.metrics;
      });
      return [...(await Promise.all(read)), endedMetrics];
    },
    async close(graceMs) {
      isClosing = true;
      const ended = [...threads.values()].map(({ worker, caller }) => closeThread(worker, caller, graceMs));
      await Promise.all(ended);
    },
  };
}

async function closeThread(worker: Worker, { call }: TaskCaller<ServingTasks>, graceMs: number): Promise<void> {
  const exit = new Promise((resolve) => worker.once('exit', resolve));
  await call('close', graceMs).catch(() => worker.terminate());
  await exit;
}

/** Gauges of a thread that has ended are gone. */
const isCounted = ({ type }: MetricValues[number]): boolean => String(type) !== 'gauge';
