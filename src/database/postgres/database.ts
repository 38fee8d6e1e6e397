import type postgres from 'postgres';
import { noAnswer, openConnectionPool, type PoolOptions, STATEMENT_TIMEOUT_MS } from './connection-pool.ts';
import { CANCELLED, CONFLICTS, codeOf, explained, isLost, isOfHost, isSilence } from './faults.ts';
import { arrayLiteral, type Param, type Scalar } from './parameters.ts';

/** Where statements run: the pool, or the one connection of a transaction. */
export type Session = {
  /** The rows as arrays. An abort cancels the statement on the server and throws the signal's reason. */
  query<Row extends unknown[]>(sql: string, params?: readonly Param[], signal?: AbortSignal): Promise<Row[]>;
  /** How many rows were changed. */
  run(sql: string, params?: readonly Param[]): Promise<number>;
};

export type Transaction = Session & {
  /** `copy … from stdin` with this text. */
  copyIn(sql: string, text: string): Promise<void>;
};

export type Database = Session & {
  /** All of it or nothing. `work` runs again when the server gave it up in favour of another transaction. */
  transaction<T>(work: (session: Transaction) => Promise<T>): Promise<T>;
  /** Runs a file of statements, in a transaction of its own, without a limit of time. */
  script<T>(work: (session: Session & { exec(sql: string): Promise<void> }) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

export type DatabaseOptions = PoolOptions & {
  /** How long a statement of its own may take, and a transaction may wait for its connection. */
  waitMs?: number;
};

const WAIT_MS = 5_000;

/** The server ends a statement in time; where it does not, it has gone. */
const TRANSACTION_WAIT_MS = STATEMENT_TIMEOUT_MS + WAIT_MS;

/**
 * A batch grows tables within seconds from nothing to a size for which a plan that was kept is wrong, and planning is
 * little beside it.
 */
const FRESH_PLANS = 'set local plan_cache_mode = force_custom_plan';

/** A transaction that lost against another is tried so many times in all. */
const ATTEMPTS = 5;

type Connection = postgres.Sql | postgres.TransactionSql;

/** A pool of connections to one server, or to the right one of several. Nothing is connected before the first statement. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const { waitMs = WAIT_MS } = options;
  const hosts = openConnectionPool(url, options);

  async function onPool<T>(work: (pool: postgres.Sql) => Promise<T>): Promise<T> {
    const pool = await hosts.pool();
    try {
      return await work(pool);
    } catch (error) {
      if (isSilence(error)) hosts.leave(pool);
      else if (isOfHost(error)) hosts.doubt(pool);
      throw error;
    }
  }

  /** A cancel request names a connection, not a statement: it may come late and meet the next one, which is asked again. */
  function once<Result>(ask: (connection: Connection) => Pending<Result>, signal?: AbortSignal): Promise<Result> {
    const attempt = () => onPool((pool) => answered(ask(pool), waitMs, signal));
    return attempt().catch((error) => {
      if (codeOf(error) !== CANCELLED) throw error;
      return attempt();
    });
  }

  return {
    query: <Row extends unknown[]>(text: string, params: readonly Param[] = [], signal?: AbortSignal) =>
      once((sql) => prepared(sql, text, params).values(), signal) as Promise<unknown> as Promise<Row[]>,

    run: async (text, params = []) => (await once((sql) => prepared(sql, text, params))).count,

    async transaction(work) {
      const givesUpAt = Date.now() + STATEMENT_TIMEOUT_MS;
      for (let attempt = 1; ; attempt++) {
        try {
          return await onPool((pool) =>
            begin(pool, waitMs, async (sql) => {
              const planned = sql.unsafe(FRESH_PLANS).execute();
              const [result] = await Promise.all([work(sessionOn(sql, TRANSACTION_WAIT_MS)), planned]);
              return result;
            }),
          );
        } catch (error) {
          if (attempt === ATTEMPTS || Date.now() > givesUpAt || !CONFLICTS.has(codeOf(error))) throw error;
        }
      }
    },

    script: (work) =>
      onPool((pool) =>
        begin(pool, waitMs, async (sql) => {
          await sql.unsafe('set local statement_timeout = 0');
          const exec = async (text: string) => void (await sql.unsafe(text).simple());
          return work({ ...sessionOn(sql), exec });
        }),
      ),

    close: hosts.close,
  };
}

/** Gives up when there is no connection in time (one that is had later is given back unused), or the server has gone. */
async function begin<T>(
  pool: postgres.Sql,
  waitMs: number,
  work: (connection: postgres.TransactionSql) => Promise<T>,
): Promise<T> {
  const failed = Promise.withResolvers<never>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    failed.reject(noAnswer());
  }, waitMs);
  const done = pool.begin(async (connection) => {
    clearTimeout(timer);
    if (isLate) throw noAnswer();
    try {
      return await work(connection);
    } catch (error) {
      if (!isLost(error)) throw error;
      // The driver would send a rollback: never answered on a silent connection, and on a closed one the end of the
      // process ("Cannot read properties of null"). So it never hears of the error.
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

function sessionOn(sql: Connection, waitMs?: number): Transaction {
  return {
    query: <Row extends unknown[]>(text: string, params: readonly Param[] = []) =>
      answered(prepared(sql, text, params).values(), waitMs) as Promise<unknown> as Promise<Row[]>,
    run: async (text, params = []) => (await answered(prepared(sql, text, params), waitMs)).count,
    async copyIn(text, rows) {
      try {
        const stream = await sql.unsafe(text).writable();
        await new Promise<void>((resolve, reject) => {
          stream.on('error', reject);
          stream.on('finish', resolve);
          stream.end(rows);
        });
      } catch (error) {
        throw explained(error);
      }
    },
  };
}

function prepared(sql: Connection, text: string, params: readonly Param[]) {
  const encoded = params.map((param) => (Array.isArray(param) ? arrayLiteral(param) : (param as Scalar)));
  return sql.unsafe(text, encoded, { prepare: true });
}

/** A statement as the driver has it: `state` once it was sent, `active` while it is the one being answered. */
type Pending<Result> = Promise<Result> & {
  state?: unknown;
  active?: boolean;
  canceller?: ((pending: unknown) => Promise<unknown>) | null;
};

function answered<Result>(pending: Pending<Result>, waitMs?: number, signal?: AbortSignal): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const giveUp = (reason: unknown) => {
      cancel(pending);
      settle(() => reject(reason));
    };
    const abort = () => giveUp(signal?.reason);
    const timer = waitMs === undefined ? undefined : setTimeout(() => giveUp(noAnswer()), waitMs);
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
 * Not by the driver's own `cancel`: it drops the promise of its request, so that a server that has gone would end the
 * process. And not where others of the connection are still before it: the driver would take the answer to it for the
 * answer to the next.
 */
function cancel(pending: Pending<unknown>): void {
  pending.catch(() => {});
  if (pending.state && !pending.active) return;
  pending.canceller?.(pending).catch(() => {});
  pending.canceller = null;
}
