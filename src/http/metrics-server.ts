import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError } from '../core/errors.ts';
import { METRICS_CONTENT_TYPE } from '../metrics/metrics.ts';
import { createNodeServer, DEFAULT_CONNECTION_TIMES, sendError } from './connection.ts';
import { DEFAULT_HEADERS, unknownPath } from './errors.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';

export const METRICS_PATH = '/metrics';

const ALLOW = 'GET, HEAD';

type MetricsServer = { port: number; close(): Promise<void> };

/** In the Prometheus text format. */
export type MetricsText = () => Promise<string>;

type MetricsServerOptions = { host: string; port: number };

/** Listens on a separate port, so that clients of the API cannot read the metrics. Rejects when it cannot listen. */
export async function openMetricsServer(text: MetricsText, options: MetricsServerOptions): Promise<MetricsServer> {
  const { server, destroyConnections } = createNodeServer((request, response) => {
    respond(request, response, text).catch((error) => sendError(response, error));
  }, DEFAULT_CONNECTION_TIMES);
  server.listen(options);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      destroyConnections();
      await closed;
    },
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, readText: MetricsText): Promise<void> {
  const [path] = (request.url ?? '').split('?', 1);
  if (path !== METRICS_PATH) return sendError(response, unknownPath());
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', ALLOW);
    return sendError(response, new AppError('method_not_allowed', `This path supports only ${ALLOW}`));
  }
  const text = await readText();
  response.writeHead(200, {
    ...DEFAULT_HEADERS,
    [REQUEST_ID_HEADER]: requestIdOf(request),
    'Content-Type': METRICS_CONTENT_TYPE,
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}
