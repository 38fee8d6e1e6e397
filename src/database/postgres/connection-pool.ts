import postgres from 'postgres';
import { AppError } from '../../core/errors.ts';

export type PoolOptions = {
  /** Connections that may be open at once. */
  connections: number;
  /** `read-write`: of several hosts, the one that accepts writes. `any`: whichever answers. */
  role: 'read-write' | 'any';
};

/** The hosts of one URL, of which one is asked at a time. */
export type ConnectionPool = {
  /** Connections to the host that is asked now. */
  pool(): postgres.Sql | Promise<postgres.Sql>;
  /** Something failed on this pool that another host may not have. */
  doubt(pool: postgres.Sql): void;
  /** The host is silent: its connections may be dead without knowing. What still runs on them has some seconds. */
  leave(pool: postgres.Sql): void;
  close(): Promise<void>;
};

const CONNECT_TIMEOUT_SECONDS = 5;

/** A host that has not said in this time whether it accepts writes is not waited for. */
const PROBE_MS = 2_000;

/** Where no host was found nobody looks for one again before this: a refused connection takes less than one. */
const PAUSE_MS = 200;

/** Before a closed connection is tried again; the driver's own pause grows to 20 s, and a server is back sooner. */
const RECONNECT_SECONDS = 0.1;

/** No statement of ours examines more than a page or a batch; one that runs this long is stuck behind another. */
export const STATEMENT_TIMEOUT_MS = 15_000;

/** A process that was stopped in the middle of a transaction (Ctrl-Z, a frozen machine) must not keep others waiting. */
const IDLE_TRANSACTION_MS = 15_000;

/**
 * Every statement is written for an index and its order. Which way is the best is not asked of the statistics: a plan is
 * kept as long as its connection, and one that was made while a table was nearly empty would read all of it, and one
 * for an address with few matches would sort all those of a network.
 */
export const PLANNING = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_sort: 'off',
  jit: 'off',
};

/**
 * One pool for one host. The driver can be given several hosts, but where none accepts writes it tries them without an
 * end, and it asks the first one to cancel statements of all.
 */
export function openConnectionPool(url: string, { connections, role }: PoolOptions): ConnectionPool {
  const addresses = addressesIn(url);
  let current: postgres.Sql | Promise<postgres.Sql> | null = null;
  let isClosed = false;
  let pausedUntil = 0;

  function open(address: Address | undefined): postgres.Sql {
    return postgres(url, {
      // As arrays, which its types do not know of, the driver takes them as they are: colons and all.
      ...(address && { host: [address.host] as unknown as string, port: [address.port] as unknown as number }),
      max: connections,
      connect_timeout: CONNECT_TIMEOUT_SECONDS,
      backoff: () => RECONNECT_SECONDS,
      connection: {
        application_name: 'urlwarden',
        statement_timeout: STATEMENT_TIMEOUT_MS,
        idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
        ...PLANNING,
      },
      // Sums, ids and seconds stay far below 2^53.
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
      fetch_types: false,
      onnotice: () => {},
    });
  }

  async function find(): Promise<postgres.Sql> {
    const pools = addresses.map(open);
    let found: postgres.Sql | null = null;
    try {
      found = await Promise.any(pools.map((pool) => suitable(pool, role)));
      if (isClosed) throw noAnswer();
      current = found;
      return found;
    } catch (cause) {
      current = null;
      pausedUntil = Date.now() + PAUSE_MS;
      throw noAnswer(cause instanceof AggregateError ? cause.errors[0] : cause);
    } finally {
      for (const pool of pools) if (pool !== found || isClosed) void end(pool, 0);
    }
  }

  function leave(pool: postgres.Sql): void {
    if (current !== pool) return;
    current = null;
    void end(pool, CONNECT_TIMEOUT_SECONDS);
  }

  return {
    pool() {
      if (current !== null) return current;
      if (isClosed || Date.now() < pausedUntil) throw noAnswer();
      current = addresses.length > 1 ? find() : open(addresses[0]);
      return current;
    },
    doubt(pool) {
      if (addresses.length > 1) leave(pool);
    },
    leave,
    async close() {
      isClosed = true;
      const pool = await Promise.resolve(current).catch(() => null);
      if (pool !== null) await end(pool, CONNECT_TIMEOUT_SECONDS);
    },
  };
}

export function noAnswer(cause?: unknown): AppError {
  return new AppError('unavailable', 'PostgreSQL does not answer', { cause });
}

async function suitable(pool: postgres.Sql, role: PoolOptions['role']): Promise<postgres.Sql> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(noAnswer()), PROBE_MS);
  try {
    const [row] = await Promise.race([pool.unsafe('show transaction_read_only'), late.promise]);
    if (role === 'read-write' && row?.transaction_read_only !== 'off') throw noAnswer();
    return pool;
  } finally {
    clearTimeout(timer);
  }
}

async function end(pool: postgres.Sql, timeoutSeconds: number): Promise<void> {
  await pool.end({ timeout: timeoutSeconds });
}

type Address = { host: string; port: number };

const AUTHORITY = /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]+)/i;
const ADDRESS = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/;
const PORT = 5432;

/** Empty where the driver reads the URL itself: no host, or the path of a socket. It does not understand IPv6. */
function addressesIn(url: string): Address[] {
  const parts = AUTHORITY.exec(url)?.[1]?.split(',') ?? [];
  if (parts.length === 1 && !parts[0]?.startsWith('[')) return [];
  return parts.map((part) => {
    const [, ipv6, name, port] = ADDRESS.exec(part) ?? [];
    return { host: ipv6 ?? name ?? part, port: Number(port ?? PORT) };
  });
}
