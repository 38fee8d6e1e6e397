import { setTimeout as wait } from 'node:timers/promises';
import type { RedisAddress } from '../config/redis-url.ts';
import { createRedisClient, type RedisClient } from './client.ts';

export type ScriptArgument = string | number;

/** A Lua script over one key. Null while Redis is away; nothing is known then about what it has done. */
export type Script<Reply> = (key: string, ...args: ScriptArgument[]) => Promise<Reply | null>;

export type RedisWatcher = {
  /** Redis has gone, and why in a sentence: told once. The error itself may hold the password that was refused. */
  onDown?(reason: string): void;
  /** It is back after that. */
  onUp?(): void;
};

/** Redis, and whether it is there. Everything of this installation begins with its prefix. */
export type RedisLink = {
  script<Reply>(lua: string): Script<Reply>;
  isUp(): boolean;
  /** Keys of one tag are in one slot of a Cluster. */
  key(tag: string, name: string): string;
  /** Tells also that Redis is away already. */
  watch(watcher: RedisWatcher): void;
  /**
   * Told after every new connection, whether or not anyone has noticed that the old one broke: what Redis holds now may
   * be older than what it held.
   */
  onRenewed(listener: () => void): void;
  close(): Promise<void>;
};

export type RedisLinkOptions = { prefix: string; probeMs?: number };

/** While Redis is away nobody waits for it; it is asked so often whether it is back. */
const PROBE_MS = 1_000;
const PROBE_LIFE_SECONDS = 60;
/**
 * A Redis that owes answers and gives none for five of these is given up. Not so many milliseconds of one command: in a
 * burst of 20,000 the last one waits for all others, and when our own event loop was busy, answers lie unread.
 */
const SILENCE_TICK_MS = 100;
const SILENCE_TICKS = 5;
/** Probes that find a new connection still without its greeting, before it is given up. */
const MAX_GREETINGS = 3;
/** Sentinels that do not answer are asked for ever: the start does not wait for that. */
const FIRST_CONNECTION_MS = 2_000;

/** Waits for the first connection, or for its failure: the server starts without Redis too. */
export async function openRedisLink(address: RedisAddress, options: RedisLinkOptions): Promise<RedisLink> {
  const { prefix, probeMs = PROBE_MS } = options;
  const client = createRedisClient(address);
  const watchers: RedisWatcher[] = [];
  const renewals: (() => void)[] = [];
  let scripts = 0;
  let isClosed = false;
  let owed = 0;
  let silentTicks = 0;
  let greetings = 0;
  /** Of the connection; a command that failed with it only knows that there is none. */
  let connectionError: Error | null = null;
  /** While Redis is away: why, the key whose command failed, and the timer that asks for it. */
  let away: { reason: string; key: string; timer: NodeJS.Timeout } | null = null;

  const keyOf = (tag: string, name: string) => `${prefix}:{${tag}}:${name}`;
  const renewed = () => {
    for (const listener of renewals) listener();
  };

  function goDown(error: Error, key: string): void {
    if (away !== null || isClosed) return;
    const reason = (connectionError ?? error).message;
    away = { reason, key, timer: setInterval(probe, probeMs) };
    away.timer.unref();
    for (const { onDown } of watchers) onDown?.(reason);
  }

  /** Commands that are under way are what silence is measured by. */
  async function owing<Reply>(command: () => Promise<Reply>): Promise<Reply> {
    owed++;
    try {
      return await command();
    } finally {
      owed--;
      silentTicks = 0;
    }
  }

  /**
   * What the driver does not get out of by itself. It ends for good when sentinels tell of a new primary while it is
   * asking one of them for it, and it waits for ever for a server that has taken its connection and then says nothing.
   */
  function mend(): void {
    if (client.status === 'end') client.connect().catch(() => {}); // the next probe will tell
    greetings = client.status === 'connect' ? greetings + 1 : 0;
    if (greetings < MAX_GREETINGS) return;
    greetings = 0;
    client.disconnect(true);
  }

  /** A write, since a replica answers to reading; in the slot that failed, since a Cluster may lack one part only. */
  async function probe(): Promise<void> {
    if (away === null) return;
    const asked = away;
    const write = () => client.set(`${asked.key}:probe`, 1, 'EX', PROBE_LIFE_SECONDS);
    const isBack = await owing(write).then(
      () => true,
      () => false,
    );
    if (away !== asked) return;
    if (!isBack) return mend();
    clearInterval(asked.timer);
    away = null;
    renewed();
    for (const { onUp } of watchers) onUp?.();
  }

  const listening = setInterval(() => {
    silentTicks = owed === 0 ? 0 : silentTicks + 1;
    // All commands under way fail, and a new connection is made.
    if (silentTicks === SILENCE_TICKS) client.disconnect(true);
  }, SILENCE_TICK_MS);
  listening.unref();

  // Each failure is also that of a command or of the next probe; without a listener it would end the process.
  client.on('error', (error) => {
    connectionError = error;
  });
  client.on('ready', () => {
    connectionError = null;
    if (away === null) renewed();
    else void probe();
  });
  client.on('+node', renewed);
  const connected = client.connect().then(
    () => null,
    (error: Error) => error,
  );
  const failure = await Promise.race([
    connected,
    wait(FIRST_CONNECTION_MS, new Error('no connection'), { ref: false }),
  ]);
  if (failure !== null) goDown(failure, keyOf('probe', 'first'));

  return {
    script<Reply>(lua: string): Script<Reply> {
      const name = `script${scripts++}`;
      client.defineCommand(name, { lua, numberOfKeys: 1 });
      const run = commandOf<Reply>(client, name);
      return async (key, ...args) => {
        if (away !== null) return null;
        try {
          return await owing(() => run(key, ...args));
        } catch (error) {
          goDown(error as Error, key);
          return null;
        }
      };
    },
    isUp: () => away === null,
    key: keyOf,
    watch(watcher) {
      watchers.push(watcher);
      if (away !== null) watcher.onDown?.(away.reason);
    },
    onRenewed: (listener) => void renewals.push(listener),
    async close() {
      isClosed = true;
      clearInterval(listening);
      if (away !== null) clearInterval(away.timer);
      client.disconnect();
    },
  };
}

/** What `defineCommand` has put there; the driver's types do not know it. */
function commandOf<Reply>(client: RedisClient, name: string) {
  const commands = client as unknown as Record<string, (...args: ScriptArgument[]) => Promise<Reply>>;
  return (...args: ScriptArgument[]): Promise<Reply> => (commands[name] as (typeof commands)[string])(...args);
}
