import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

// Sends fifty wrong logins a second from fifty addresses. Its own process, so that the cost of sending them does not
// affect the measurement. Reports the statuses to its parent when it is stopped.

/** 127.0.1.1 to 127.0.1.50: all of 127.0.0.0/8 is the loopback. */
const ADDRESSES = Array.from({ length: 50 }, (_, i) => `127.0.1.${i + 1}`);
const INTERVAL_MS = 1_000;

const url = process.argv[2] ?? '';
const statuses: Record<number, number> = {};
const stopped = new AbortController();

process.once('message', async () => {
  stopped.abort();
  await flooding;
  process.send?.(statuses);
  process.disconnect();
});
const flooding = Promise.all(ADDRESSES.map(floodFrom));

async function floodFrom(localAddress: string, index: number): Promise<void> {
  await sleep((index * INTERVAL_MS) / ADDRESSES.length);
  while (!stopped.signal.aborted) {
    const sent = request(`${url}/api/v1/login`, { method: 'POST', localAddress });
    sent.end(JSON.stringify({ username: `user-${index % 5}`, password: 'wrong', realm: 'intel' }));
    const [response] = await once(sent, 'response');
    response.resume();
    await once(response, 'end');
    statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1;
    await sleep(INTERVAL_MS, undefined, { signal: stopped.signal }).catch(() => {});
  }
}
