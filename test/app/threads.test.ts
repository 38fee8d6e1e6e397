import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { createAccount, revokeTokens } from '../../src/accounts/manage.ts';
import { type Control, openControl, openIntelligence } from '../../src/app/stores.ts';
import { openApp } from '../../src/app.ts';
import { DEFAULT_SETTINGS } from '../../src/config/settings.ts';
import { toObservation } from '../../src/core/observation.ts';
import { paths } from '../../src/core/paths.ts';
import type { Tier } from '../../src/core/tier.ts';
import { tier } from '../http/with-accounts.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const THREADS = 4;
/** Of four threads, one is left out by 64 connections once in ten million times. */
const CONNECTIONS = 64;

const PASSWORD = 'correct horse battery staple';
const now = () => Math.floor(Date.now() / 1000);

/** Together more than the buffers of two sockets hold, so that a stream stays open until it is read. */
const STREAMED_URLS = 6_000;
const LONG_PATH = 'x'.repeat(1_500);

type Answer = { status: number; body: string };
type Sent = { body?: unknown; authorization?: string };

/** A server on four threads in this process, and requests to it. */
async function startThreads(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const store = await openIntelligence({ dataDir });
  for (let first = 0; first < STREAMED_URLS; first += 2_000) await store.apply(observations(first, 2_000));
  await store.close();
  const control = await openControl({ dataDir });
  const app = await openApp({
    ...DEFAULT_SETTINGS,
    dataDir,
    port: 0,
    metricsPort: 0,
    noPortal: true,
    logLevel: 'error' as const,
    threads: THREADS,
  });
  const { url, metricsUrl, allThreads } = await app.listen();
  await allThreads;
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  t.after(async () => {
    agent.destroy();
    await app.close();
    await control.close();
  });

  async function open(path: string, { body, authorization }: Sent): Promise<IncomingMessage> {
    const headers = { ...(authorization && { authorization }), 'content-type': 'application/json' };
    const sent = request(`${url}${path}`, { agent, method: body === undefined ? 'GET' : 'POST', headers });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  }

  /** On one of many connections, so that all threads are reached. */
  async function send(path: string, sent: Sent = {}): Promise<Answer> {
    const response = await open(path, sent);
    const body = Buffer.concat(await response.toArray()).toString();
    return { status: response.statusCode ?? 0, body };
  }

  const sendMany = (count: number, path: string, sent: Sent) =>
    Promise.all(Array.from({ length: count }, () => send(path, sent)));

  return {
    app,
    control,
    open,
    send,
    sendMany,
    last: (authorization: string) => send(paths.urlLast, { body: { url: urlAt(0) }, authorization }),
    metrics: async () => (await fetch(String(metricsUrl))).text(),
    /** The queries of this month, as the threads report them. */
    async used(authorization: string): Promise<Set<number>> {
      const answers = await sendMany(CONNECTIONS, paths.limits, { authorization });
      return new Set(answers.map(({ body }) => JSON.parse(body).current.qpm));
    },
    /** An account of its own, with these limits. */
    async account(username: string, limits: Partial<Tier> = {}) {
      await control.putTier({ ...tier(limits), name: username });
      const { sub } = await createAccount(control, { username, password: PASSWORD, tier: username }, now());
      const answer = await send(paths.login, { body: { username, password: PASSWORD, realm: 'intel' } });
      return { sub, authorization: `Bearer ${JSON.parse(answer.body).token}` };
    },
  };
}

type Server = Awaited<ReturnType<typeof startThreads>>;

const urlAt = (i: number) => `http://192.0.2.1/${i}/${LONG_PATH}`;

function observations(first: number, count: number) {
  return Array.from({ length: count }, (_, i) => {
    const parsed = toObservation({ ts: now() - 10, url: urlAt(first + i) });
    assert.ok(parsed.ok);
    return parsed.observation;
  });
}

test('a server on four threads', async (t) => {
  const server = await startThreads(t);

  await t.test('admits exactly as many queries as the limit allows, and every thread reports the same', async () => {
    const { authorization } = await server.account('limited', { qmh: 1_000 });
    const sent = { body: { url: urlAt(0) }, authorization };
    const answers = await server.sendMany(2_000, paths.urlLast, sent);
    const statuses = Map.groupBy(answers, ({ status }) => status);
    assert.deepEqual([statuses.get(200)?.length, statuses.get(429)?.length], [1_000, 1_000]);
    assert.deepEqual(await server.used(authorization), new Set([1_000]));
    const responses = await responsesByThread(server);
    assert.ok(responses.length === THREADS && Math.min(...responses) > 0, `all threads answered: ${responses}`);
  });

  await t.test('writes the counts of all threads to the store', async () => {
    const { sub, authorization } = await server.account('stored');
    await server.sendMany(500, paths.urlLast, { body: { url: urlAt(0) }, authorization });
    await untilTrue(async () => (await countedOf(server.control, sub)) === 500);
  });

  await t.test('opens eight streams of an account, and refuses the ninth', async () => {
    const { authorization } = await server.account('streaming');
    const openStream = () => server.open(paths.urlSearch, { body: { ip: '192.0.2.1' }, authorization });
    const streams = await Promise.all(Array.from({ length: 8 }, openStream));
    assert.deepEqual(new Set(streams.map(({ statusCode }) => statusCode)), new Set([200]));
    const refused = await Promise.all(Array.from({ length: 16 }, openStream));
    assert.deepEqual(new Set(refused.map(({ statusCode }) => statusCode)), new Set([429]));
    await untilTrue(async () => /^urlwarden_open_streams 8$/m.test(await server.metrics()));
    for (const stream of [...streams, ...refused]) stream.destroy();
    await untilTrue(async () => /^urlwarden_open_streams 0$/m.test(await server.metrics()));
    const next = await openStream();
    assert.equal(next.statusCode, 200);
    next.destroy();
  });

  await t.test('refuses a revoked token on every thread within five seconds', async () => {
    const { authorization } = await server.account('revoked');
    const allAnswer = async (expected: number) =>
      (await server.sendMany(CONNECTIONS, paths.limits, { authorization })).every(({ status }) => status === expected);
    assert.ok(await allAnswer(200));
    await revokeTokens(server.control, 'revoked');
    await until(() => allAnswer(401), 'it is refused', 5_000);
  });

  await t.test('counts failed logins of all threads together', async () => {
    await server.account('guessed');
    const body = { username: 'guessed', password: 'wrong', realm: 'intel' };
    const answers: number[] = [];
    for (let i = 0; i < 12; i++) answers.push((await server.send(paths.login, { body })).status);
    assert.deepEqual(answers, [...Array(10).fill(401), 429, 429]);
  });

  await t.test('has one metrics listener with the sums; what cannot be summed has the thread', async () => {
    const before = requestsIn(await server.metrics());
    const { authorization } = await server.account('measured');
    await server.sendMany(300, paths.urlLast, { body: { url: urlAt(0) }, authorization });
    await untilTrue(async () => requestsIn(await server.metrics()) - before === 300);
    const text = await server.metrics();
    assert.equal([...text.matchAll(/^nodejs_eventloop_lag_p99_seconds\{thread="\d"\}/gm)].length, THREADS);
    assert.equal([...text.matchAll(/^process_resident_memory_bytes /gm)].length, 1);
    assert.equal([...text.matchAll(/^urlwarden_build_info\{/gm)].length, 1);
  });

  await t.test('replaces a thread that ends; the others answer meanwhile, and the count stays exact', async () => {
    const { authorization } = await server.account('crashing', { qmh: 2_000 });
    let answered = 0;
    let isOver = false;
    const query = async () => {
      while (!isOver) {
        const answer = await server.last(authorization).catch(() => null); // a connection of the thread that ended
        if (answer?.status === 200) answered++;
        await wait(5);
      }
    };
    const queries = Array.from({ length: 16 }, query);
    await untilTrue(async () => answered > 16);
    await crash(2);
    const answeredBefore = answered;
    await untilTrue(async () => answered > answeredBefore + 16); // the others answer
    isOver = true;
    await Promise.all(queries);
    const [used = 0, ...others] = await server.used(authorization);
    assert.deepEqual(others, []);
    // The answers to at most sixteen queries were on connections that were lost.
    assert.ok(used >= answered && used <= answered + 16, `${used} counted, ${answered} answered`);
    await server.sendMany(2_000, paths.urlLast, { body: { url: urlAt(0) }, authorization });
    assert.deepEqual(await server.used(authorization), new Set([2_000]));
    await untilTrue(async () => {
      await server.sendMany(CONNECTIONS, paths.limits, { authorization });
      return (await responsesByThread(server)).length === THREADS;
    });
  });

  await t.test('ends when threads end again and again', async () => {
    for (let i = 0; i < 5; i++) await crash(1);
    await untilTrue(async () => server.app.failed.aborted);
    assert.match(String(server.app.failed.reason), /end again and again/);
  });
});

/** The newest thread of each name. */
const workers = new Map<string | null, Worker>();
process.on('worker', (worker: Worker) => workers.set(worker.threadName, worker));

/** Ends a thread as a defect outside of any request would. Resolves when it has ended. */
async function crash(thread: number): Promise<void> {
  const name = `serving-${thread}`;
  await untilTrue(async () => workers.has(name)); // it may be about to be replaced
  const worker = workers.get(name);
  workers.delete(name);
  const exit = new Promise((resolve) => worker?.once('exit', resolve));
  worker?.postMessage(null); // not a task
  await exit;
}

async function responsesByThread({ metrics }: Server): Promise<number[]> {
  const rows = (await metrics()).matchAll(/^urlwarden_thread_responses_total\{thread="\d+"\} (\d+)$/gm);
  return [...rows].map(([, count]) => Number(count));
}

function requestsIn(metrics: string): number {
  const row = /^urlwarden_http_requests_total\{route="[^"]+url\/last",method="POST",status="200"\} (\d+)$/m;
  return Number(row.exec(metrics)?.[1] ?? 0);
}

async function countedOf(control: Control, sub: string): Promise<number> {
  const today = Math.floor(now() / 86_400);
  const days = await control.usageByDay(sub, today - 1, today);
  return days.reduce((sum, { count }) => sum + count, 0);
}

async function untilTrue(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries++) {
    assert.ok(tries < 500, 'the condition did not become true');
    await wait(20);
  }
}
