import { createWorkerThread, workerEntry } from '../threads/worker-thread.ts';
import type { PasswordTasks } from './password-verifier-worker.ts';

type PasswordVerifier = {
  /** The same result as `verifyPassword`. Calls run one at a time. */
  verify(password: string, hash: string): Promise<boolean>;
  close(): Promise<void>;
};

/**
 * Verifies passwords on a worker thread with low priority: 46 ms of argon2 per password would otherwise compete with
 * lookups for the processor. The thread starts with the first login.
 */
export function createPasswordVerifier(): PasswordVerifier {
  const thread = createWorkerThread<PasswordTasks>(workerEntry('password-verifier-worker', import.meta.url));
  return { verify: (password, hash) => thread.call('verify', password, hash), close: thread.close };
}
