import { AppError } from '../core/errors.ts';

// Calls between two threads: named tasks of the one, called by the other like asynchronous functions.

type Arguments<Task> = Task extends (...args: infer Args) => unknown ? Args : never;
type Result<Task> = Task extends (...args: never) => infer Value ? Awaited<Value> : never;

/** Calls the task of this name on the other thread. `Tasks` is the object that the other thread passes to `runTask`. */
export type CallTask<Tasks> = <Name extends keyof Tasks & string>(
  name: Name,
  ...args: Arguments<Tasks[Name]>
) => Promise<Result<Tasks[Name]>>;

export type TaskRequest = { id: number; name: string; args: unknown[] };
export type TaskResponse = { id: number; result: unknown } | { id: number; error: unknown; refusal: Refusal | null };

/** Structured cloning loses the class of an AppError and its fields. */
type Refusal = Pick<AppError, 'code' | 'message' | 'isTransient' | 'retryAfterSeconds' | 'challenge' | 'limit'>;

type Pending = { resolve(result: unknown): void; reject(error: unknown): void };

export type TaskCaller<Tasks> = {
  call: CallTask<Tasks>;
  /** To be called with every response of the other thread. */
  settle(response: TaskResponse): void;
  /** The other thread has ended: all calls without a response fail. */
  rejectAll(error: unknown): void;
};

export function createTaskCaller<Tasks>(send: (request: TaskRequest) => void): TaskCaller<Tasks> {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  return {
    call(name, ...args) {
      const id = ++lastId;
      send({ id, name, args });
      return new Promise((resolve, reject) => {
        pending.set(id, { resolve: resolve as Pending['resolve'], reject });
      });
    },
    settle(response) {
      const call = pending.get(response.id);
      pending.delete(response.id);
      if ('result' in response) call?.resolve(response.result);
      else call?.reject(toError(response.error, response.refusal));
    },
    rejectAll(error) {
      for (const call of pending.values()) call.reject(error);
      pending.clear();
    },
  };
}

/** Runs a task; the type `CallTask` has checked its name and arguments. No promise for a task that returns none. */
export function runTask(tasks: object, { id, name, args }: TaskRequest): TaskResponse | Promise<TaskResponse> {
  const failed = (error: unknown): TaskResponse => ({ id, error, refusal: refusalOf(error) });
  try {
    const result = (tasks as Record<string, (...args: unknown[]) => unknown>)[name]?.(...args);
    if (!(result instanceof Promise)) return { id, result };
    return result.then((value) => ({ id, result: value }), failed);
  } catch (error) {
    return failed(error);
  }
}

function refusalOf(error: unknown): Refusal | null {
  if (!(error instanceof AppError)) return null;
  const { code, message, isTransient, retryAfterSeconds, challenge, limit } = error;
  return { code, message, isTransient, retryAfterSeconds, challenge, limit };
}

function toError(cause: unknown, refusal: Refusal | null): unknown {
  if (refusal === null) return cause;
  const { code, message, ...fields } = refusal;
  const options = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return new AppError(code, message, { cause, ...options });
}
