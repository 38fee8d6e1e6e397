import postgres from 'postgres';
import { AppError } from '../../core/errors.ts';

/** What a statement may be given: arrays go to `unnest($1::bigint[])`. */
export type Scalar = string | number | boolean | null | Uint8Array;
export type Param = Scalar | readonly Scalar[];

/** Where statements run: the pool, or the one connection of a transaction. */
export type Session = {
  /** The rows as arrays. An abort cancels the statement on the server and throws the signal's reason. */
  query<Row extends unknown[]>(sql: string, params?: readonly Param[], signal?: AbortSignal): Promise<Row[]>;
  /** How many rows were changed. */
  run(sql: string, params?: readonly Param[]): Promise<number>;
};

export type Database = Session & {
  /** All of it or nothing. `work` runs again when the server gave it up in favour of another transaction. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Runs a file of statements, in a transaction of its own, without a limit of time. */
  script<T>(work: (session: Session & { exec(sql: string): Promise<void> }) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

export type DatabaseOptions = {
  /** Connections that may be open at once. */
  connections: number;
  /** `read-write`: of several hosts, the one that accepts writes. `any`: whichever answers. */
  role: 'read-write' | 'any';
};

const CONNECT_TIMEOUT_SECONDS = 5;

/**
 * How long a statement of its own may take, and a transaction may wait for its connection. Where none of several hosts
 * accepts writes, the driver tries them again and again without an end.
 */
const WAIT_MS = 5_000;

/** No statement of ours examines more than a page or a batch; one that runs this long is stuck behind another. */
const STATEMENT_TIMEOUT_MS = 15_000;

/** A transaction that lost against another is tried so many times in all. */
const ATTEMPTS = 5;

/** A pool of connections to one server, or to the right one of several. Nothing is connected before the first statement. */
export function openDatabase(url: string, { connections, role }: DatabaseOptions): Database {
  const sql = postgres(url, {
    max: connections,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    connection: { application_name: 'urlwarden', statement_timeout: STATEMENT_TIMEOUT_MS },
    ...(role === 'any' ? {} : { target_session_attrs: role }),
    // Sums, ids and seconds stay far below 2^53.
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    onnotice: () => {},
  });

  return {
    ...sessionOn(sql, WAIT_MS),
    async transaction(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await begin(sql, (connection) => work(sessionOn(connection)));
        } catch (error) {
          if (attempt === ATTEMPTS || !CONFLICTS.has(codeOf(error))) throw explained(error);
        }
      }
    },
    async script(work) {
      try {
        return await begin(sql, async (connection) => {
          await connection.unsafe('set local statement_timeout = 0');
          const exec = async (text: string) => void (await connection.unsafe(text).simple());
          return work({ ...sessionOn(connection), exec });
        });
      } catch (error) {
        throw explained(error);
      }
    },
    close: () => sql.end({ timeout: CONNECT_TIMEOUT_SECONDS }),
  };
}

/** Gives up when there is no connection in time; one that is had later is given back unused. */
async function begin<T>(sql: postgres.Sql, work: (connection: postgres.TransactionSql) => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    late.reject(noAnswer());
  }, WAIT_MS);
  const done = sql.begin((connection) => {
    clearTimeout(timer);
    if (isLate) throw noAnswer();
    return work(connection);
  });
  try {
    return (await Promise.race([done, late.promise])) as T;
  } finally {
    clearTimeout(timer);
  }
}

type Connection = postgres.Sql | postgres.TransactionSql;

function sessionOn(sql: Connection, waitMs?: number): Session {
  /** Cancelled when the caller aborts, and after `waitMs`. */
  async function settled<Result>(pending: Promise<Result> & { cancel(): void }, signal?: AbortSignal) {
    let isLate = false;
    const cancel = () => pending.cancel();
    const giveUp = () => {
      isLate = true;
      cancel();
    };
    const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs);
    signal?.addEventListener('abort', cancel);
    try {
      return await pending;
    } catch (error) {
      signal?.throwIfAborted();
      throw isLate ? noAnswer(error) : explained(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  }

  return {
    async query<Row extends unknown[]>(text: string, params: readonly Param[] = [], signal?: AbortSignal) {
      signal?.throwIfAborted();
      return (await settled(prepared(sql, text, params).values(), signal)) as unknown as Row[];
    },
    async run(text, params = []) {
      return (await settled(prepared(sql, text, params))).count;
    },
  };
}

function prepared(sql: Connection, text: string, params: readonly Param[]) {
  return sql.unsafe(text, params.map(encoded), { prepare: true });
}

function noAnswer(cause?: unknown): AppError {
  return new AppError('unavailable', 'PostgreSQL does not answer', { cause });
}

/** The driver would take the type of an array from its first element; as text the server tells it from the statement. */
function encoded(param: Param): Scalar {
  return Array.isArray(param) ? `{${param.map(element).join(',')}}` : (param as Scalar);
}

function element(value: Scalar): string {
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  return typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value);
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html: serialization failure, deadlock. */
const CONFLICTS = new Set(['40001', '40P01']);

/**
 * Classes and codes that say something about the server, its disk, the network or other sessions: connection (08),
 * refused sign-in (28), unknown database (3D), resources (53), stopped or cancelled by the server (57), its own
 * errors (58, XX); read-only (25006: a primary that became a standby), a lock not had in time (55P03). All others are
 * mistakes of ours.
 */
const UNAVAILABLE = /^(?:08|28|3D|53|57|58|XX|25006$|55P03$)/;

function codeOf(error: unknown): string {
  const cause = error instanceof AppError ? error.cause : error;
  return String((cause as { code?: unknown } | null)?.code ?? '');
}

/** A fault of the server or the way to it becomes `unavailable`; what is ours stays as it is. */
function explained(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const isOfServer = error instanceof postgres.PostgresError;
  if (isOfServer && !UNAVAILABLE.test(error.code)) return error;
  if (!isOfServer && codeOf(error) === '') return error;
  return new AppError('unavailable', `PostgreSQL: ${(error as Error).message}`, { cause: error });
}
