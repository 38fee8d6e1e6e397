import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { logIn, operatorOf, startServer } from '../shared/server-process.ts';

type LoginFloodResult = {
  withoutFloodP99Ms: number;
  duringFloodP99Ms: number;
  /** The time of a login of an account that had logged in before. */
  knownLoginMs: number;
  /** The number of wrong logins per status. */
  flood: Record<number, number>;
};

/** Time for the child to load and to send its first logins. */
const FLOOD_START_MS = 500;

const CHILD = fileURLToPath(new URL('./login-flood-child.ts', import.meta.url));

/** Measures the effect of fifty wrong logins a second from fifty addresses on lookups and on another login. */
export async function loginFlood(phaseMs: number): Promise<LoginFloodResult> {
  const dataDir = mkdtempSync(join(tmpdir(), 'urlwarden-flood-'));
  const server = await startServer(dataDir, { args: ['--host', '127.0.0.1'] });
  try {
    const operator = operatorOf(dataDir);
    const authorization = await logIn(server.url, operator);
    await timeLookups(server.url, authorization, phaseMs / 2); // warms up
    const withoutFlood = await timeLookups(server.url, authorization, phaseMs);
    const child = fork(CHILD, [server.url]);
    await once(child, 'spawn');
    await sleep(FLOOD_START_MS);
    const duringFlood = await timeLookups(server.url, authorization, phaseMs);
    const startMs = performance.now();
    await logIn(server.url, operator);
    const knownLoginMs = performance.now() - startMs;
    child.send('stop');
    const [flood] = await once(child, 'message');
    return { withoutFloodP99Ms: p99(withoutFlood), duringFloodP99Ms: p99(duringFlood), knownLoginMs, flood };
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function timeLookups(url: string, authorization: string, durationMs: number): Promise<number[]> {
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
