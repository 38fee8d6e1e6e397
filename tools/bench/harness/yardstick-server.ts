import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import type { TSchema } from 'typebox';

// The best that the runtime can do: one route that reads the same requests and returns a constant response. It runs in
// its own process, started by `servers.ts`.

export type YardstickOptions = {
  /** `fastify` parses, validates and serializes by schema; `node:http` discards the body and writes prepared bytes. */
  engine: 'fastify' | 'node:http';
  /** With parameters (`:ip`) for a GET. */
  path: string;
  /** The body of a POST; null for a GET. */
  request: TSchema | null;
  response: TSchema;
  status: number;
  answer: unknown;
};

const LOOPBACK = { host: '127.0.0.1', port: 0 };

async function listenFastify({ path, request, response, status, answer }: YardstickOptions): Promise<string> {
  const app = fastify();
  const schema = { ...(request && { body: request }), response: { [status]: response } };
  app.route({
    method: request === null ? 'GET' : 'POST',
    url: path,
    schema,
    handler: async (_request, reply) => {
      reply.code(status);
      return answer;
    },
  });
  return app.listen(LOOPBACK);
}

async function listenNode({ status, answer }: YardstickOptions): Promise<string> {
  const bytes = Buffer.from(JSON.stringify(answer));
  const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length };
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(status, headers).end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(LOOPBACK, resolve));
  return `http://${LOOPBACK.host}:${(server.address() as AddressInfo).port}`;
}

process.once('message', async (options: YardstickOptions) => {
  process.send?.(await (options.engine === 'fastify' ? listenFastify : listenNode)(options));
});
