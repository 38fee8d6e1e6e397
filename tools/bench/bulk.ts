import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { paths } from '../../src/core/paths.ts';
import { MAX_BULK_LINES } from '../../src/urls/bulk.ts';
import { unknownUrlAt, urlAt } from '../shared/observations.ts';
import { beside } from './harness/background.ts';
import { alternate, type Bench, type Figure, type Result, type Row } from './harness/figure.ts';
import { cpuSeconds, memoryMb } from './harness/measure.ts';
import { startUrlwarden, type Urlwarden } from './harness/servers.ts';
import { sample } from './lookups.ts';

const URLS = 1_000_000;
/** So that the server has work while a client reads its last lines. */
const PARALLEL = 2;
/** One URL of so many is known. */
const KNOWN_ONE_IN = 20;
const WARM_UP_SECONDS = 4;
/** A server that uses less processor time in `IDLE_CHECK_MS` is idle. */
const IDLE_CPU_SECONDS = 0.05;
const IDLE_CHECK_MS = 500;
const LOOKUPS_PER_SECOND = 200;

type BulkServer = Pick<Urlwarden, 'url' | 'child' | 'authorization'>;

/** Bodies of text that have all samples. */
function bodiesOf(urls: readonly string[]): Buffer[] {
  return Array.from({ length: urls.length / MAX_BULK_LINES }, (_, i) =>
    Buffer.from(urls.slice(i * MAX_BULK_LINES, (i + 1) * MAX_BULK_LINES).join('\n')),
  );
}

/** Sends a body and reads the whole response. With `http`: `fetch` costs the client more than the request the server. */
function send(agent: Agent, { url, authorization }: BulkServer, body: Buffer): Promise<void> {
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
async function load(server: BulkServer, bodies: readonly Buffer[], seconds: number): Promise<number> {
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
async function rate(server: BulkServer, bodies: readonly Buffer[], seconds: number): Promise<number> {
  const before = cpuSeconds(server.child.pid);
  const urls = await load(server, bodies, seconds);
  return urls / (cpuSeconds(server.child.pid) - before);
}

/** After its first request a server builds the filter of known URLs (docs/decisions/bulk.md). */
async function untilIdle({ child }: BulkServer): Promise<void> {
  for (let before = Number.NEGATIVE_INFINITY; ; await wait(IDLE_CHECK_MS)) {
    const current = cpuSeconds(child.pid);
    if (current - before < IDLE_CPU_SECONDS) return;
    before = current;
  }
}

export const known = (): string[] => sample(URLS, urlAt);

/** One URL of twenty is known. */
export function mostlyUnknown(): string[] {
  const urls = known();
  return sample(URLS, unknownUrlAt).map((url, i) => (i % KNOWN_ONE_IN === 0 ? (urls[i] ?? url) : url));
}

/** `memory`: anonymous memory after each round, and after the warm-up. */
export async function rates(
  server: BulkServer,
  urls: readonly string[],
  { rounds, seconds }: Pick<Bench, 'rounds' | 'seconds'>,
): Promise<{ rates: number[]; memory: { ours: number[]; yardstick: number[] } }> {
  const bodies = bodiesOf(urls);
  await load(server, bodies, 0.1);
  await untilIdle(server);
  await load(server, bodies, WARM_UP_SECONDS);
  const warmMb = memoryMb(server.child.pid);
  const measured = { rates: [] as number[], memory: { ours: [] as number[], yardstick: [] as number[] } };
  for (let round = 0; round < rounds; round++) {
    measured.rates.push(await rate(server, bodies, seconds));
    measured.memory.ours.push(memoryMb(server.child.pid));
    measured.memory.yardstick.push(warmMb);
  }
  return measured;
}

/** The p99 of lookups that are sent at a fixed rate, in milliseconds. */
export async function lookupMs(
  { url, authorization }: Pick<Urlwarden, 'url' | 'authorization'>,
  urls: readonly string[],
  seconds: number,
): Promise<number> {
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
    const [knownUrls, mixed] = [known(), mostlyUnknown()];
    const server = await startUrlwarden(dataDir(URLS), [], ['--threads', '1']);
    const rateOf = (name: string, ours: number[], atLeast: number): Figure => ({
      name: `url/bulk, ${name}`,
      unit: 'URLs/s of CPU',
      ours,
      yardstick: null,
      mark: { of: 'ours', atLeast },
    });
    try {
      const ofMixed = await rates(server, mixed, { rounds, seconds });
      const ofKnown = await rates(server, knownUrls, { rounds, seconds });
      const bulkRequests = {
        url: server.url + paths.urlBulk,
        parallel: PARALLEL,
        bodies: bodiesOf(mixed).map(String),
        headers: { authorization: server.authorization, 'content-type': 'text/plain' },
      };
      const lookups = await alternate(
        rounds,
        () => lookupMs(server, knownUrls, seconds),
        () => beside(bulkRequests, () => lookupMs(server, knownUrls, seconds)),
      );
      const name = `${LOOKUPS_PER_SECOND} url/last a second beside url/bulk, p99 / alone`;
      const memory = 'url/bulk, anonymous memory / after the warm-up';
      return [
        rateOf('95 % unknown', ofMixed.rates, 150_000),
        rateOf('all known', ofKnown.rates, 60_000),
        { name: memory, unit: 'MB', ...ofMixed.memory, mark: { of: 'ratio', atMost: 1.4 } },
        { name, unit: 'ms', ...lookups, mark: null },
      ];
    } finally {
      await server.stop();
    }
  },
};
