import { once } from 'node:events';
import { parentPort, Worker } from 'node:worker_threads';
import { AppError, type ErrorCode } from '../core/errors.ts';

// The only mechanism for work on another thread: named tasks, called like asynchronous functions.

type Arguments<Task> = Task extends (...args: infer Args) => unknown ? Args : never;
type Result<Task> = Task extends (...args: never) => infer Value ? Value : never;

/** Calls the task of this name on the worker thread. `Tasks` is the object that the worker passes to `serveTasks`. */
export type CallTask<Tasks> = <Name extends keyof Tasks & string>(
  name: Name,
  ...args: Arguments<Tasks[Name]>
) => Promise<Result<Tasks[Name]>>;

type WorkerThread<Tasks> = {
  /** Tasks run sequentially, in the order of the calls. */
  call: CallTask<Tasks>;
  /** Waits for pending calls, then ends the thread. */
  close(): Promise<void>;
};

type Request = { id: number; name: string; args: unknown[] } | 'close';
/** Structured cloning loses the class of an AppError, so its code is sent separately. */
type Response = { id: number; result: unknown } | { id: number; error: unknown; code: ErrorCode | null };
type Pending = { resolve(result: unknown): void; reject(error: unknown): void };

/** The entry file of a worker beside the module at `base`: JavaScript in a build, TypeScript in a clone. */
export function workerEntry(name: string, base: string): URL {
  return new URL(`./${name}${base.endsWith('.ts') ? '.ts' : '.js'}`, base);
}

/** The first call starts the thread. After the thread has died, the next call starts a new one. */
export function createWorkerThread<Tasks>(entry: URL, workerData: unknown = null): WorkerThread<Tasks> {
  const pending = new Map<number, Pending>();
  let worker: Worker | null = null;
  let lastId = 0;

  function start(): Worker {
    const started = new Worker(entry, { workerData });
    started.on('message', settle);
    started.on('error', (error) => rejectAll(error, codeOf(error)));
    started.on('exit', () => {
      worker = null;
      rejectAll(new Error('the worker thread ended'), 'unavailable');
    });
    return started;
  }

  function settle(response: Response): void {
    const call = pending.get(response.id);
    pending.delete(response.id);
    if ('result' in response) call?.resolve(response.result);
    else call?.reject(toError(response.error, response.code));
  }

  function rejectAll(cause: unknown, code: ErrorCode): void {
    for (const call of pending.values()) call.reject(toError(cause, code));
    pending.clear();
  }

  return {
    call(name, ...args) {
      worker ??= start();
      const id = ++lastId;
      worker.postMessage({ id, name, args } satisfies Request);
      return new Promise((resolve, reject) => {
        pending.set(id, { resolve: resolve as Pending['resolve'], reject });
      });
    },

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

function toError(cause: unknown, code: ErrorCode | null): unknown {
  if (code === null) return cause;
  return new AppError(code, (cause as Error).message, { cause });
}

/** For the entry file of a worker: runs tasks until `WorkerThread.close` is called. */
export function serveTasks(tasks: object, close: () => void = () => {}): void {
  if (parentPort === null) throw new Error('the entry file of a worker thread was started as a program');
  const port = parentPort;
  // The type `CallTask` checks names and arguments.
  const byName = tasks as Record<string, (...args: unknown[]) => unknown>;

  function run({ id, name, args }: Exclude<Request, 'close'>): Response {
    try {
      return { id, result: byName[name]?.(...args) };
    } catch (error) {
      return { id, error, code: error instanceof AppError ? error.code : null };
    }
  }

  port.on('message', (request: Request) => {
    if (request !== 'close') return port.postMessage(run(request));
    close();
    port.close();
  });
}
