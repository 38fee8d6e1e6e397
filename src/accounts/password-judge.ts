import { Worker } from 'node:worker_threads';

export type JudgeRequest = { id: number; password: string; hash: string };
export type JudgeAnswer = { id: number; isMatch: boolean } | { id: number; failed: unknown };

export type PasswordJudge = {
  /** As `verifyPassword`, one after the other, out of the way of everything else. */
  verify(password: string, hash: string): Promise<boolean>;
  close(): Promise<void>;
};

type Waiting = { resolve(isMatch: boolean): void; reject(error: unknown): void };

/** Built, the worker is JavaScript; from a clone, it is the source itself. */
const WORKER = new URL(`./password-judge-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/**
 * A thread that judges passwords with the lowest claim on the processor: 45 ms of argon2 each would otherwise compete
 * with lookups as their equal. Starts with the first login.
 */
export function createPasswordJudge(): PasswordJudge {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let lastId = 0;

  function start(): Worker {
    const started = new Worker(WORKER);
    started.on('message', settle);
    started.on('error', failAll);
    started.on('exit', () => {
      worker = null;
      failAll(new Error('the thread that judges passwords ended'));
    });
    return started;
  }

  function settle(answer: JudgeAnswer): void {
    const one = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('failed' in answer) one?.reject(answer.failed);
    else one?.resolve(answer.isMatch);
  }

  function failAll(error: unknown): void {
    for (const one of waiting.values()) one.reject(error);
    waiting.clear();
  }

  return {
    verify(password, hash) {
      worker ??= start();
      const id = ++lastId;
      worker.postMessage({ id, password, hash } satisfies JudgeRequest);
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },

    async close() {
      await worker?.terminate();
    },
  };
}
