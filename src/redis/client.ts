import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from '../config/redis-url.ts';

export type RedisClient = Redis | Cluster;

const CONNECT_TIMEOUT_MS = 1_000;
/** The longest delay between two connection attempts. */
const RETRY_MAX_MS = 1_000;
const RETRY_STEP_MS = 50;
/** How often the slot table of a Cluster is refreshed if no command was redirected. */
const SLOTS_REFRESH_MS = 1_000;
/** One node of a Cluster may be unresponsive while others reply, which `link.ts` does not notice. */
const CLUSTER_COMMAND_TIMEOUT_MS = 3_000;
/** An unresponsive server does not close its side of the connection either. */
const DISCONNECT_TIMEOUT_MS = 10;

const retryMs = (attempt: number): number => Math.min(attempt * RETRY_STEP_MS, RETRY_MAX_MS);

/** Connects when `connect` is called, and reconnects automatically from then on. */
export function createRedisClient(address: RedisAddress): RedisClient {
  const { kind, hosts, db } = address;
  const [first] = hosts;
  switch (kind) {
    case 'standalone':
      return new Redis({ ...standaloneOptions(address), ...first, db });
    case 'sentinel':
      return new Redis({ ...standaloneOptions(address), ...sentinelOptions(address), db });
    case 'cluster':
      return createCluster(address);
  }
}

function createCluster(address: RedisAddress): Cluster {
  const cluster = new Cluster([...address.hosts], {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: retryMs,
    clusterNodeRetryStrategy: retryMs,
    slotsRefreshInterval: 0,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    // A command without a reply may have been executed, so it is never sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    redisOptions: { ...commonOptions(address), commandTimeout: CLUSTER_COMMAND_TIMEOUT_MS },
  });
  // The timer of the driver starts again if the client is closed during a refresh, and then keeps the process alive.
  const refresh = () => {
    if (cluster.status === 'ready') cluster.refreshSlotsCache();
  };
  const timer = setInterval(refresh, SLOTS_REFRESH_MS).unref();
  return cluster.once('end', () => clearInterval(timer));
}

/** The servers that take writes: one, or those that own the slots of a Cluster. */
export function primariesOf(client: RedisClient): Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

function commonOptions({ username, password, isTls }: RedisAddress) {
  return {
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(isTls ? { tls: {} } : {}),
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    // A command without a reply may have been executed, so it is never sent again.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
  } satisfies RedisOptions;
}

function standaloneOptions(address: RedisAddress) {
  return {
    ...commonOptions(address),
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: retryMs,
    // After a failover the old primary continues as a replica, and the driver must look up the new primary.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  } satisfies RedisOptions;
}

function sentinelOptions({ hosts, masterName, sentinelPassword, isTls }: RedisAddress) {
  return {
    sentinels: [...hosts],
    ...(masterName === null ? {} : { name: masterName }),
    ...(sentinelPassword === null ? {} : { sentinelPassword }),
    ...(isTls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
    sentinelRetryStrategy: retryMs,
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
    // The sentinels announce a failover before the old primary closes the connection, which it may never do.
    failoverDetector: true,
  } satisfies RedisOptions;
}
