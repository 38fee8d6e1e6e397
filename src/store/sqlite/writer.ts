import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { AppError, type ErrorCode } from '../../core/errors.ts';
import type { Part } from '../migrations.ts';
import type { Writes } from './parts.ts';

export type WriterData = { part: Part; path: string };
export type WriterRequest = { id: number; name: string; args: unknown[] } | 'close';
/** An AppError's class does not survive the way between threads, so its code goes beside it. */
export type WriterAnswer = { id: number; result: unknown } | { id: number; failed: unknown; code: ErrorCode | null };

type Waiting = { resolve(result: unknown): void; reject(error: unknown): void };
type Arguments<Write> = Write extends (...args: infer Args) => unknown ? Args : never;
type Result<Write> = Write extends (...args: never) => infer Value ? Value : never;

export type Writer<All> = {
  /** Runs the write of this name on the writer's thread, after those that were handed over before. */
  write<Name extends keyof All & string>(name: Name, ...args: Arguments<All[Name]>): Promise<Result<All[Name]>>;
  /** What was handed over before is written first. */
  close(): Promise<void>;
};

/** Built, the worker is JavaScript; from a clone, it is the source itself. */
const WORKER = new URL(`./writer-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/**
 * Writes on a thread of their own: waiting for another process's transaction would stop every answer of this one.
 * The thread starts with the first write; a process that only reads has none.
 */
export function createWriter<P extends Part>(part: P, path: string): Writer<Writes<P>> {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let lastId = 0;

  function start(): Worker {
    const started = new Worker(WORKER, { workerData: { part, path } satisfies WriterData });
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
    if ('result' in answer) one?.resolve(answer.result);
    else one?.reject(toError(answer.failed, answer.code));
  }

  function failAll(cause: unknown): void {
    for (const one of waiting.values()) one.reject(toError(cause, 'unavailable'));
    waiting.clear();
  }

  return {
    write(name, ...args) {
      worker ??= start();
      const id = ++lastId;
      worker.postMessage({ id, name, args } satisfies WriterRequest);
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
      });
    },

    async close() {
      if (worker === null) return;
      const ended = once(worker, 'exit');
      worker.postMessage('close' satisfies WriterRequest);
      await ended;
    },
  };
}

function toError(cause: unknown, code: ErrorCode | null): unknown {
  if (code === null) return cause;
  const { message } = cause as Error;
  return new AppError(code, code === 'unavailable' ? `The writer failed: ${message}` : message, { cause });
}
