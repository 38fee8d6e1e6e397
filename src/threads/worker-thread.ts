import { once } from 'node:events';
import { parentPort, Worker } from 'node:worker_threads';
import { AppError, type ErrorCode } from '../core/errors.ts';
import { type CallTask, createTaskCaller, runTask, type TaskRequest, type TaskResponse } from './calls.ts';

type WorkerThread<Tasks> = {
  /** Tasks start in the order of the calls. One that returns no promise is finished before the next one starts. */
  call: CallTask<Tasks>;
  /** Waits for pending calls, then ends the thread. */
  close(): Promise<void>;
};

type Request = TaskRequest | 'close';

/** The entry file of a worker beside the module at `base`: JavaScript in a build, TypeScript in a clone. */
export function workerEntry(name: string, base: string): URL {
  return new URL(`./${name}${base.endsWith('.ts') ? '.ts' : '.js'}`, base);
}

/** The first call starts the thread. After the thread has died, the next call starts a new one. */
export function createWorkerThread<Tasks>(entry: URL, workerData: unknown = null): WorkerThread<Tasks> {
  let worker: Worker | null = null;
  const { call, settle, rejectAll } = createTaskCaller<Tasks>((request) => {
    worker ??= start();
    worker.postMessage(request satisfies Request);
  });

  function start(): Worker {
    const started = new Worker(entry, { workerData });
    started.on('message', (response: TaskResponse) => settle(response));
    started.on('error', (cause) => rejectAll(new AppError(codeOf(cause), cause.message, { cause })));
    started.on('exit', () => {
      worker = null;
      rejectAll(new AppError('unavailable', 'the worker thread ended'));
    });
    return started;
  }

  return {
    call,
    async close() {
      if (worker === null) return;
      const ended = once(worker, 'exit');
      worker.postMessage('close' satisfies Request);
      await ended;
    },
  };
}

/** The code of an error that ended a thread, such as an AppError when its database was opened. */
function codeOf(error: Error & { code?: unknown }): ErrorCode {
  return error.name === 'AppError' ? (error.code as ErrorCode) : 'unavailable';
}

/** For the entry file of a worker: runs tasks until `WorkerThread.close` is called, and finishes those that have begun. */
export function serveTasks(tasks: object, close: () => unknown = () => {}): void {
  if (parentPort === null) throw new Error('the entry file of a worker thread was started as a program');
  const port = parentPort;
  const running = new Set<Promise<void>>();
  port.on('message', async (request: Request) => {
    if (request === 'close') {
      await Promise.all(running);
      await close();
      return port.close();
    }
    const response = runTask(tasks, request);
    if (!(response instanceof Promise)) return port.postMessage(response);
    const sent = response.then((ready) => port.postMessage(ready));
    running.add(sent);
    await sent;
    running.delete(sent);
  });
}
