import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { Settings } from './config/settings.ts';
import { AppError } from './core/errors.ts';
import { buildServer, closeServer } from './http/server.ts';
import { demoObservations } from './ingest/demo.ts';
import { openStore } from './store/open.ts';
import type { Store } from './store/store.ts';

export type App = {
  /** Where it listens, such as http://127.0.0.1:8080 */
  url: string;
  dataDir: string;
  /** Lets running answers finish, then closes everything. */
  close(): Promise<void>;
};

/** Answers that run longer than this after a stop are cut off; below the ten seconds that service managers grant. */
const CLOSE_GRACE_MS = 8_000;

/** Demo data older than this is told again up to today: the default window of a search is twelve months. */
const DEMO_FRESH_SECONDS = 90 * 86_400;

/** The composition root: opens everything, closes everything. */
export async function openApp(settings: Settings): Promise<App> {
  const dataDir = settings.demo ? join(settings.dataDir, 'demo') : settings.dataDir;
  const store = await openStore({ dataDir });
  try {
    if (settings.demo) await fillDemo(store, now());
    // Until there are accounts everyone is let in, which is why settings admit a loopback address only.
    const server = buildServer(
      { store, now, authenticate: () => {} },
      { queryBudgetMs: settings.queryBudgetMs, logger: { level: 'warn', stream: process.stderr } },
    );
    await server.listen({ host: settings.host, port: settings.port }).catch(explainListen(settings));
    const { port } = server.server.address() as { port: number };
    const close = async () => {
      await closeServer(server, CLOSE_GRACE_MS);
      await store.close();
    };
    return { url: `http://${isIPv6(settings.host) ? `[${settings.host}]` : settings.host}:${port}`, dataDir, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}

async function fillDemo(store: Store, now: number): Promise<void> {
  const observations = demoObservations(now);
  const last = await store.urlLast(observations[0]?.url ?? '');
  if (last?.event && last.event.ts > now - DEMO_FRESH_SECONDS) return;
  await store.apply(observations);
}

function explainListen({ host, port }: Settings) {
  return (error: NodeJS.ErrnoException): never => {
    const reasons: Record<string, string> = {
      EADDRINUSE: `Port ${port} on ${host} is taken: choose another with --port, or --port 0 for any free one`,
      EACCES: `Port ${port} needs more rights than this user has: choose one from 1024 on with --port`,
      EADDRNOTAVAIL: `${host} is no address of this machine: choose another with --host`,
    };
    throw new AppError('unavailable', reasons[error.code ?? ''] ?? `Cannot listen on ${host}: ${error.message}`, {
      cause: error,
    });
  };
}
