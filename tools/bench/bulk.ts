import { Agent, request } from 'node:http';
import { paths } from '../../src/core/paths.ts';
import { MAX_BULK_LINES } from '../../src/urls/bulk.ts';
import { unknownUrlAt, urlAt } from '../shared/observations.ts';
import type { Bench, Figure, Result, Row } from './harness/figure.ts';
import { type MonitoredServer, startMonitored } from './harness/servers.ts';
import { sample } from './lookups.ts';

const URLS = 1_000_000;
/** So that the server has work while a client reads its last lines. */
const PARALLEL = 2;
/** One URL of so many is known. */
const KNOWN_ONE_IN = 20;
const WARM_UP_SECONDS = 4;

/** Bodies of text that have all samples. */
function bodiesOf(urls: readonly string[]): Buffer[] {
  return Array.from({ length: urls.length / MAX_BULK_LINES }, (_, i) =>
    Buffer.from(urls.slice(i * MAX_BULK_LINES, (i + 1) * MAX_BULK_LINES).join('\n')),
  );
}

/** Sends a body and reads the whole response. With `http`: `fetch` costs the client more than the request the server. */
function send(agent: Agent, { url, authorization }: MonitoredServer, body: Buffer): Promise<void> {
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

/** URLs per second. */
async function load(server: MonitoredServer, bodies: readonly Buffer[], seconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const startMs = performance.now();
  let sent = 0;
  const client = async () => {
    while (performance.now() - startMs < seconds * 1000) {
      await send(agent, server, bodies[sent++ % bodies.length] as Buffer);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, client));
  agent.destroy();
  return (sent * MAX_BULK_LINES * 1000) / (performance.now() - startMs);
}

/** Many URLs in one request, on one thread. */
export const bulk: Row = {
  name: 'bulk',
  async measure({ dataDir, rounds, seconds }: Bench): Promise<Result[]> {
    const [known, unknown] = [sample(URLS, urlAt), sample(URLS, unknownUrlAt)];
    const mixed = unknown.map((url, i) => (i % KNOWN_ONE_IN === 0 ? (known[i] ?? url) : url));
    const server = await startMonitored(dataDir(URLS));
    try {
      const results: Result[] = [];
      for (const [name, urls, atLeast] of [
        ['95 % unknown', mixed, 150_000],
        ['all known', known, 60_000],
      ] as const) {
        const bodies = bodiesOf(urls);
        await load(server, bodies, WARM_UP_SECONDS);
        await server.delayMs();
        const ours: number[] = [];
        const delaysMs: number[] = [];
        for (let round = 0; round < rounds; round++) {
          ours.push(await load(server, bodies, seconds));
          delaysMs.push(await server.delayMs());
        }
        const rate: Figure = {
          ...{ name: `url/bulk, ${name}`, unit: 'URLs/s', ours, yardstick: null, mark: { of: 'ours', atLeast } },
        };
        const delay = { name: `event-loop delay during it, p99.9`, unit: 'ms', ours: delaysMs, yardstick: null };
        results.push(rate, { ...delay, mark: { of: 'ours', atMost: 10 } });
      }
      return results;
    } finally {
      await server.stop();
    }
  },
};
