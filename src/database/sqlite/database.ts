import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { AppError } from '../../core/errors.ts';
import { createReadTransaction } from './read-transaction.ts';

export type Params = SQLInputValue[] | [Record<string, SQLInputValue>];

/** A prepared statement whose rows are arrays: half the cost of objects on the hot path. */
export type Query<Row extends unknown[]> = {
  get(...params: Params): Row | undefined;
  all(...params: Params): Row[];
  /** How many rows were changed. */
  run(...params: Params): number;
  /** Adds one row and gives its id: `returning` would go through a table of its own. */
  insert(...params: Params): number;
};

export type Database = {
  prepare<Row extends unknown[] = never>(sql: string): Query<Row>;
  exec(sql: string): void;
  /** Takes the write lock at once, so that no statement inside can fail for want of it. */
  transaction<T>(work: () => T): T;
  /** Copies the whole database, as it is now, page by page to a file. `onProgress` hears the share that is done. */
  copyTo(path: string, onProgress: (share: number) => void): Promise<void>;
  close(): void;
};

/** Sees one state of the database in all that is read in one go: see `turn-snapshot.ts`. */
export type Reader = Database & {
  /** The next statement sees what was written by now. */
  renew(): void;
};

/** How long a writer waits for another process's transaction; imports keep theirs below half a second. */
const WRITE_WAIT_MS = 10_000;

/**
 * So much of the file is read through a mapping, at 22 µs a look-up instead of 31; SQLite allows no more than 2 GiB. What
 * lies behind is read as ever. Only by readers: a writer would have to write through the mapping's back.
 */
const MAPPED_BYTES = 2 ** 31 - 2 ** 16;

/** Pages of 4 KiB copied in one go, on another thread: 8 MB. Measured on 1 GB: 2.0 s. */
const COPY_PAGES = 2_000;

export function openWriter(path: string): Database {
  const database = databaseOf(connect(path, false));
  // NORMAL: a killed process loses nothing; a power cut may lose the newest transactions, never the file.
  database.exec('pragma journal_mode = wal; pragma synchronous = normal');
  return database;
}

/** For work that is done at once, on the calling thread. */
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
  const { begin, end } = createReadTransaction(db);
  const database = databaseOf(db, begin);
  database.exec(`pragma mmap_size = ${MAPPED_BYTES}`);
  return {
    ...database,
    renew: end,
    close() {
      end();
      database.close();
    },
  };
}

/** For reading while nobody else can open the database at all; null when somebody has it open. */
export function openAlone(path: string): Database | null {
  const database = databaseOf(connect(path, false, 0));
  try {
    // Before the first read, so that the log is had exclusively too (https://www.sqlite.org/wal.html, "without shared memory").
    database.exec('pragma locking_mode = exclusive; begin immediate; commit');
    return database;
  } catch (error) {
    database.close();
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** For reading what is there now, whatever others write meanwhile. The log is not folded back before it is closed. */
export function openSnapshot(path: string): Database {
  const database = databaseOf(connect(path, true));
  database.exec('begin; select count(*) from sqlite_schema');
  return database;
}

function connect(path: string, readOnly: boolean, timeout = WRITE_WAIT_MS): DatabaseSync {
  return guarded(() => new DatabaseSync(path, { readOnly, timeout }));
}

/** `before` is called before every prepared statement that is run. */
function databaseOf(db: DatabaseSync, before: () => void = () => {}): Database {
  const exec = (sql: string) => guarded(() => db.exec(sql));
  return {
    exec,
    prepare: <Row extends unknown[]>(sql: string) =>
      query<Row>(
        guarded(() => db.prepare(sql)),
        before,
      ),
    transaction(work) {
      exec('begin immediate');
      try {
        const result = work();
        exec('commit');
        return result;
      } catch (error) {
        if (db.isTransaction) exec('rollback');
        throw error;
      }
    },
    async copyTo(to, onProgress) {
      // Inside a read transaction the copy sees one state. Without it SQLite begins again whenever another process has
      // written: 134 times in a minute, and no end, beside a write every 5 ms; with it 1 GB took 2 s.
      exec('begin; select count(*) from sqlite_schema');
      try {
        const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) =>
          onProgress(1 - remainingPages / totalPages);
        await backup(db, to, { rate: COPY_PAGES, progress });
      } catch (error) {
        throw explained(error);
      } finally {
        exec('rollback');
      }
    },
    close: () => db.close(),
  };
}

/** No function inside a function for each call: this is the hot path. */
function query<Row extends unknown[]>(statement: StatementSync, before: () => void): Query<Row> {
  statement.setReturnArrays(true);
  // The driver types rows as objects whatever setReturnArrays says.
  return {
    get(...params) {
      try {
        before();
        return statement.get(...(params as SQLInputValue[])) as unknown as Row | undefined;
      } catch (error) {
        throw explained(error);
      }
    },
    all(...params) {
      try {
        before();
        return statement.all(...(params as SQLInputValue[])) as unknown as Row[];
      } catch (error) {
        throw explained(error);
      }
    },
    run(...params) {
      try {
        before();
        return Number(statement.run(...(params as SQLInputValue[])).changes);
      } catch (error) {
        throw explained(error);
      }
    },
    insert(...params) {
      try {
        before();
        return Number(statement.run(...(params as SQLInputValue[])).lastInsertRowid);
      } catch (error) {
        throw explained(error);
      }
    },
  };
}

/**
 * Primary result codes (https://www.sqlite.org/rescode.html) that say something about the file, the disk or other
 * processes: PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOLFS, AUTH, NOTADB.
 * All others are mistakes of ours.
 */
const UNAVAILABLE_CODES = new Set([3, 5, 6, 7, 8, 10, 11, 13, 14, 15, 22, 23, 26]);

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw explained(error);
  }
}

function explained(error: unknown): unknown {
  const errcode = (error as { errcode?: number }).errcode;
  if (errcode === undefined || !UNAVAILABLE_CODES.has(errcode & 0xff)) return error;
  return new AppError('unavailable', `The database does not answer: ${(error as Error).message}`, { cause: error });
}
