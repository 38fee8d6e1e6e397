import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export type Received = { path: string; authorization: string | undefined; body: string };

/** A server whose answers a test writes itself, for what a real one does not do on demand: cut-off bodies and limits half way. */
export async function startScripted(
  t: TestContext,
  answer: (response: ServerResponse, request: Received, count: number) => void,
) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    received.push({ path: request.url ?? '', authorization: request.headers.authorization, body });
    answer(response, received.at(-1) as Received, received.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

export function sendJson(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export const sendError = (response: ServerResponse, status: number, message: string, headers = {}): void =>
  sendJson(response, status, { code: status, message }, headers);

/** Lines, and then the end, or a connection that breaks. */
export function sendLines(response: ServerResponse, lines: object[], rest: 'end' | 'break' | string = 'end'): void {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  response.writeHead(200, { 'content-type': 'application/x-ndjson', 'x-request-id': 'request-17' });
  if (rest === 'break') response.write(text, () => response.destroy());
  else response.end(rest === 'end' ? text : text + rest);
}
