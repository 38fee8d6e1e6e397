import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string };

/** A receiver of webhooks on loopback. `statuses` are its answers in order; the last one is repeated. */
export async function startReceiver(t: TestContext, statuses: (number | 'hang')[] = [204]) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const status = statuses[Math.min(received.length, statuses.length - 1)] ?? 204;
    received.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body });
    if (status !== 'hang') response.writeHead(status, { location: '/elsewhere' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=1` };
}
