import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** POST requests that are sent one after the other; the first follows the last. */
export type BackgroundRequests = {
  url: string;
  headers: Record<string, string>;
  bodies: readonly string[];
  /** How many at a time. */
  parallel: number;
};

const CHILD = fileURLToPath(new URL('./background-child.ts', import.meta.url));

/**
 * Runs `work` while another process sends requests and reads the responses. In this process, what `work` measures would wait
 * for them.
 */
export async function beside<Result>(requests: BackgroundRequests, work: () => Promise<Result>): Promise<Result> {
  const child = fork(CHILD);
  try {
    child.send(requests);
    await Promise.race([once(child, 'message'), endedEarly(once(child, 'exit'))]);
    return await Promise.race([work(), endedEarly(once(child, 'exit'))]);
  } finally {
    if (child.exitCode === null && child.kill()) await once(child, 'exit');
  }
}

async function endedEarly(exit: Promise<unknown[]>): Promise<never> {
  const [code] = await exit;
  throw new Error(`the process that sends requests ended with code ${code}`);
}
