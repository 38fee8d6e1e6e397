import { once } from 'node:events';
import { createServer, isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Settings } from '../config/settings.ts';
import { AppError } from '../core/errors.ts';
import { METRICS_PATH, type MetricsText, openMetricsServer } from '../http/metrics-server.ts';

type Place = Pick<Settings, 'host' | 'port'> & {
  /** Other threads of this process listen on the same port. */
  isShared: boolean;
  /** The number of this thread, for the log. Not of the first one: the others listen seconds later, without a restart. */
  thread?: number;
};

/** Starts to listen; returns the address, such as http://127.0.0.1:8080. */
export async function listenOn(
  server: FastifyInstance,
  { host, port, isShared, thread }: Place,
  scheme: 'http' | 'https',
): Promise<{ url: string; port: number }> {
  const ofThread = thread === undefined ? '' : ` (thread ${thread})`;
  const listenTextResolver = (address: string) => `listening on ${address.replace(/^http/, scheme)}${ofThread}`;
  const options = { host, port, listenTextResolver, ...(isShared && { reusePort: true }) };
  await server.listen(options).catch(explainListen(host, port, 'host', 'port'));
  const { port: chosen } = server.server.address() as { port: number };
  return { url: urlOf(scheme, host, chosen), port: chosen };
}

/** Throws if the port is in use. With `reusePort` a second server on the same port would not notice it. */
export async function refuseUsedPort({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<void> {
  await openListener({ host, port }).catch(explainListen(host, port, 'host', 'port'));
}

/** Whether several threads can listen on one port here: on Linux, and on some other systems. */
export async function canSharePort(): Promise<boolean> {
  return openListener({ host: '127.0.0.1', port: 0, reusePort: true }).then(
    () => true,
    () => false,
  );
}

/** Listens for a moment. */
async function openListener(options: { host: string; port: number; reusePort?: boolean }): Promise<void> {
  const listener = createServer().listen(options);
  await once(listener, 'listening');
  listener.close();
  await once(listener, 'close');
}

export type MetricsListener = {
  /** Returns the address of the metrics. */
  listen(text: MetricsText): Promise<string>;
  close(): Promise<void>;
};

export function createMetricsListener({
  metricsHost: host,
  metricsPort,
}: Pick<Settings, 'metricsHost' | 'metricsPort'>): MetricsListener {
  let server: Awaited<ReturnType<typeof openMetricsServer>> | undefined;
  return {
    async listen(text) {
      const port = Number(metricsPort);
      const opening = openMetricsServer(text, { host, port });
      server = await opening.catch(explainListen(host, port, 'metrics-host', 'metrics-port'));
      return urlOf('http', host, server.port) + METRICS_PATH;
    },
    close: async () => server?.close(),
  };
}

function urlOf(scheme: string, host: string, port: number): string {
  return `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function explainListen(host: string, port: number, hostFlag: string, portFlag: string) {
  return (error: NodeJS.ErrnoException): never => {
    const reasons: Record<string, string> = {
      EADDRINUSE: `Port ${port} on ${host} is in use: choose another with --${portFlag}, or --${portFlag} 0 for any free one`,
      EACCES: `Port ${port} needs more rights than this user has: choose 1024 or higher with --${portFlag}`,
      EADDRNOTAVAIL: `${host} is not an address of this machine: choose another with --${hostFlag}`,
    };
    throw new AppError('unavailable', reasons[error.code ?? ''] ?? `Cannot listen on ${host}: ${error.message}`, {
      cause: error,
    });
  };
}
