import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { AppError } from '../../core/errors.ts';
import { hasSpaceForBatches, isSpaceScarce, requireSpaceForBatch } from './disk-space.ts';
import { damaged, explained, isSpaceFault } from './faults.ts';
import { createReadTransaction } from './read-transaction.ts';

export type Params = SQLInputValue[] | [Record<string, SQLInputValue>];

/** A prepared statement that returns rows as arrays, at half the cost of objects. */
export type Statement<Row extends unknown[]> = {
  get(...params: Params): Row | undefined;
  /** For a row that another row refers to: without it the database is damaged. */
  one(...params: Params): Row;
  all(...params: Params): Row[];
  /** Returns the number of changed rows. */
  run(...params: Params): number;
  /** Inserts one row and returns its id. `returning` would use a temporary table. */
  insert(...params: Params): number;
  /** As `insert`, for a statement that may skip the row: null if it did. */
  insertNew(...params: Params): number | null;
};

export type Database = {
  prepare<Row extends unknown[] = never>(sql: string): Statement<Row>;
  exec(sql: string): void;
  /** Takes the write lock first, so that no statement inside can fail to get it. */
  transaction<T>(work: () => T): T;
  /** A transaction that may write megabytes. It is refused while the disk has too little space left. */
  batch<T>(work: () => T): T;
  /** Whether a transaction may do the work of so many batches. */
  hasSpaceFor(batches: number): boolean;
  /** Copies the current state of the whole database to a file, page by page. `onProgress` receives the finished share. */
  copyTo(path: string, onProgress: (share: number) => void): Promise<void>;
  close(): void;
};

/** All statements in one iteration of the event loop see the same state: see `read-transaction.ts`. */
export type Reader = Database & {
  /** The next statement sees all writes up to now. */
  renew(): void;
  /** Another number after each write of another connection: see `read-transaction.ts`. */
  version(): number;
};

/** How long a writer waits for a transaction of another process. Transactions of imports take less than half a second. */
const WRITE_WAIT_MS = 10_000;

/**
 * Readers map this part of the file into memory: a lookup takes 22 µs instead of 31. SQLite allows at most 2 GiB; the rest
 * is read normally. Only readers use a mapping, because a writer would change the file behind it.
 */
const MAPPED_BYTES = 2 ** 31 - 2 ** 16;

/** Pages of 4 KiB per copy step, on another thread: 8 MB. Measured on 1 GB: 2.0 s. */
const COPY_PAGES = 2_000;

export function openWriter(path: string): Database {
  const database = databaseOf(connect(path, false), path);
  // NORMAL: a killed process loses nothing. A power failure may lose the newest transactions but never corrupts the file.
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  return database;
}

/** For short work on the calling thread. */
export function withWriter(path: string, work: (db: Database) => void): void {
  const db = openWriter(path);
  try {
    work(db);
  } finally {
    db.close();
  }
}

export function openReader(path: string): Reader {
  const db = connect(path, true);
  const { begin, version, end, abandon } = createReadTransaction(db);
  const database = databaseOf(db, path, { before: begin, failed: abandon });
  database.exec(`pragma mmap_size = ${MAPPED_BYTES}`);
  return {
    ...database,
    renew: end,
    version: () => guarded(path, version),
    close() {
      end();
      database.close();
    },
  };
}

/** For reading while no other process can open the database; null if another process has it open. */
export function openExclusive(path: string): Database | null {
  const database = databaseOf(connect(path, false, 0), path);
  try {
    // Before the first read, so that the log is locked too (https://www.sqlite.org/wal.html, "without shared memory").
    database.exec('pragma locking_mode = exclusive; begin immediate; commit');
    return database;
  } catch (error) {
    database.close();
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** For reading the current state while others write. The log is not checkpointed until the snapshot is closed. */
export function openSnapshot(path: string): Database {
  const database = databaseOf(connect(path, true), path);
  database.exec('begin; select count(*) from sqlite_schema');
  return database;
}

/**
 * The first fault in the pages of a database; null if there is none. It reads everything, except whether indexes match
 * their tables: 2.3 s for 1 GB.
 */
export function findDamage(path: string): string | null {
  const database = openReader(path);
  try {
    const [fault] = database.prepare<[string]>('pragma quick_check(1)').one();
    return fault === 'ok' ? null : (fault.split('\n').at(-1) ?? fault);
  } catch (error) {
    if (error instanceof AppError && error.code === 'damaged') return (error.cause as Error).message;
    throw error;
  } finally {
    database.close();
  }
}

function connect(path: string, readOnly: boolean, timeout = WRITE_WAIT_MS): DatabaseSync {
  return guarded(path, () => new DatabaseSync(path, { readOnly, timeout }));
}

/** `before` is called before each execution of a prepared statement, `failed` after one that threw. */
type StatementHooks = { before(): void; failed(): void };

const NO_HOOKS: StatementHooks = { before() {}, failed() {} };

function databaseOf(db: DatabaseSync, path: string, hooks = NO_HOOKS): Database {
  const exec = (sql: string) => guarded(path, () => db.exec(sql));
  /** A write found the disk full, and the log could not be truncated then. */
  let isLogLeft = false;

  function transaction<T>(work: () => T): T {
    exec('begin immediate');
    try {
      const result = work();
      exec('commit');
      return result;
    } catch (error) {
      endTransaction(db);
      if (isSpaceFault(error, path)) isLogLeft = !truncateLog(db);
      throw error;
    }
  }

  return {
    exec,
    prepare: (sql) => statementOf(db, sql, path, hooks),
    transaction,
    batch(work) {
      if (isSpaceScarce(path)) {
        truncateLog(db);
        requireSpaceForBatch(path);
      }
      return transaction(work);
    },
    hasSpaceFor: (batches) => hasSpaceForBatches(path, batches),
    async copyTo(to, onProgress) {
      // In a read transaction the copy sees one state. Without it SQLite restarts the copy after each write of another
      // process: with a write every 5 ms it restarted 134 times in a minute and did not end. With it 1 GB took 2 s.
      exec('begin; select count(*) from sqlite_schema');
      try {
        const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) =>
          onProgress(1 - remainingPages / totalPages);
        await backup(db, to, { rate: COPY_PAGES, progress });
      } catch (error) {
        throw explained(error, isSpaceFault(error, to) ? to : path);
      } finally {
        endTransaction(db);
      }
    },
    close() {
      if (isLogLeft) truncateLog(db);
      db.close();
    },
  };
}

/** An error here would hide the one that is being handled. The transaction is over in any case. */
function endTransaction(db: DatabaseSync): void {
  try {
    if (db.isTransaction) db.exec('rollback');
  } catch {}
}

/**
 * Copies the write-ahead log into the database and gives its space back: SQLite itself keeps the file at its size.
 * Returns whether that succeeded; a reader or a full disk may prevent it.
 */
function truncateLog(db: DatabaseSync): boolean {
  try {
    return db.prepare('pragma wal_checkpoint(truncate)').get()?.busy === 0;
  } catch {
    return false;
  }
}

/**
 * Compiled at its first execution: a command uses few of the statements of the stores that it opens. The try blocks are
 * repeated to avoid a closure per call on the hot path.
 */
function statementOf<Row extends unknown[]>(
  db: DatabaseSync,
  sql: string,
  path: string,
  { before, failed }: StatementHooks,
): Statement<Row> {
  let compiled: StatementSync | null = null;

  function compile(): StatementSync {
    compiled = db.prepare(sql);
    compiled.setReturnArrays(true);
    return compiled;
  }

  function toThrow(error: unknown): unknown {
    failed();
    return explained(error, path);
  }

  // The driver's types are objects even after setReturnArrays.
  function get(...params: Params): Row | undefined {
    try {
      before();
      return (compiled ?? compile()).get(...(params as SQLInputValue[])) as unknown as Row | undefined;
    } catch (error) {
      throw toThrow(error);
    }
  }

  return {
    get,
    one(...params) {
      const row = get(...params);
      if (row === undefined) throw damaged(path, `no row for ${sql}`);
      return row;
    },
    all(...params) {
      try {
        before();
        return (compiled ?? compile()).all(...(params as SQLInputValue[])) as unknown as Row[];
      } catch (error) {
        throw toThrow(error);
      }
    },
    run(...params) {
      try {
        before();
        return Number((compiled ?? compile()).run(...(params as SQLInputValue[])).changes);
      } catch (error) {
        throw toThrow(error);
      }
    },
    insert(...params) {
      try {
        before();
        return Number((compiled ?? compile()).run(...(params as SQLInputValue[])).lastInsertRowid);
      } catch (error) {
        throw toThrow(error);
      }
    },
    insertNew(...params) {
      try {
        before();
        const { changes, lastInsertRowid } = (compiled ?? compile()).run(...(params as SQLInputValue[]));
        return changes === 0 ? null : Number(lastInsertRowid);
      } catch (error) {
        throw toThrow(error);
      }
    },
  };
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explained(error, path);
  }
}
