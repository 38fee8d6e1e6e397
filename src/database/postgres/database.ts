import type postgres from 'postgres';
import { arrayLiteral, type Scalar } from './array-literal.ts';
import type { ClientCounts } from './clients.ts';
import { openConnectionPool, type PoolOptions, STATEMENT_TIMEOUT_MS } from './connection-pool.ts';
import {
  CANCELLED,
  CONFLICTS,
  codeOf,
  explained,
  isConnectionLost,
  isHostFailure,
  isTimeout,
  noResponse,
} from './faults.ts';
import type { Param } from './parameters.ts';

/** Where statements run: the pool, or the one connection of a transaction. */
export type Session = {
  /** Returns rows as arrays. An abort cancels the statement on the server and throws the signal's reason. */
  query<Row extends unknown[]>(sql: string, params?: readonly Param[], signal?: AbortSignal): Promise<Row[]>;
  /** Returns the number of changed rows. */
  run(sql: string, params?: readonly Param[]): Promise<number>;
};

/** Runs reads: on the primary, or on a replica (`replicas.ts`). */
export type Query = Session['query'];

export type Database = Session & {
  /** Runs `work` in a transaction, again if the server aborts it because of a conflict with another transaction. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Runs a file of statements in a transaction without a statement timeout. */
  script<T>(work: (session: Session & { exec(sql: string): Promise<void> }) => Promise<T>): Promise<T>;
  /** Connections in use and idle, and how many statements and transactions wait for one. */
  countConnections(): ClientCounts;
  close(): Promise<void>;
};

type DatabaseOptions = PoolOptions & {
  /** How long a statement outside a transaction may take, and how long a transaction may wait for a connection. */
  waitMs?: number;
  /** How long a statement in a transaction may take, and its commit. */
  transactionWaitMs?: number;
};

const WAIT_MS = 5_000;

/** The server cancels a statement after its timeout. If it does not, it is unresponsive. */
const TRANSACTION_WAIT_MS = STATEMENT_TIMEOUT_MS + WAIT_MS;

/**
 * An import grows an empty table within seconds to a size for which a cached plan is wrong. Planning is cheap compared to
 * a batch.
 */
const FRESH_PLANS = 'set local plan_cache_mode = force_custom_plan';

/** How often a transaction is tried in all if it conflicts with others. */
const ATTEMPTS = 10;

type Connection = postgres.Sql | postgres.TransactionSql;

/** A database over a connection pool. A connection is opened when a statement needs one more. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const { waitMs = WAIT_MS, transactionWaitMs = TRANSACTION_WAIT_MS } = options;
  const connections = openConnectionPool(url, options);

  async function onClient<T>(work: (client: postgres.Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const clients = await connections.clients();
    let client: postgres.Sql | null = null;
    let isUseless = false;
    try {
      client = await clients.acquire(waitMs, signal);
      return await work(client);
    } catch (error) {
      isUseless = isHostFailure(error);
      if (isTimeout(error)) connections.discard(clients);
      else if (isUseless) connections.reportFailure(clients);
      throw error;
    } finally {
      if (client !== null && isUseless) clients.replace(client);
      else if (client !== null) clients.release(client);
    }
  }

  /** A cancel request identifies a connection, not a statement. A late one cancels the next statement, which is retried. */
  function retryCancelled<Result>(
    start: (connection: Connection) => Pending<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const attempt = () => onClient((client) => settled(start(client), waitMs, signal), signal);
    return attempt().catch((error) => {
      if (codeOf(error) !== CANCELLED) throw error;
      return attempt();
    });
  }

  return {
    query: async <Row extends unknown[]>(text: string, params: readonly Param[] = [], signal?: AbortSignal) =>
      withoutHoles((await retryCancelled((sql) => prepared(sql, text, params).values(), signal)) as unknown as Row[]),

    run: async (text, params = []) => (await retryCancelled((sql) => prepared(sql, text, params))).count,

    async transaction(work) {
      const deadlineMs = Date.now() + STATEMENT_TIMEOUT_MS;
      for (let attempt = 1; ; attempt++) {
        try {
          return await onClient((client) =>
            begin(client, { waitMs, commitWaitMs: transactionWaitMs }, async (sql) => {
              const session = sessionOn(sql, transactionWaitMs);
              const [, result] = await Promise.all([session.run(FRESH_PLANS), work(session)]);
              return result;
            }),
          );
        } catch (error) {
          if (attempt === ATTEMPTS || Date.now() > deadlineMs || !CONFLICTS.has(codeOf(error))) throw error;
        }
      }
    },

    script: (work) =>
      onClient((client) =>
        begin(client, { waitMs }, async (sql) => {
          const session = sessionOn(sql);
          await session.run('set local statement_timeout = 0');
          const exec = async (text: string) => void (await settled(sql.unsafe(text).simple()));
          return work({ ...session, exec });
        }),
      ),

    countConnections: connections.count,
    close: connections.close,
  };
}

/**
 * Fails if there is no connection in time (a later one is not used), if the connection is lost, or if the commit has no
 * response in time: then nobody knows whether it was done, as after a lost connection.
 */
async function begin<T>(
  client: postgres.Sql,
  { waitMs, commitWaitMs }: { waitMs: number; commitWaitMs?: number },
  work: (connection: postgres.TransactionSql) => Promise<T>,
): Promise<T> {
  const failed = Promise.withResolvers<never>();
  let isLate = false;
  let timer = setTimeout(() => {
    isLate = true;
    failed.reject(noResponse());
  }, waitMs);
  const done = client.begin(async (connection) => {
    clearTimeout(timer);
    if (isLate) throw noResponse();
    try {
      const result = await work(connection);
      if (commitWaitMs !== undefined) timer = setTimeout(() => failed.reject(noResponse()), commitWaitMs);
      return result;
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
      // The error is hidden from the driver, which would send a rollback. On an unresponsive connection it would wait
      // without end, and on a closed one it would end the process ("Cannot read properties of null").
      failed.reject(error);
      return new Promise<never>(() => {});
    }
  });
  try {
    return (await Promise.race([done, failed.promise])) as T;
  } catch (error) {
    throw explained(error);
  } finally {
    clearTimeout(timer);
  }
}

function sessionOn(sql: Connection, waitMs?: number): Session {
  return {
    query: <Row extends unknown[]>(text: string, params: readonly Param[] = []) =>
      settled(prepared(sql, text, params).values(), waitMs) as Promise<unknown> as Promise<Row[]>,
    run: async (text, params = []) => (await settled(prepared(sql, text, params), waitMs)).count,
  };
}

/**
 * If a statement fails or is cancelled after it has returned rows, the driver (3.4.9) goes on counting them: in the next result
 * of the connection, as many places are empty before the first row. A transaction begins with a statement without rows.
 */
function withoutHoles<Row>(rows: Row[]): Row[] {
  return rows.length > 0 && rows[0] === undefined ? rows.filter(() => true) : rows;
}

function prepared(sql: Connection, text: string, params: readonly Param[]) {
  const encoded = params.map((param) => (Array.isArray(param) ? arrayLiteral(param) : (param as Scalar)));
  return sql.unsafe(text, encoded, { prepare: true });
}

/** A statement of the driver: it has a `state` after it was sent, and is `active` while the server executes it. */
type Pending<Result> = Promise<Result> & {
  state?: unknown;
  active?: boolean;
  canceller?: ((pending: unknown) => Promise<unknown>) | null;
};

/** Waits for a statement, but no longer than `waitMs` and not after an abort. */
function settled<Result>(pending: Pending<Result>, waitMs?: number, signal?: AbortSignal): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const giveUp = (reason: unknown) => {
      cancel(pending);
      settle(() => reject(reason));
    };
    const abort = () => giveUp(signal?.reason);
    // Unreferenced: the driver never settles some statements of a transaction whose connection is lost. A command that has
    // ended would wait for their timers.
    const timer = waitMs === undefined ? undefined : setTimeout(() => giveUp(noResponse()), waitMs).unref();
    const settle = (how: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      how();
    };
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    pending.then(
      (result) => settle(() => resolve(result)),
      (error) => settle(() => reject(explained(error))),
    );
  });
}

/**
 * Does not use the driver's own `cancel`, which ignores the promise of its request: an unreachable server would end the
 * process. A statement that waits behind others on its connection is not cancelled, because the driver would assign its
 * response to the next statement.
 */
function cancel(pending: Pending<unknown>): void {
  pending.catch(() => {});
  if (pending.state && !pending.active) return;
  pending.canceller?.(pending).catch(() => {});
  pending.canceller = null;
}
