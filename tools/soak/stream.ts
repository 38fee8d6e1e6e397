import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FirstAccount } from '../../src/accounts/first-account.ts';
import { openIntelligence } from '../../src/app/stores.ts';
import { logIn } from '../shared/server-process.ts';
import type { StreamServerMessage } from '../shared/stream-server.ts';
import { batches, FAMILY, observationAt } from './observations.ts';

type StreamResult = {
  /** Of all searches. */
  rows: number;
  seconds: number;
  /** Anonymous memory of the server: the peak during the stream minus the value before it. */
  grownMb: number;
  /** `url/last` on another connection, before and during the stream. */
  lastBeforeP99Ms: number;
  lastDuringP99Ms: number;
  lastDuring: number;
  loopDelayP999Ms: number;
};

type Api = { url: string; authorization: string };

const SERVER = fileURLToPath(new URL('../shared/stream-server.ts', import.meta.url));
const BATCH = 5_000;
const SAMPLE_MS = 50;

type SoakOptions = {
  /** One after the other. */
  searches?: number;
  report?: (text: string) => void;
};

/** Streams searches with `rows` results each over HTTP, while another connection sends `url/last` requests. */
export async function streamSoak(
  rows: number,
  { searches = 1, report = () => {} }: SoakOptions = {},
): Promise<StreamResult> {
  const dataDir = mkdtempSync(join(tmpdir(), 'urlwarden-stream-'));
  try {
    await fill(dataDir, rows, report);
    const server = fork(SERVER, [dataDir], { execArgv: ['--max-semi-space-size=8'] });
    const { url, account } = (await nextMessage(server)) as { url: string; account: FirstAccount };
    try {
      const api = { url, authorization: await logIn(url, account) };
      return await measure(server, api, rows, searches);
    } finally {
      server.send('close');
      await once(server, 'exit');
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measure(server: ChildProcess, api: Api, rows: number, searches: number): Promise<StreamResult> {
  const timesBefore = await timeLookups(api, rows, afterMs(1_000));
  await loopDelay(server);
  const beforeMb = anonymousMb(server);
  let peakMb = beforeMb;
  const sampler = setInterval(() => {
    peakMb = Math.max(peakMb, anonymousMb(server));
  }, SAMPLE_MS);
  const startMs = performance.now();
  let streaming = true;
  const stream = searchTimes(api, searches).finally(() => {
    streaming = false;
  });
  const timesDuring = await timeLookups(api, rows, () => !streaming);
  const received = await stream;
  clearInterval(sampler);
  return {
    rows: received,
    seconds: (performance.now() - startMs) / 1000,
    grownMb: peakMb - beforeMb,
    lastBeforeP99Ms: p99(timesBefore),
    lastDuringP99Ms: p99(timesDuring),
    lastDuring: timesDuring.length,
    loopDelayP999Ms: await loopDelay(server),
  };
}

async function fill(dataDir: string, rows: number, report: (text: string) => void): Promise<void> {
  const store = await openIntelligence({ dataDir });
  let done = 0;
  for (const batch of batches(rows, BATCH)) {
    await store.apply(batch);
    done += batch.length;
    if (done % 100_000 === 0) report(`${done} of ${rows} observations applied`);
  }
  await store.close();
}

/** Durations in ms of sequential `url/last` requests on one connection. */
async function timeLookups(api: Api, rows: number, isDone: () => boolean): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  do {
    const known = observationAt((times.length * 7_919) % rows).url;
    const startMs = performance.now();
    const response = await post(api, '/api/intel/v2/byobject/url/last', { url: known }, agent);
    response.resume();
    await once(response, 'end');
    times.push(performance.now() - startMs);
    if (response.statusCode !== 200) throw new Error(`url/last returned ${response.statusCode} for ${known}`);
  } while (!isDone());
  agent.destroy();
  return times;
}

async function searchTimes(api: Api, times: number): Promise<number> {
  let lines = 0;
  for (let i = 0; i < times; i++) lines += await search(api);
  return lines;
}

/** The number of lines in the response of a search by family. */
async function search(api: Api): Promise<number> {
  const response = await post(api, '/api/intel/v2/byobject/url/search?since=0', { malware_family: FAMILY });
  let lines = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++;
  }
  return lines;
}

async function post({ url, authorization }: Api, path: string, body: object, agent?: Agent) {
  const sent = request(url + path, { method: 'POST', headers: { authorization }, ...(agent && { agent }) });
  sent.end(JSON.stringify(body));
  const [response] = await once(sent, 'response');
  return response;
}

async function nextMessage(server: ChildProcess): Promise<StreamServerMessage> {
  const [message] = await once(server, 'message');
  return message;
}

async function loopDelay(server: ChildProcess): Promise<number> {
  server.send('delay');
  return ((await nextMessage(server)) as { delayMs: number }).delayMs;
}

function anonymousMb({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

function afterMs(ms: number): () => boolean {
  const endMs = performance.now() + ms;
  return () => performance.now() >= endMs;
}

function p99(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
