import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from '../config/redis-url.ts';

export type RedisClient = Redis | Cluster;

const CONNECT_TIMEOUT_MS = 1_000;
/** The greatest time between two tries to connect. */
const RETRY_MAX_MS = 1_000;
const RETRY_STEP_MS = 50;
/** How soon a Cluster's new division of slots is known when no command was told of it. */
const SLOTS_REFRESH_MS = 1_000;
/** Of a Cluster one node may be silent while others answer, which the link does not notice. */
const CLUSTER_COMMAND_TIMEOUT_MS = 3_000;
/** A server that is silent does not take leave either. */
const LEAVE_TAKING_MS = 10;

const retryMs = (attempt: number): number => Math.min(attempt * RETRY_STEP_MS, RETRY_MAX_MS);

/** Connects when `connect` is called, and from then on again and again by itself. */
export function createRedisClient(address: RedisAddress): RedisClient {
  const { kind, hosts, db } = address;
  const [first] = hosts;
  switch (kind) {
    case 'standalone':
      return new Redis({ ...standaloneOptions(address), ...first, db });
    case 'sentinel':
      return new Redis({ ...standaloneOptions(address), ...sentinelOptions(address), db });
    case 'cluster':
      return new Cluster([...hosts], {
        lazyConnect: true,
        enableOfflineQueue: false,
        clusterRetryStrategy: retryMs,
        clusterNodeRetryStrategy: retryMs,
        slotsRefreshInterval: SLOTS_REFRESH_MS,
        slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
        // A command whose answer was lost may have been counted: it is never sent again.
        retryDelayOnFailover: 0,
        retryDelayOnClusterDown: 0,
        redisOptions: { ...commonOptions(address), commandTimeout: CLUSTER_COMMAND_TIMEOUT_MS },
      });
  }
}

function commonOptions({ username, password, isTls }: RedisAddress) {
  return {
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(isTls ? { tls: {} } : {}),
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: LEAVE_TAKING_MS,
    // A command whose answer was lost may have been counted: it is never sent again.
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
    // After a failover the old primary goes on as a replica: the new one has to be asked for.
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
    // Told by the sentinels themselves, before the old primary closes the connection, if it ever does.
    failoverDetector: true,
  } satisfies RedisOptions;
}
