import { isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Settings } from '../config/settings.ts';
import { AppError } from '../core/errors.ts';
import { METRICS_PATH, openMetricsServer } from '../http/metrics-server.ts';
import type { Metrics } from '../metrics/metrics.ts';

/** Starts to listen; returns the address, such as http://127.0.0.1:8080. */
export async function listenOn(
  server: FastifyInstance,
  { host, port }: Pick<Settings, 'host' | 'port'>,
  scheme: 'http' | 'https',
): Promise<string> {
  const listenTextResolver = (address: string) => `listening on ${address.replace(/^http/, scheme)}`;
  await server.listen({ host, port, listenTextResolver }).catch(explainListen(host, port, 'host', 'port'));
  return urlOf(scheme, host, (server.server.address() as { port: number }).port);
}

export async function openMetricsListener(
  metrics: Metrics,
  { metricsHost: host, metricsPort }: Pick<Settings, 'metricsHost' | 'metricsPort'>,
): Promise<{ url: string; close(): Promise<void> }> {
  const port = Number(metricsPort);
  const opening = openMetricsServer(metrics, { host, port });
  const server = await opening.catch(explainListen(host, port, 'metrics-host', 'metrics-port'));
  return { url: urlOf('http', host, server.port) + METRICS_PATH, close: server.close };
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
