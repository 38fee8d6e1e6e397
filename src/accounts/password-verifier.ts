import { availableParallelism } from 'node:os';
import { createWorkerThread, workerEntry } from '../threads/worker-thread.ts';
import { concurrentHashes } from './hash-queue.ts';
import type { PasswordTasks } from './password-verifier-worker.ts';

type PasswordVerifier = {
  /** The same result as `verifyPassword`. */
  verify(password: string, hash: string): Promise<boolean>;
  close(): Promise<void>;
};

/**
 * Verifies passwords on worker threads with low priority: 46 ms of argon2 per password would otherwise compete with
 * lookups for the processor. There are as many as the queue lets hash at the same time. Each starts when it is needed.
 */
export function createPasswordVerifier(cores = availableParallelism()): PasswordVerifier {
  const entry = workerEntry('password-verifier-worker', import.meta.url);
  const createThread = () => ({ ...createWorkerThread<PasswordTasks>(entry), calls: 0 });
  const first = createThread();
  const threads = [first, ...Array.from({ length: concurrentHashes(cores) - 1 }, createThread)];
  return {
    async verify(password, hash) {
      const thread = threads.find(({ calls }) => calls === 0) ?? first;
      thread.calls++;
      try {
        return await thread.call('verify', password, hash);
      } finally {
        thread.calls--;
      }
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
