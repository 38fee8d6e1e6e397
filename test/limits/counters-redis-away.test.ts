import assert from 'node:assert/strict';
import { once } from 'node:events';
import { glob, readFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { type Control, openControl } from '../../src/app/stores.ts';
import type { AppError } from '../../src/core/errors.ts';
import { type Policy, windowIndex } from '../../src/core/quota.ts';
import type { WhenDown } from '../../src/limits/counters-redis.ts';
import type { RedisLink } from '../../src/redis/link.ts';
import { freePort } from '../servers/child.ts';
import { type RedisServer, startRedis } from '../servers/redis.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { type ProcessCounters, redisCounters } from './process-counters.ts';
import { temporaryLink, temporaryPrefix, untilDown, untilUp } from './temporary-redis-counters.ts';

const SUB = '10000001';
const T = 1_794_700_000;
const PROBE_MS = 20;
const NO_LIMIT: Policy[] = [];
const limited = (window: Policy['window'], limit: number): Policy[] => [{ name: window, window, limit }];

type Node = { counters: ProcessCounters; link: RedisLink; changes: string[]; countedLocally(): number };

test('local: each node continues from its last counts, and Redis gets all counts when it is back', async (t) => {
  const { redis, nodes, usage } = await world(t, 'local', 2);
  const [a, b] = nodes as [Node, Node];
  await a.counters.take(SUB, NO_LIMIT, 10);
  await b.counters.take(SUB, NO_LIMIT, 5);
  await redis.stop('SIGKILL');

  const { counts, isAdmitted } = await a.counters.take(SUB, limited('month', 20), 3);
  assert.deepEqual([isAdmitted, counts.month >= 13, counts.second], [true, true, counts.month]);
  assert.ok((await b.counters.take(SUB, limited('month', 20), 4)).isAdmitted);
  assert.equal((await b.counters.take(SUB, limited('second', 19), 1)).isAdmitted, false, 'the rates continue too');
  assert.deepEqual([a.countedLocally(), b.countedLocally()], [1, 2]);
  await usage.settled(22);

  await redis.startAgain();
  for (const { link } of nodes) await untilUp(link);
  assert.equal((await a.counters.read(SUB)).counts.month, 22);
  assert.equal((await b.counters.take(SUB, NO_LIMIT, 1)).counts.day, 23);
  assert.deepEqual(
    nodes.map(({ changes }) => changes),
    [
      ['down', 'up'],
      ['down', 'up'],
    ],
  );
  await usage.settled(23);
  await redis.stop('SIGKILL');
  assert.equal((await a.counters.take(SUB, NO_LIMIT, 1)).counts.month, 24, 'with what the other has counted meanwhile');
});

test('a password that Redis requires from now on is the reported reason', async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const link = await temporaryLink(t, { url: redis.url, prefix: temporaryPrefix(), probeMs: PROBE_MS });
  const reasons: string[] = [];
  link.watch({ onDown: (reason) => reasons.push(reason), onExplained: (reason) => reasons.push(reason) });
  const operator = new Redis(redis.port);
  t.after(() => operator.disconnect());
  await operator.config('SET', 'requirepass', 'secret');
  await operator.call('CLIENT', 'KILL', 'TYPE', 'normal');
  await until(() => reasons.at(-1)?.startsWith('NOAUTH') === true, 'the reason');
  assert.ok(reasons.length <= 2, reasons.join());
  assert.ok(!reasons.join().includes('enableOfflineQueue'), reasons.join());
});

test('a user of Redis that may not run a command of our scripts: down, reported once, until it may', async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const operator = new Redis(redis.port);
  t.after(() => operator.disconnect());
  const documented = /ACL SETUSER urlwarden on >PASSWORD (.*)/.exec(
    await readFile(fromHere('../../docs/operating.md'), 'utf8'),
  );
  await operator.call('ACL', 'SETUSER', 'node', 'on', '>secret', ...(documented?.[1]?.split(' ') ?? []));
  const url = redis.url.replace('//', '//node:secret@');
  const link = await temporaryLink(t, { url, prefix: 'urlwarden', probeMs: PROBE_MS });
  const work = link.script<string>(`return redis.call('get', KEYS[1])`);
  const reasons: string[] = [];
  link.watch({ onDown: (reason) => reasons.push(reason) });
  const commands = await commandsOfScripts();
  assert.ok(commands.length > 10, commands.join());
  await until(async () => (await work(link.key('a', 'b'))) === null && link.isUp(), 'a script');
  for (const command of ['eval', 'evalsha', ...commands]) {
    await operator.call('ACL', 'SETUSER', 'node', `-${command}`);
    await operator.call('SCRIPT', 'FLUSH');
    await untilDown(link);
    await new Promise((resolve) => setTimeout(resolve, 5 * PROBE_MS));
    assert.equal(await work(link.key('a', 'b')), null, command);
    assert.equal(reasons.length, 1, `${command}: ${reasons.join()}`);
    assert.match(reasons.pop() ?? '', /can't run this command|NOPERM/);
    await operator.call('ACL', 'SETUSER', 'node', `+${command}`);
    await untilUp(link);
  }
});

const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

async function commandsOfScripts(): Promise<string[]> {
  const found = new Set<string>();
  for await (const path of glob(fromHere('../../src/{accounts,limits}/*.ts'))) {
    for (const [, name = ''] of (await readFile(path, 'utf8')).matchAll(/redis\.call\('(\w+)'/g)) found.add(name);
  }
  return [...found];
}

test('a Redis that refuses writes is down before the first query, and reported once', async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const operator = new Redis(redis.port);
  t.after(() => operator.disconnect());
  const link = await temporaryLink(t, { url: redis.url, probeMs: PROBE_MS });
  const reasons: string[] = [];
  link.watch({ onDown: (reason) => reasons.push(reason) });
  const run = (line: string) => {
    const [command = '', ...args] = line.split(' ');
    return operator.call(command, ...args);
  };
  const states = [
    { begin: 'CONFIG SET maxmemory 1', end: 'CONFIG SET maxmemory 0', reason: /^OOM / },
    { begin: 'REPLICAOF 127.0.0.1 1', end: 'REPLICAOF NO ONE', reason: /^READONLY / },
  ];
  for (const { begin, end, reason } of states) {
    await run(begin);
    await untilDown(link);
    await new Promise((resolve) => setTimeout(resolve, 5 * PROBE_MS));
    assert.equal(reasons.length, 1, reasons.join());
    assert.match(reasons.pop() ?? '', reason);
    await run(end);
    await untilUp(link);
  }
});

test('local: a Redis that kept its keys gets the local counts, once', async (t) => {
  const { redis, nodes, usage } = await world(t, 'local', 1);
  const [a] = nodes as [Node];
  const reasons: string[] = [];
  a.link.watch({ onDown: (reason) => reasons.push(reason) });
  await a.counters.take(SUB, NO_LIMIT, 10);
  redis.signal('SIGSTOP');
  const startMs = performance.now();
  const { counts } = await a.counters.take(SUB, NO_LIMIT, 3);
  assert.equal(counts.month, 13);
  assert.ok(performance.now() - startMs < 5_000, 'a silent Redis counts as down');
  assert.deepEqual(reasons, ['no reply for 500 ms']);
  const taken = await Promise.all(Array.from({ length: 100 }, () => a.counters.take(SUB, NO_LIMIT, 1)));
  assert.equal(taken.at(-1)?.counts.month, 113);
  await usage.settled(113);
  redis.signal('SIGCONT');
  await untilUp(a.link);
  // The unanswered command was still in the socket. Redis may have run it, but the greater count is used.
  assert.equal((await a.counters.read(SUB)).counts.month, 113);
  assert.equal((await a.counters.take(SUB, NO_LIMIT, 1)).counts.month, 114);
});

test('local: one node has lost Redis, and the other one gets its counts when it is back', async (t) => {
  const { redis, nodes, usage, openNode } = await world(t, 'local', 1);
  const path = await openPath(t, redis.port);
  const [a, b] = [nodes[0] as Node, await openNode(path.url)];
  await a.counters.take(SUB, NO_LIMIT, 10);
  await path.cut();
  await b.counters.take(SUB, NO_LIMIT, 5);
  await a.counters.take(SUB, NO_LIMIT, 1);
  await usage.settled(16);
  await path.mend();
  await untilUp(b.link);
  await until(async () => (await a.counters.read(SUB)).counts.month === 16, 'the counts of the other node');
  assert.deepEqual([a.changes, b.changes], [[], ['down', 'up']]);
});

test('refuse: 503 with Retry-After, nothing is counted, and a refund still reaches the store', async (t) => {
  const { redis, nodes, usage } = await world(t, 'refuse', 1);
  const [a] = nodes as [Node];
  const { ts } = await a.counters.take(SUB, NO_LIMIT, 10);
  await redis.stop('SIGKILL');
  const refused = (error: AppError) => error.code === 'overloaded' && error.retryAfterSeconds === 1;
  await assert.rejects(async () => a.counters.take(SUB, NO_LIMIT, 1), refused);
  await assert.rejects(a.counters.takeCall(SUB, 1), refused);
  await assert.rejects(a.counters.read(SUB), refused);
  await a.counters.refund(SUB, 4, ts);
  await usage.settled(6);
  await redis.startAgain();
  await untilUp(a.link);
  assert.equal((await a.counters.take(SUB, NO_LIMIT, 1)).counts.month, 7);
  assert.equal(a.countedLocally(), 0);
});

for (const whenDown of ['local', 'refuse'] as const) {
  test(`Redis is killed under load and restarts empty: ${whenDown}`, async (t) => {
    const { redis, nodes, usage } = await world(t, whenDown, 3);
    const isOver = { value: false };
    let [admitted, refused] = [0, 0];
    const load = nodes.flatMap((node) =>
      Array.from({ length: 10 }, async () => {
        while (!isOver.value) {
          const taken = await Promise.resolve(node.counters.take(SUB, NO_LIMIT, 1)).catch(
            (error: AppError) => error.code,
          );
          if (typeof taken === 'object') admitted++;
          else assert.equal(taken, 'overloaded');
          if (typeof taken !== 'object') refused++;
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      }),
    );
    const until = async (isReached: () => boolean) => {
      while (!isReached()) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await until(() => admitted > 1_000);
    await redis.stop('SIGKILL');
    const atKill = admitted;
    if (whenDown === 'local') await until(() => admitted > atKill + 1_000);
    else await until(() => refused > 1_000);
    await redis.startAgain();
    for (const { link } of nodes) await untilUp(link);
    const atReturn = admitted;
    await until(() => admitted > atReturn + 1_000);
    isOver.value = true;
    await Promise.all(load);
    for (const { changes } of nodes) assert.deepEqual(changes, ['down', 'up']);
    if (whenDown === 'local') assert.equal(refused, 0);
    await usage.settled(admitted);
    // Redis may lack counts that other nodes had not written when the key was filled, half a second of them at most. It
    // may have too many for commands that it ran but could not answer.
    const { counts } = await (nodes[0] as Node).counters.read(SUB);
    const halfSecond = 30 * 500;
    assert.ok(Math.abs(counts.month - admitted) < Math.min(halfSecond, admitted / 2), `${counts.month} of ${admitted}`);
  });
}

test('Redis is filled again from the store when counts that could not be written are written', async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop('SIGKILL'));
  const link = await temporaryLink(t, { url: redis.url });
  let [stored, isReadOnly] = [0, true];
  const store = {
    usage: async () => ({ day: stored, month: stored }),
    async addUsage(batch: readonly { count: number }[]) {
      if (isReadOnly) throw new Error('no space on the disk');
      for (const { count } of batch) stored += count;
    },
  };
  const counters = redisCounters(link, store, { whenDown: 'local', flushMs: 1_000_000 });
  for (let i = 0; i < 10; i++) await counters.take(SUB, NO_LIMIT, 1);
  const direct = new Redis({ port: redis.port });
  await direct.flushall();
  direct.disconnect();
  assert.equal((await counters.take(SUB, NO_LIMIT, 1)).counts.month, 1, 'nothing else is known');
  isReadOnly = false;
  assert.equal((await counters.take(SUB, NO_LIMIT, 1)).counts.month, 12);
  await counters.close();
  assert.equal(stored, 12);
});

test('a server that starts without Redis counts locally until Redis is up', async (t) => {
  const port = await freePort();
  const control = await openControl({ dataDir: temporaryFolder(t) });
  const node = await openNode(t, { url: `redis://127.0.0.1:${port}`, prefix: 'x', control, whenDown: 'local' });
  t.after(async () => {
    await node.counters.close();
    await control.close();
  });
  assert.deepEqual(node.changes, ['down']);
  assert.equal((await node.counters.take(SUB, NO_LIMIT, 2)).counts.month, 2);
  const redis = await startRedis({ port });
  t.after(() => redis.stop());
  await untilUp(node.link);
  assert.equal((await node.counters.take(SUB, NO_LIMIT, 1)).counts.month, 3);
  assert.equal(node.countedLocally(), 1);
});

test('a silent server is replaced by one that answers at the same address', async (t) => {
  const port = await freePort();
  const held: Socket[] = [];
  const silent = createServer((socket) => held.push(socket.on('error', () => {}))).listen(port, '127.0.0.1');
  await once(silent, 'listening');
  const link = await temporaryLink(t, { url: `redis://127.0.0.1:${port}`, probeMs: PROBE_MS });
  assert.deepEqual([link.isUp(), held.length > 0], [false, true]);
  const reasons: string[] = [];
  link.watch({ onDown: (reason) => reasons.push(reason), onExplained: (reason) => reasons.push(reason) });
  await until(() => reasons.length === 2, 'the reason');
  assert.deepEqual(reasons, ['no connection', 'Redis is loading its data, or does not answer']);
  // Accepts no new connections, but keeps the open ones.
  silent.close();
  const redis = await startRedis({ port });
  t.after(() => redis.stop());
  await untilUp(link);
  for (const socket of held) socket.destroy();
});

test('a link that is closed while Redis accepts no writes does not connect again', async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const client = new Redis(redis.port);
  t.after(() => client.disconnect());
  const link = await temporaryLink(t, { url: redis.url, probeMs: PROBE_MS });
  const write = link.script<number>("return redis.call('incr', KEYS[1])");
  // As during a failover that an operator has planned.
  await client.call('CLIENT', 'PAUSE', '30000', 'WRITE');
  assert.equal(await write(link.key('a', 'b')), null);
  await untilProbed();
  await link.close();
  await new Promise((resolve) => setTimeout(resolve, 10 * PROBE_MS));
  assert.equal((await connections()).length, 1, 'that of this test');

  async function untilProbed(): Promise<void> {
    for (let checks = 0; !(await connections()).some((line) => / flags=\w*b/.test(line)); checks++) {
      assert.ok(checks < 1_000, 'no probe waits');
      await new Promise((resolve) => setTimeout(resolve, PROBE_MS / 4));
    }
  }
  async function connections(): Promise<string[]> {
    return String(await client.call('CLIENT', 'LIST'))
      .trim()
      .split('\n');
  }
});

test('an idle link checks Redis, a busy one does not', async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const link = await temporaryLink(t, { url: redis.url, probeMs: PROBE_MS });
  const client = new Redis(redis.port);
  t.after(() => client.disconnect());
  const pings = async () => Number(/cmdstat_ping:calls=(\d+)/.exec(await client.info('commandstats'))?.[1]);
  const work = link.script<number>("return redis.call('incr', KEYS[1])");
  const before = await pings();
  for (let checks = 0; (await pings()) < before + 5; checks++) {
    assert.ok(checks < 1_000, 'Redis is not checked');
    await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
  }
  await work(link.key('a', 'b'));
  const idle = await pings();
  for (let i = 0; i < 100; i++) {
    await work(link.key('a', 'b'));
    await new Promise((resolve) => setTimeout(resolve, PROBE_MS / 10));
  }
  assert.ok((await pings()) - idle <= 2, 'at most one at the beginning and one at the end');
});

/** Starts a Redis, and nodes that share it and a store. The time is always T. */
async function world(t: TestContext, whenDown: WhenDown, count: number) {
  let server: RedisServer = await startRedis();
  t.after(() => server.stop('SIGKILL'));
  const { url, port } = server;
  const prefix = temporaryPrefix();
  const control = await openControl({ dataDir: temporaryFolder(t) });
  const nodes: Node[] = [];
  for (let i = 0; i < count; i++) nodes.push(await openNode(t, { url, prefix, control, whenDown }));
  t.after(async () => {
    for (const { counters } of nodes) await counters.close();
    await control.close();
  });
  return {
    nodes,
    /** One more node, which reaches Redis in another way. */
    async openNode(redisUrl: string) {
      const node = await openNode(t, { url: redisUrl, prefix, control, whenDown });
      nodes.push(node);
      return node;
    },
    redis: {
      port,
      stop: (signal: NodeJS.Signals) => server.stop(signal),
      signal: (signal: NodeJS.Signals) => process.kill(server.pid, signal),
      async startAgain() {
        server = await startRedis({ port });
      },
    },
    usage: {
      /** Waits until the store has this count for the month. */
      async settled(expected: number) {
        const used = () => control.usage(SUB, windowIndex('day', T), windowIndex('month', T));
        const deadlineMs = Date.now() + 10_000;
        while ((await used()).month !== expected && Date.now() < deadlineMs) {
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        assert.deepEqual(await used(), { day: expected, month: expected });
      },
    },
  };
}

/** A way to Redis that can be cut. */
async function openPath(t: TestContext, redisPort: number) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const ends = [socket, connect(redisPort, '127.0.0.1')] as const;
    for (const end of ends) {
      sockets.add(end);
      end.on('error', () => {});
    }
    ends[0].pipe(ends[1]).pipe(ends[0]);
  });
  const port = await freePort();
  const mend = async () => void (await once(server.listen(port, '127.0.0.1'), 'listening'));
  const cut = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await mend();
  t.after(cut);
  return { url: `redis://127.0.0.1:${port}`, cut, mend };
}

type NodeOptions = { url: string; prefix: string; control: Control; whenDown: WhenDown };

async function openNode(t: TestContext, { url, prefix, control, whenDown }: NodeOptions): Promise<Node> {
  const link = await temporaryLink(t, { url, prefix, probeMs: PROBE_MS });
  const changes: string[] = [];
  link.watch({ onDown: () => changes.push('down'), onUp: () => changes.push('up') });
  let locally = 0;
  const counters = redisCounters(link, control, {
    whenDown,
    nowMs: () => T * 1000,
    onCountedLocally: () => locally++,
  });
  return { counters, link, changes, countedLocally: () => locally };
}
