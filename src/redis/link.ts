import { setTimeout as wait } from 'node:timers/promises';
import type { RedisAddress } from '../config/redis-url.ts';
import { certificateRefusal } from '../core/tls-errors.ts';
import { createRedisClient, primariesOf, type RedisClient } from './client.ts';

type ScriptArgument = string | number;

/** A Lua script over one key. Null while Redis is down; the script may or may not have run then. */
type Script<Reply> = (key: string, ...args: ScriptArgument[]) => Promise<Reply | null>;

type RedisWatcher = {
  /** Called once per outage, with the reason. The error itself is not passed: it may contain the refused password. */
  onDown?(reason: string): void;
  /** Called if `onDown` only knew that there is no connection, with the reason why none can be made. */
  onExplained?(reason: string): void;
  /** Called when Redis is up again after an outage. */
  onUp?(): void;
};

/** A connection to Redis with its health. All keys of this installation begin with its prefix. */
export type RedisLink = {
  script<Reply>(lua: string): Script<Reply>;
  isUp(): boolean;
  /** Keys with the same tag are in the same slot of a Cluster. */
  key(tag: string, name: string): string;
  /** Calls `onDown` immediately if Redis is already down. */
  watch(watcher: RedisWatcher): void;
  /**
   * Called after every new connection, even if no command noticed that the old one broke. Redis may now hold older data
   * than before.
   */
  onReconnect(listener: () => void): void;
  close(): Promise<void>;
};

export type RedisLinkOptions = { prefix: string; probeMs?: number };

/**
 * Interval between two checks of Redis: while it is down, whether it is up again; while no script runs, whether it still
 * answers. Scripts are a check themselves.
 */
const PROBE_MS = 1_000;
/**
 * Every command of our scripts, on a key in the slot of the failed one: a replica, a full memory and a disk that fails refuse
 * some of them, and a user of Redis may lack any. SET comes first, because Redis ignores a full memory after the first write.
 */
const PROBE = `
local key = KEYS[1]
redis.call('TIME')
redis.call('SET', key, 1)
redis.call('GET', key)
redis.call('DEL', key)
redis.call('RPUSH', key, 1)
redis.call('PEXPIRE', key, 1000)
redis.call('LINDEX', key, 0)
redis.call('LLEN', key)
redis.call('LPOP', key)
redis.call('HSET', key, 'field', 1)
redis.call('HMGET', key, 'field')
redis.call('EXPIRE', key, 60)
return 1
`;
/**
 * Redis is unresponsive if commands are pending and no reply arrives during five checks. A timeout for each command would
 * be wrong: in a burst of 20,000 the last one waits for all others, and a busy event loop delays reading the replies.
 */
const CHECK_INTERVAL_MS = 100;
const MAX_CHECKS_WITHOUT_REPLY = 5;
/** The connection is closed after this many probes found it connected, but not ready. */
const MAX_PROBES_NOT_READY = 3;
/** The driver queries unresponsive sentinels without end, so the start of the server waits only this long. */
const FIRST_CONNECTION_MS = 2_000;

const NO_CONNECTION = 'no connection';
const NOT_READY = 'Redis is loading its data, or does not answer';
/** Errors of commands without a connection; those of the driver are about its options. */
const NOT_CONNECTED = /enableOfflineQueue|^Connection is closed|^no connection$/;

type Outage = { reason: string; isExplained: boolean; key: string };

function reasonOf(error: Error): string {
  const refusal = certificateRefusal(error);
  return refusal === null ? error.message : `Redis ${refusal}`;
}

/** Waits until the first connection is ready or has failed: the server also starts without Redis. */
export async function openRedisLink(address: RedisAddress, options: RedisLinkOptions): Promise<RedisLink> {
  const { prefix, probeMs = PROBE_MS } = options;
  const client = createRedisClient(address);
  const watchers: RedisWatcher[] = [];
  const reconnectListeners: (() => void)[] = [];
  let scripts = 0;
  let isClosed = false;
  let isIdle = true;
  let pendingCommands = 0;
  let checksWithoutReply = 0;
  let probesNotReady = 0;
  /** The cause of a lost connection; the error of a failed command only says that the connection is closed. */
  let connectionError: Error | null = null;
  /** While Redis is down: the reason, and the key of the failed command. */
  let outage: Outage | null = null;

  function define<Reply>(lua: string) {
    const name = `script${scripts++}`;
    client.defineCommand(name, { lua, numberOfKeys: 1 });
    return commandOf<Reply>(client, name);
  }

  const runProbe = define<number>(PROBE);
  const keyOf = (tag: string, name: string) => `${prefix}:{${tag}}:${name}`;
  const checkKey = keyOf('probe', 'check');
  const notifyReconnect = () => {
    for (const listener of reconnectListeners) listener();
  };

  function markDown(error: Error, key: string): void {
    if (outage !== null || isClosed) return;
    const isExplained = connectionError !== null || !NOT_CONNECTED.test(error.message);
    const reason = isExplained ? reasonOf(connectionError ?? error) : NO_CONNECTION;
    outage = { reason, isExplained, key };
    for (const { onDown } of watchers) onDown?.(reason);
  }

  function explain(current: Outage): void {
    if (current.isExplained || connectionError === null) return;
    current.isExplained = true;
    current.reason = reasonOf(connectionError);
    for (const { onExplained } of watchers) onExplained?.(current.reason);
  }

  async function trackPending<Reply>(command: () => Promise<Reply>): Promise<Reply> {
    pendingCommands++;
    try {
      return await command();
    } finally {
      pendingCommands--;
      checksWithoutReply = 0;
    }
  }

  /**
   * Recovers from two states that the driver never leaves. It stops for good when sentinels announce a new primary while
   * it queries one of them, and it waits without end for a server that accepts the connection but sends nothing.
   */
  function recoverDriver(): void {
    if (client.status === 'end') client.connect().catch(() => {}); // a failure shows at the next probe
    probesNotReady = client.status === 'connect' ? probesNotReady + 1 : 0;
    if (probesNotReady < MAX_PROBES_NOT_READY) return;
    probesNotReady = 0;
    connectionError ??= new Error(NOT_READY);
    client.disconnect(true);
  }

  /** Every primary, because a Cluster may be down in part. */
  async function pingPrimaries(): Promise<void> {
    const primaries = primariesOf(client);
    if (primaries.length === 0) throw new Error(NO_CONNECTION);
    await Promise.all(primaries.map((primary) => trackPending(() => primary.ping())));
  }

  /** All primaries too: otherwise a Cluster that lacks another part would be up until the next check. */
  async function check(key: string): Promise<void> {
    await Promise.all([trackPending(() => runProbe(`${key}:probe`)), pingPrimaries()]);
  }

  async function probe(probed: Outage): Promise<void> {
    const succeeded = await check(probed.key).then(
      () => true,
      () => false,
    );
    if (outage !== probed || isClosed) return; // a closed driver would connect again
    if (!succeeded) {
      explain(probed);
      return recoverDriver();
    }
    outage = null;
    notifyReconnect();
    for (const { onUp } of watchers) onUp?.();
  }

  const replyCheck = setInterval(() => {
    checksWithoutReply = pendingCommands === 0 ? 0 : checksWithoutReply + 1;
    if (checksWithoutReply !== MAX_CHECKS_WITHOUT_REPLY) return;
    connectionError = new Error(`no reply for ${MAX_CHECKS_WITHOUT_REPLY * CHECK_INTERVAL_MS} ms`);
    client.disconnect(true); // all pending commands fail, and the driver reconnects
  }, CHECK_INTERVAL_MS);
  replyCheck.unref();

  // Every connection error also fails a command or the next probe. Without a listener it would end the process.
  client.on('error', (error) => {
    connectionError = error;
  });
  client.on('ready', () => {
    connectionError = null;
    if (outage === null) notifyReconnect();
    else void probe(outage);
  });
  client.on('+node', notifyReconnect);
  const connected = client.connect().then(
    () => null,
    (error: Error) => error,
  );
  const failure = await Promise.race([connected, wait(FIRST_CONNECTION_MS, new Error(NO_CONNECTION), { ref: false })]);
  if (failure !== null) markDown(failure, checkKey);

  const probeTimer = setInterval(() => {
    if (outage !== null) void probe(outage);
    else if (isIdle && pendingCommands === 0) check(checkKey).catch((error) => markDown(error, checkKey));
    isIdle = true;
  }, probeMs);
  probeTimer.unref();

  return {
    script<Reply>(lua: string): Script<Reply> {
      const run = define<Reply>(lua);
      return async (key, ...args) => {
        if (outage !== null) return null;
        isIdle = false;
        try {
          return await trackPending(() => run(key, ...args));
        } catch (error) {
          markDown(error as Error, key);
          return null;
        }
      };
    },
    isUp: () => outage === null,
    key: keyOf,
    watch(watcher) {
      watchers.push(watcher);
      if (outage !== null) watcher.onDown?.(outage.reason);
    },
    onReconnect: (listener) => void reconnectListeners.push(listener),
    async close() {
      isClosed = true;
      clearInterval(replyCheck);
      clearInterval(probeTimer);
      client.disconnect();
    },
  };
}

/** The command that `defineCommand` has added to the client; the driver's types do not include it. */
function commandOf<Reply>(client: RedisClient, name: string) {
  const commands = client as unknown as Record<string, (...args: ScriptArgument[]) => Promise<Reply>>;
  return (...args: ScriptArgument[]): Promise<Reply> => (commands[name] as (typeof commands)[string])(...args);
}
