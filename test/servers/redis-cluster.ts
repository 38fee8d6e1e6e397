import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './child.ts';
import { type RedisServer, startRedis } from './redis.ts';

export type RedisCluster = {
  /** The value for `--redis-url`. */
  url: string;
  nodes: RedisServer[];
  /** Restarts a stopped node on the same port, empty but with its slots. */
  startAgain(index: number): Promise<void>;
  stop(): Promise<void>;
};

type Ports = { port: number; busPort: number };

const NODES = 3;
const SLOTS = 16_384;

/** Three primaries, each with a third of the slots and a file that holds its identity. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'urlwarden-cluster-'));
  const ports: Ports[] = [];
  for (let i = 0; i < NODES; i++) ports.push({ port: await freePort(), busPort: await freePort() });
  const start = ({ port, busPort }: Ports) =>
    startRedis({
      port,
      args: [
        '--dir',
        folder,
        '--cluster-enabled',
        'yes',
        '--cluster-config-file',
        join(folder, `${port}.conf`),
        // Long, so that nodes on a busy machine do not take each other for dead.
        '--cluster-node-timeout',
        '15000',
        '--cluster-port',
        String(busPort),
      ],
    });
  const nodes = await Promise.all(ports.map(start));
  await formCluster(ports);
  return {
    url: `redis+cluster://${ports.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    async startAgain(index) {
      nodes[index] = await start(ports[index] as Ports);
    },
    async stop() {
      for (const node of nodes) await node.stop('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function formCluster(ports: readonly Ports[]): Promise<void> {
  const clients = ports.map(({ port }) => new Redis({ port }));
  try {
    for (const [i, client] of clients.entries()) {
      const [first, next] = [i, i + 1].map((n) => Math.floor((n * SLOTS) / NODES));
      await client.call('cluster', 'addslotsrange', String(first), String(Number(next) - 1));
      await client.call('cluster', 'set-config-epoch', String(i + 1));
    }
    for (const { port, busPort } of ports.slice(1)) {
      await clients[0]?.call('cluster', 'meet', '127.0.0.1', String(port), String(busPort));
    }
    const deadlineMs = Date.now() + 30_000;
    for (const client of clients) {
      while (!String(await client.cluster('INFO')).includes('cluster_state:ok')) {
        if (Date.now() > deadlineMs) throw new Error('the nodes did not form a cluster in time');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  } finally {
    for (const client of clients) client.disconnect();
  }
}
