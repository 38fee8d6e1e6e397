import { isIP } from 'node:net';
import postgres from 'postgres';
import { AppError } from '../../core/errors.ts';
import { type ClientCounts, type Clients, createClients } from './clients.ts';
import { explained, noResponse } from './faults.ts';

export type PoolOptions = {
  /** Maximum number of open connections. */
  connections: number;
  /** `read-write`: of several hosts, the one that accepts writes. `any`: the first one that responds. */
  role: 'read-write' | 'any';
};

/** Connections to one of the hosts of a URL at a time. */
type ConnectionPool = {
  /** The clients of the current host. */
  clients(): Clients | Promise<Clients>;
  /** Reports a failure that another host may not have. If the URL has several hosts, its clients are discarded. */
  reportFailure(clients: Clients): void;
  /** Closes the clients of an unresponsive host, whose connections may be dead. Running statements have 5 s to finish. */
  discard(clients: Clients): void;
  /** Of the current host; no connections while a host is searched. */
  count(): ClientCounts;
  close(): Promise<void>;
};

const CONNECT_TIMEOUT_SECONDS = 5;

/** How long to wait for a host to report whether it accepts writes. */
const PROBE_MS = 2_000;

/** Delay after a search for a host that found none, because a refused connection fails in less than a millisecond. */
const PAUSE_MS = 200;

/** Delay before a reconnect. The driver's default grows to 20 s, but a restarted server is up sooner. */
const RECONNECT_SECONDS = 0.1;

/** Every statement reads at most a page or a batch, so one that runs this long is blocked by another. */
export const STATEMENT_TIMEOUT_MS = 15_000;

/** A process that is suspended inside a transaction (Ctrl-Z, a frozen machine) must not block others. */
const IDLE_TRANSACTION_MS = 15_000;

/**
 * Every statement is written for an index and its order. The planner must not choose by statistics, because a plan is
 * cached as long as its connection: a plan from when a table was nearly empty would scan the whole table, and a plan for
 * an address with few matches would sort all matches of a network.
 */
export const PLANNING = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_sort: 'off',
  jit: 'off',
};

/** Sent with every new connection. PgBouncer does not pass them on: docs/scaling.md says where to set them then. */
export const SESSION_SETTINGS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
  ...PLANNING,
};

/**
 * Connects to one host at a time. The driver accepts several hosts, but if none accepts writes it tries them without end,
 * and it sends every cancel request to the first host.
 */
export function openConnectionPool(url: string, { connections, role }: PoolOptions): ConnectionPool {
  const addresses = addressesIn(url);
  let current: Clients | Promise<Clients> | null = null;
  let isClosed = false;
  let pausedUntil = 0;

  function open(address: Address | undefined): postgres.Sql {
    return postgres(url, {
      // In arrays, which the driver's types do not include, the driver uses the values unchanged, colons included.
      ...(address && { host: [address.host] as unknown as string, port: [address.port] as unknown as number }),
      ...(address && isIP(address.host) !== 0 && isVerified(url) && { ssl: { host: address.host } }),
      max: 1,
      connect_timeout: CONNECT_TIMEOUT_SECONDS,
      backoff: () => RECONNECT_SECONDS,
      connection: { application_name: 'urlwarden', ...SESSION_SETTINGS },
      // Sums, ids and seconds stay far below 2^53.
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
      fetch_types: false,
      onnotice: () => {},
    });
  }

  async function findHost(): Promise<Clients> {
    const probes = addresses.map((address) => ({ address, client: open(address) }));
    let found: (typeof probes)[number] | null = null;
    try {
      found = await Promise.any(probes.map((probe) => requireRole(probe.client, role).then(() => probe)));
      if (isClosed) throw noResponse();
      const { address, client } = found;
      current = createClients(() => open(address), connections, client);
      return current;
    } catch (cause) {
      current = null;
      pausedUntil = Date.now() + PAUSE_MS;
      const errors: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
      // A wrong certificate, password or database name stays wrong, and the operator must know it.
      const lasting = errors.map(explained).find((error) => error instanceof AppError && !error.isTransient);
      throw lasting ?? noResponse(errors[0]);
    } finally {
      for (const probe of probes) if (probe !== found || isClosed) void probe.client.end({ timeout: 0 });
    }
  }

  function discard(clients: Clients): void {
    if (current !== clients) return;
    current = null;
    void clients.end(CONNECT_TIMEOUT_SECONDS);
  }

  return {
    clients() {
      if (current !== null) return current;
      if (isClosed || Date.now() < pausedUntil) throw noResponse();
      current = addresses.length > 1 ? findHost() : createClients(() => open(addresses[0]), connections);
      return current;
    },
    reportFailure(clients) {
      if (addresses.length > 1) discard(clients);
    },
    discard,
    count: () => (current === null || current instanceof Promise ? { inUse: 0, idle: 0, waiting: 0 } : current.count()),
    async close() {
      isClosed = true;
      const clients = await Promise.resolve(current).catch(() => null);
      await clients?.end(CONNECT_TIMEOUT_SECONDS);
    },
  };
}

async function requireRole(client: postgres.Sql, role: PoolOptions['role']): Promise<void> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(noResponse()), PROBE_MS);
  try {
    const [row] = await Promise.race([client.unsafe('show transaction_read_only'), timeout.promise]);
    if (role === 'read-write' && row?.transaction_read_only !== 'off') throw noResponse();
  } finally {
    clearTimeout(timer);
  }
}

/** The values of `sslmode` with which the driver accepts any certificate, or uses no TLS. */
const UNVERIFIED = new Set([null, 'disable', 'allow', 'prefer', 'require']);

function isVerified(url: string): boolean {
  return !UNVERIFIED.has(new URLSearchParams(url.split('?')[1]).get('sslmode'));
}

type Address = { host: string; port: number };

const AUTHORITY = /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]+)/i;
const ADDRESS = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/;
const PORT = 5432;

/**
 * Empty if the URL has one host name or none. For an IP address the driver names no host to Node, which then expects a
 * certificate for `localhost`; and it cannot parse IPv6.
 */
function addressesIn(url: string): Address[] {
  const parts = AUTHORITY.exec(url)?.[1]?.split(',') ?? [];
  const addresses = parts.map((part) => {
    const [, ipv6, name, port] = ADDRESS.exec(part) ?? [];
    return { host: ipv6 ?? name ?? part, port: Number(port ?? PORT) };
  });
  return addresses.length === 1 && isIP(addresses[0]?.host ?? '') === 0 ? [] : addresses;
}
