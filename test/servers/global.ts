import { fileURLToPath } from 'node:url';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

// node --test runs this before and after all test files, which find the servers through these variables.

const stops: (() => Promise<void>)[] = [];

/** All tests take ten minutes on two cores. A run with a file that never ends is stopped, and reports that file. */
const MAX_RUN_MS = 40 * 60_000;

/** Loading the modules of a test file takes 0.8 s with it and 1.4 s without. The program itself uses the same folder. */
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/urlwarden', import.meta.url));

/** Starts the servers for which no URL is set. */
export async function globalSetup(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  setTimeout(() => process.kill(process.pid, 'SIGTERM'), MAX_RUN_MS).unref();
  process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE;
  if (process.env.URLWARDEN_TEST_POSTGRES_URL === undefined) {
    const server = await startPostgres();
    process.env.URLWARDEN_TEST_POSTGRES_URL = server.url;
    process.on('exit', () => server.remove());
    stops.push(() => server.stop());
  }
  if (process.env.URLWARDEN_TEST_REDIS_URL === undefined) {
    const server = await startRedis();
    process.env.URLWARDEN_TEST_REDIS_URL = server.url;
    stops.push(() => server.stop());
  }
}

export async function globalTeardown(): Promise<void> {
  for (const stop of stops) await stop();
}
