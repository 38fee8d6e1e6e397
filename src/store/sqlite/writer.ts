import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../core/errors.ts';
import type { Observation } from '../../core/observation.ts';
import type { ApplyReport } from '../store.ts';

export type WriterRequest = { id: number; observations: readonly Observation[] } | 'close';
export type WriterAnswer =
  | { id: number; report: ApplyReport }
  | { id: number; failed: unknown; isUnavailable: boolean };

type Waiting = { resolve(report: ApplyReport): void; reject(error: unknown): void };

/** Built, the worker is JavaScript; from a clone, it is the source itself. */
const WORKER = new URL(`./writer-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/**
 * Writes on a thread of their own: waiting for another process's transaction would stop every answer of this one.
 * The thread starts with the first batch; a server that only reads has none.
 */
export function createWriter(path: string) {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let lastId = 0;

  function start(): Worker {
    const started = new Worker(WORKER, { workerData: path });
    started.on('message', settle);
    started.on('error', (error) => failAll(error));
    started.on('exit', () => {
      worker = null;
      failAll(new Error('the thread ended'));
    });
    return started;
  }

  function settle(answer: WriterAnswer): void {
    const one = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('report' in answer) one?.resolve(answer.report);
    else one?.reject(answer.isUnavailable ? unavailable(answer.failed) : answer.failed);
  }

  function failAll(cause: unknown): void {
    for (const one of waiting.values()) one.reject(unavailable(cause));
    waiting.clear();
  }

  return {
    apply(observations: readonly Observation[]): Promise<ApplyReport> {
      worker ??= start();
      const id = ++lastId;
      const { promise, resolve, reject } = Promise.withResolvers<ApplyReport>();
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, observations } satisfies WriterRequest);
      return promise;
    },

    /** Batches that were handed over before are written first. */
    async close(): Promise<void> {
      if (worker === null) return;
      const ended = once(worker, 'exit');
      worker.postMessage('close' satisfies WriterRequest);
      await ended;
    },
  };
}

function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', `The writer failed: ${(cause as Error).message}`, { cause });
}
