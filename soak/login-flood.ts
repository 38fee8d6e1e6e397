import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { logIn, operatorOf, startServer } from './server-process.ts';

export type LoginFloodResult = {
  aloneP99Ms: number;
  besideP99Ms: number;
  /** How long an account that had logged in before needed to log in again. */
  knownLoginMs: number;
  /** Wrong logins, by status. */
  flood: Record<number, number>;
};

/** 127.0.1.1 to 127.0.1.50: all of 127.0.0.0/8 is the loopback. */
const ADDRESSES = Array.from({ length: 50 }, (_, i) => `127.0.1.${i + 1}`);
const FLOOD_EVERY_MS = 1_000;

/** Fifty wrong logins a second from fifty addresses, and what lookups and customers notice of them. */
export async function loginFlood(phaseMs: number): Promise<LoginFloodResult> {
  const dataDir = mkdtempSync(join(tmpdir(), 'urlwarden-flood-'));
  const server = await startServer(dataDir, ['--host', '127.0.0.1']);
  try {
    const operator = operatorOf(dataDir);
    const authorization = await logIn(server.url, operator);
    await askLast(server.url, authorization, phaseMs / 2); // warms up
    const alone = await askLast(server.url, authorization, phaseMs);
    const flood: Record<number, number> = {};
    const over = new AbortController();
    const flooding = ADDRESSES.map((address, i) => floodFrom(server.url, address, i, flood, over.signal));
    const beside = await askLast(server.url, authorization, phaseMs);
    const startMs = performance.now();
    await logIn(server.url, operator);
    const knownLoginMs = performance.now() - startMs;
    over.abort();
    await Promise.all(flooding);
    return { aloneP99Ms: p99(alone), besideP99Ms: p99(beside), knownLoginMs, flood };
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function floodFrom(
  url: string,
  localAddress: string,
  index: number,
  flood: Record<number, number>,
  over: AbortSignal,
): Promise<void> {
  await sleep((index * FLOOD_EVERY_MS) / ADDRESSES.length);
  while (!over.aborted) {
    const body = JSON.stringify({ username: `user-${index % 5}`, password: 'wrong', realm: 'intel' });
    const status = await post(`${url}/api/v1/login`, body, { localAddress });
    flood[status] = (flood[status] ?? 0) + 1;
    await sleep(FLOOD_EVERY_MS, undefined, { signal: over }).catch(() => {});
  }
}

async function askLast(url: string, authorization: string, durationMs: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs) {
    const startMs = performance.now();
    const body = JSON.stringify({ url: 'http://192.0.2.1/' });
    await post(`${url}/api/intel/v2/byobject/url/last`, body, { agent, headers: { authorization } });
    times.push(performance.now() - startMs);
  }
  agent.destroy();
  return times;
}

async function post(url: string, body: string, options: object): Promise<number> {
  const sent = request(url, { method: 'POST', ...options });
  sent.end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

function p99(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
