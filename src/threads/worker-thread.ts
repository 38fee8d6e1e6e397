import { readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { parentPort, Worker } from 'node:worker_threads';
import { AppError, type ErrorCode } from '../core/errors.ts';
import { type CallTask, createTaskCaller, runTask, type TaskRequest, type TaskResponse } from './calls.ts';

type WorkerThread<Tasks> = {
  /** Tasks start in the order of the calls. One that returns no promise is finished before the next one starts. */
  call: CallTask<Tasks>;
  /** Waits for pending calls, then ends the thread. */
  close(): Promise<void>;
};

type Request = TaskRequest | { open: unknown } | 'close';
type Response = TaskResponse | 'closed';

/** The entry file of a worker beside the module at `base`: JavaScript in a build, TypeScript in a clone. */
export function workerEntry(name: string, base: string): URL {
  return new URL(`./${name}${base.endsWith('.ts') ? '.ts' : '.js'}`, base);
}

/**
 * Threads without work, by entry file. Loading the modules of a writer takes 150 ms, so a process that opens one database
 * after the other, as tests do, starts few of them. They do not keep the process alive.
 */
const idle = new Map<string, Worker[]>();

/** The first call starts the thread. After the thread has died, the next call starts a new one. `data` is for `serveTasks`. */
export function createWorkerThread<Tasks>(entry: URL, data: unknown = null): WorkerThread<Tasks> {
  let worker: Worker | null = null;
  const { call, settle, rejectAll } = createTaskCaller<Tasks>((request) => {
    worker ??= start();
    worker.postMessage(request satisfies Request);
  });

  function start(): Worker {
    const started = idle.get(entry.href)?.pop() ?? new Worker(entry);
    started.ref();
    started.on('message', (response: Response) => {
      if (response !== 'closed') return settle(response);
      for (const event of ['message', 'error', 'exit']) started.removeAllListeners(event);
      started.unref();
      idle.set(entry.href, [...(idle.get(entry.href) ?? []), started]);
      onEnd();
    });
    started.on('error', (cause) => rejectAll(new AppError(codeOf(cause), cause.message, { cause })));
    started.on('exit', onEnd);
    started.postMessage({ open: data } satisfies Request);
    return started;
  }

  let closed = Promise.withResolvers<void>();
  function onEnd(): void {
    worker = null;
    rejectAll(new AppError('unavailable', 'the worker thread ended'));
    closed.resolve();
    closed = Promise.withResolvers();
  }

  return {
    call,
    async close() {
      if (worker === null) return;
      worker.postMessage('close' satisfies Request);
      await closed.promise;
    },
  };
}

/** The code of an error that ended a thread, such as an AppError when its database was opened. */
function codeOf(error: Error & { code?: unknown }): ErrorCode {
  return error.name === 'AppError' ? (error.code as ErrorCode) : 'unavailable';
}

/**
 * A third of the processor time of a thread with the usual priority. With the lowest one (19) a login takes seconds while another
 * program, such as an import, uses all cores, and lookups wait for V8's threads: docs/decisions/threads.md.
 */
const LOWER_BY = 5;
/** The process itself may have been started with a low priority (`nice`), and only root can raise it. */
const LOWEST = 19;

/**
 * For the entry file of a worker whose work may wait for the threads that answer. The threads with which V8 collects the
 * garbage of all workers wait too: with the usual priority they keep a request waiting for up to 10 ms while lists are built.
 */
export function lowerPriority(): void {
  if (process.platform !== 'linux') return; // elsewhere 0 would mean the whole process
  const lowered = Math.min(getPriority(process.pid) + LOWER_BY, LOWEST); // of the main thread, and less
  setPriority(0, lowered); // the calling thread: setpriority(2), "C library/kernel differences"
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trimEnd();
      if (name === 'V8Worker') setPriority(Number(thread), lowered);
    } catch {} // the thread has ended meanwhile
  }
}

/** `close`: after the tasks that have begun. `closeAtOnce`: while they run; they fail then if they need what it closes. */
type Opened = { tasks: object; close?(): unknown; closeAtOnce?(): unknown };

/**
 * For the entry file of a worker: runs tasks until `WorkerThread.close` is called, and finishes those that have begun. `open`
 * gets the data of `createWorkerThread`; an error that it throws ends the thread.
 */
export function serveTasks<Data>(open: (data: Data) => Opened | Promise<Opened>): void {
  if (parentPort === null) throw new Error('the entry file of a worker thread was started as a program');
  const port = parentPort;
  let opened: Opened | Promise<Opened> | null = null;
  const running = new Set<Promise<void>>();

  function run({ tasks }: Opened, request: TaskRequest): void {
    const response = runTask(tasks, request);
    if (response instanceof Promise) {
      const sent = response.then((ready) => port.postMessage(ready)).finally(() => running.delete(sent));
      running.add(sent);
    } else port.postMessage(response);
  }

  async function end(opening: Opened | Promise<Opened>): Promise<void> {
    const { close, closeAtOnce } = await opening;
    await Promise.all([closeAtOnce?.(), ...running]);
    await close?.();
    port.postMessage('closed' satisfies Response);
  }

  port.on('message', (request: Request) => {
    if (typeof request === 'object' && 'open' in request) opened = open(request.open as Data);
    else if (opened === null)
      return; // sent after `close`: the other thread rejects it when it gets 'closed'
    else if (request === 'close') {
      void end(opened);
      opened = null;
    } else if (opened instanceof Promise) void opened.then((ready) => run(ready, request));
    else run(opened, request);
  });
}
