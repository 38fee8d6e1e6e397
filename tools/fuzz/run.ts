import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { loginFailed } from '../../src/accounts/bearer.ts';
import { type Intelligence, openIntelligence } from '../../src/app/stores.ts';
import { type ObservationInput, toObservation } from '../../src/core/observation.ts';
import { closeServer } from '../../src/http/server.ts';
import { demoEvidence } from '../../src/ingest/demo-evidence.ts';
import { admitAll } from '../../test/http/admit-all.ts';
import { serverOf } from '../../test/http/build.ts';
import { exchange, parseResponses } from '../../test/http/raw.ts';
import { faultOf } from './check.ts';
import { describe, type FuzzRequest, fuzzRequest } from './requests.ts';

type FuzzOptions = {
  seed: number;
  count: number;
  /** The number of the first request; `count: 1` repeats only this one. */
  from?: number;
  onProgress?(done: number): void;
};

type Failure = { index: number; reason: string; request: string };
type FuzzReport = { done: number; byStatus: Map<number | string, number>; failure: Failure | null };

const NOW = 1_767_225_600;
const PROGRESS_EVERY = 10_000;
/** Concurrent requests: enough that others run while some wait for a timeout. */
const WORKERS = 64;
/** Short, because incomplete requests over sockets end only by these timeouts. */
const TIMES = {
  requestTimeoutMs: 400,
  headersTimeoutMs: 300,
  connectionsCheckMs: 20,
  keepAliveTimeoutMs: 20,
  stallMs: 10_000, // of bodies that are read while they arrive; longer than this busy process may pause
};

const OBSERVATIONS: ObservationInput[] = [
  {
    ts: NOW - 5,
    url: 'http://a.example/a.sh',
    ip: '203.0.113.7',
    asn: 64500,
    payload: { sha256: 'ab'.repeat(32), family: 'Mirai' },
  },
  { ts: NOW - 3, url: 'http://a.example/a.sh', status: 'removed', removal: 'abuse', reporter: 'nick' },
  { ts: NOW - 2, url: 'http://203.0.113.7/a', asn: 4_294_967_295 },
  { ts: NOW - 1, url: 'https://bücher.example/?q=~', status: null, payload: { fileSize: 0 } },
];

/** Sends the requests of a seed to a server with a real store. Stops at the first wrong response. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const dataDir = mkdtempSync(join(tmpdir(), 'urlwarden-fuzz-'));
  const store = await openIntelligence({ dataDir });
  try {
    await fill(store);
    const app = serverOf({ store, ...admitAll(() => NOW), login: async () => Promise.reject(loginFailed()) }, TIMES);
    await app.listen({ host: '127.0.0.1', port: 0 });
    const report = await sendAll(app, options);
    await closeServer(app, 1_000);
    return report;
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function fill(store: Intelligence): Promise<void> {
  await store.apply(
    OBSERVATIONS.map((input) => toObservation(input)).flatMap((parsed) => (parsed.ok ? [parsed.observation] : [])),
  );
  const { sources, listings, domains, facts, lists } = demoEvidence(NOW);
  await store.putSources(sources);
  await store.applyLists(lists);
  await store.applyListings(listings);
  await store.applyDomains(domains, facts);
}

async function sendAll(app: FastifyInstance, { seed, count, from = 0, onProgress }: FuzzOptions): Promise<FuzzReport> {
  const report: FuzzReport = { done: 0, byStatus: new Map(), failure: null };
  let next = from;
  const work = async () => {
    while (next < from + count && report.failure === null) {
      const index = next++;
      const request = fuzzRequest(seed, index);
      const reason = await send(app, request, report);
      if (reason !== null) report.failure ??= { index, reason, request: describe(request) };
      report.done += 1;
      if (report.done % PROGRESS_EVERY === 0) onProgress?.(report.done);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  const health = await app.inject('/healthz');
  if (health.statusCode !== 200) report.failure ??= { index: -1, reason: '/healthz failed at the end', request: '' };
  return report;
}

function send(app: FastifyInstance, request: FuzzRequest, report: FuzzReport): Promise<string | null> {
  return request.bytes ? sendRaw(app, request.bytes, report) : sendWhole(app, request, report);
}

async function sendWhole(app: FastifyInstance, request: FuzzRequest, report: FuzzReport): Promise<string | null> {
  const { method, url, headers, body, route } = request;
  const options = { method, url, headers, ...(body && { payload: body }), validate: false };
  try {
    const response = await app.inject(options as InjectOptions);
    count(report, response.statusCode);
    return faultOf(response, route?.endpoint.method === method ? route : null, method === 'HEAD');
  } catch (error) {
    return `no response: ${error}`;
  }
}

/** The bytes may contain no request, one or two; the server must send complete responses only. */
async function sendRaw(app: FastifyInstance, bytes: Buffer, report: FuzzReport): Promise<string | null> {
  const { port } = app.server.address() as AddressInfo;
  const { text } = await exchange(port, bytes);
  if (text === '') count(report, 'closed without a response');
  try {
    for (const response of parseResponses(text)) {
      count(report, response.statusCode);
      const fault = faultOf(response, null, false);
      if (fault !== null) return fault;
    }
    return null;
  } catch (error) {
    return String(error);
  }
}

function count({ byStatus }: FuzzReport, status: number | string): void {
  byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
}
