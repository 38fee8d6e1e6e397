import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

// Fifty wrong logins a second from fifty addresses, in a process of its own: what it costs to send them must not be
// taken for what it costs to refuse them. Tells its parent the statuses when asked to stop.

/** 127.0.1.1 to 127.0.1.50: all of 127.0.0.0/8 is the loopback. */
const ADDRESSES = Array.from({ length: 50 }, (_, i) => `127.0.1.${i + 1}`);
const EVERY_MS = 1_000;

const url = process.argv[2] ?? '';
const statuses: Record<number, number> = {};
const over = new AbortController();

process.once('message', async () => {
  over.abort();
  await flooding;
  process.send?.(statuses);
  process.disconnect();
});
const flooding = Promise.all(ADDRESSES.map(floodFrom));

async function floodFrom(localAddress: string, index: number): Promise<void> {
  await sleep((index * EVERY_MS) / ADDRESSES.length);
  while (!over.signal.aborted) {
    const sent = request(`${url}/api/v1/login`, { method: 'POST', localAddress });
    sent.end(JSON.stringify({ username: `user-${index % 5}`, password: 'wrong', realm: 'intel' }));
    const [response] = await once(sent, 'response');
    response.resume();
    await once(response, 'end');
    statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1;
    await sleep(EVERY_MS, undefined, { signal: over.signal }).catch(() => {});
  }
}
