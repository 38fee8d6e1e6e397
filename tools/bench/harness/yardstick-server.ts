import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { fastify } from 'fastify';
import type { Schema } from '../../../src/http/schema.ts';

// The best that the runtime can do: one route that reads the same requests and returns a constant response. It runs in
// its own process, started by `servers.ts`.

export type YardstickOptions = {
  /** `fastify` parses, validates and serializes by schema; `node:http` discards the body and writes prepared bytes. */
  engine: 'fastify' | 'node:http';
  /** With parameters (`:ip`) for a GET. */
  path: string;
  /** The body of a POST; null for a GET. */
  request: Schema | null;
  response: Schema;
  status: number;
  body: unknown;
  /** Only of `fastify`: how many threads listen on the port. Default: 1. */
  threads?: number;
};

const LOOPBACK = { host: '127.0.0.1', port: 0 };

/** Of a further thread. */
type ThreadData = { options: YardstickOptions; port: number };

async function listenFastify(options: YardstickOptions, port = 0): Promise<string> {
  const { path, request, response, status, body, threads = 1 } = options;
  const app = fastify();
  const schema = { ...(request && { body: request }), response: { [status]: response } };
  app.route({
    method: request === null ? 'GET' : 'POST',
    url: path,
    schema,
    handler: async (_request, reply) => {
      reply.code(status);
      return body;
    },
  });
  return app.listen({ ...LOOPBACK, port, ...(threads > 1 && { reusePort: true }) });
}

async function listenNode({ status, body }: YardstickOptions): Promise<string> {
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length };
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(status, headers).end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(LOOPBACK, resolve));
  return `http://${LOOPBACK.host}:${(server.address() as AddressInfo).port}`;
}

async function listenThreads(options: YardstickOptions): Promise<string> {
  const url = await listenFastify(options);
  const workerData: ThreadData = { options, port: Number(new URL(url).port) };
  for (let thread = 1; thread < (options.threads ?? 1); thread++) {
    await once(new Worker(new URL(import.meta.url), { workerData }), 'message');
  }
  return url;
}

if (isMainThread) {
  process.once('message', async (options: YardstickOptions) => {
    process.send?.(await (options.engine === 'fastify' ? listenThreads : listenNode)(options));
  });
} else {
  const { options, port } = workerData as ThreadData;
  await listenFastify(options, port);
  parentPort?.postMessage('listening');
}
