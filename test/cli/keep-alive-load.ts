import { Agent, request } from 'node:http';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

/** How one request ended. */
export type Outcome = {
  /** When the kernel had all of it, by `performance.now`; null if the connection failed before. */
  sentMs: number | null;
  /** The status number, or the code of the network error. */
  result: number | string;
  /** Whether the response had `Connection: close`. */
  closes: boolean;
};

const LAST = '/api/intel/v2/byobject/url/last';

/** A URL of the demo data. */
const BODY = JSON.stringify({ url: 'http://203.0.113.7/bin.sh' });

/** The pause after each response: the load must leave some CPU time for the restart of a server. */
const PAUSE_MS = 25;

/**
 * Looks up a URL of the demo data again and again, on this many keep-alive connections. After `Connection: close` the
 * next request uses a new connection. Nothing is sent twice. The load ends with the test at the latest.
 */
export function startLoad(t: TestContext, url: string, token: string, connections: number) {
  const outcomes: Outcome[] = [];
  let hasEnded = false;
  const work = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!hasEnded) {
      outcomes.push(await send(url, token, agent));
      await delay(PAUSE_MS);
    }
    agent.destroy();
  };
  const working = Promise.all(Array.from({ length: connections }, work));
  const end = async () => {
    hasEnded = true;
    await working;
  };
  t.after(end);
  return { outcomes, end };
}

function send(url: string, token: string, agent: Agent): Promise<Outcome> {
  return new Promise((resolve) => {
    let sentMs: number | null = null;
    const headers = { authorization: `Bearer ${token}` };
    const sent = request(url + LAST, { method: 'POST', agent, headers }, (response) => {
      const closes = response.headers.connection === 'close';
      response.on('error', ({ message }) => resolve({ sentMs, result: message, closes })).resume();
      response.on('end', () => resolve({ sentMs, result: response.statusCode ?? 0, closes }));
    });
    sent.on('finish', () => {
      sentMs = performance.now();
    });
    sent.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ sentMs, result: error.code ?? error.message, closes: false }),
    );
    sent.end(BODY);
  });
}
