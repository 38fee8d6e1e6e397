import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { paths } from '../../src/core/paths.ts';
import { MAX_BULK_LINES } from '../../src/urls/bulk.ts';
import { unknownUrlAt, urlAt } from '../shared/observations.ts';
import { alternate, type Bench, type Figure, type Result, type Row } from './harness/figure.ts';
import { cpuSeconds } from './harness/measure.ts';
import { startUrlwarden, type Urlwarden } from './harness/servers.ts';
import { sample } from './lookups.ts';

const URLS = 1_000_000;
/** So that the server has work while a client reads its last lines. */
const PARALLEL = 2;
/** One URL of so many is known. */
const KNOWN_ONE_IN = 20;
const WARM_UP_SECONDS = 4;
const LOOKUPS_PER_SECOND = 200;

/** Bodies of text that have all samples. */
function bodiesOf(urls: readonly string[]): Buffer[] {
  return Array.from({ length: urls.length / MAX_BULK_LINES }, (_, i) =>
    Buffer.from(urls.slice(i * MAX_BULK_LINES, (i + 1) * MAX_BULK_LINES).join('\n')),
  );
}

/** Sends a body and reads the whole response. With `http`: `fetch` costs the client more than the request the server. */
function send(agent: Agent, { url, authorization }: Urlwarden, body: Buffer): Promise<void> {
  const headers = { authorization, 'content-type': 'text/plain', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const sent = request(url + paths.urlBulk, { agent, method: 'POST', headers }, (response) => {
      let end = '';
      response.on('data', (chunk: Buffer) => {
        end = chunk.toString('latin1', Math.max(0, chunk.length - 500));
      });
      response.on('end', () => {
        if (end.includes(`"end":true,"lines":${MAX_BULK_LINES},`)) resolve();
        else reject(new Error(`a response is not complete: ${end}`));
      });
    });
    sent.on('error', reject).end(body);
  });
}

/** Sends bodies for some time; returns the number of URLs. */
async function load(server: Urlwarden, bodies: readonly Buffer[], seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const endMs = performance.now() + seconds * 1000;
  let sent = 0;
  const client = async () => {
    while (performance.now() < endMs) await send(agent, server, bodies[sent++ % bodies.length] as Buffer);
  };
  await Promise.all(Array.from({ length: PARALLEL }, client));
  agent.destroy();
  return sent * MAX_BULK_LINES;
}

/** URLs per second of processor time, which other load on the machine changes least. */
async function rate(server: Urlwarden, bodies: readonly Buffer[], seconds: number): Promise<number> {
  const before = cpuSeconds(server.child.pid);
  const urls = await load(server, bodies, seconds);
  return urls / (cpuSeconds(server.child.pid) - before);
}

/** The p99 of lookups that are sent at a fixed rate, in milliseconds. */
async function lookupMs({ url, authorization }: Urlwarden, urls: readonly string[], seconds: number): Promise<number> {
  const timesMs: number[] = [];
  const running: Promise<void>[] = [];
  for (let i = 0; i < seconds * LOOKUPS_PER_SECOND; i++) {
    const startMs = performance.now();
    const body = JSON.stringify({ url: urls[i] });
    const answered = fetch(url + paths.urlLast, { method: 'POST', headers: { authorization }, body });
    running.push(
      answered.then((response) => response.text()).then(() => void timesMs.push(performance.now() - startMs)),
    );
    await wait(1000 / LOOKUPS_PER_SECOND);
  }
  await Promise.all(running);
  return timesMs.sort((a, b) => a - b)[Math.floor(timesMs.length * 0.99)] ?? Number.NaN;
}

/** Many URLs in one request, on one thread. */
export const bulk: Row = {
  name: 'bulk',
  async measure({ dataDir, rounds, seconds }: Bench): Promise<Result[]> {
    const [known, unknown] = [sample(URLS, urlAt), sample(URLS, unknownUrlAt)];
    const mixed = unknown.map((url, i) => (i % KNOWN_ONE_IN === 0 ? (known[i] ?? url) : url));
    const server = await startUrlwarden(dataDir(URLS), [], ['--threads', '1']);
    const rateOf = async (name: string, urls: readonly string[], atLeast: number): Promise<Figure> => {
      const bodies = bodiesOf(urls);
      await load(server, bodies, WARM_UP_SECONDS);
      const ours: number[] = [];
      for (let round = 0; round < rounds; round++) ours.push(await rate(server, bodies, seconds));
      return { name: `url/bulk, ${name}`, unit: 'URLs/s of CPU', ours, yardstick: null, mark: { of: 'ours', atLeast } };
    };
    try {
      const rates = [await rateOf('95 % unknown', mixed, 150_000), await rateOf('all known', known, 60_000)];
      const bodies = bodiesOf(mixed);
      const lookups = await alternate(
        rounds,
        () => lookupMs(server, known, seconds),
        async () => (await Promise.all([lookupMs(server, known, seconds), load(server, bodies, seconds)]))[0],
      );
      const name = `${LOOKUPS_PER_SECOND} url/last a second beside url/bulk, p99 / alone`;
      return [...rates, { name, unit: 'ms', ...lookups, mark: null }];
    } finally {
      await server.stop();
    }
  },
};
