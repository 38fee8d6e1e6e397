import type { CheckPassword } from '../accounts/login.ts';
import { AppError, type ErrorCode } from '../core/errors.ts';
import { windowIndex } from '../core/quota.ts';
import type { Part } from '../database/migrations.ts';
import type { ListCopies } from '../exports/copies.ts';
import { isOutage } from '../health/outages.ts';
import type { UploadChoices } from '../ingest/uploads.ts';
import type { CountsPort } from '../limits/shared-counts.ts';
import type { Counted } from '../portal/totals.ts';
import type { CallTask } from '../threads/calls.ts';
import type { ServerAudit } from './audit.ts';
import type { Owner } from './owner.ts';
import type { WriteFor } from './sqlite-stores.ts';

/** What another thread can call, by message. */
export type OwnerTasks = CountsPort & {
  checkPassword: CheckPassword;
  ready(): Promise<void>;
  reportFailure(code: ErrorCode, message: string): void;
  aboveSoftLimit: ServerAudit['onAboveSoftLimit'];
  totals(): Counted | Promise<Counted>;
  /** The bytes are fetched with the task `nextUploadedBytes` of the thread that received the file. */
  receiveUpload(upload: number, choices: UploadChoices): Promise<number>;
  wakeFeeds(): void;
  /** The bytes are in shared memory. */
  listCopy: ListCopies['copy'];
  keptListCopy: ListCopies['keptCopy'];
  knownLists: ListCopies['known'];
  explainEntry: ListCopies['explain'];
  write: WriteFor;
};

type Write = (name: string, args: unknown[]) => Promise<unknown>;

type OwnerTaskOptions = {
  /** The writes of the embedded databases; absent for PostgreSQL. */
  writes: Partial<Record<Part, Write | undefined>>;
  nextUploadedBytes(upload: number): Promise<Uint8Array | null>;
};

export function createOwnerTasks(owner: Owner, { writes, nextUploadedBytes }: OwnerTaskOptions): OwnerTasks {
  return {
    ...owner.counts,
    checkPassword: owner.checkPassword,
    ready: owner.ready,
    reportFailure: (code, message) => void owner.reportFailure(new AppError(code, message)),
    aboveSoftLimit: owner.onAboveSoftLimit,
    totals: owner.totals,
    receiveUpload: (upload, choices) =>
      owner.receiveUpload(
        bytesOf(() => nextUploadedBytes(upload)),
        choices,
      ),
    wakeFeeds: owner.wakeFeeds,
    listCopy: owner.lists.copy,
    keptListCopy: owner.lists.keptCopy,
    knownLists: owner.lists.known,
    explainEntry: owner.lists.explain,
    write(part, name, args) {
      const write = writes[part];
      if (write === undefined) throw new Error(`no other thread writes to the database ${part}`);
      return write(name, args);
    },
  };
}

async function* bytesOf(next: () => Promise<Uint8Array | null>): AsyncGenerator<Buffer> {
  for (let bytes = await next(); bytes !== null; bytes = await next()) {
    yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}

/** Files that this thread receives, by number. */
type ReceivedUploads = {
  add(bytes: AsyncIterable<Buffer>): { upload: number; end(): Promise<void> };
  next(upload: number): Promise<Uint8Array | null>;
};

export function createReceivedUploads(): ReceivedUploads {
  const iterators = new Map<number, AsyncIterator<Buffer>>();
  let last = 0;
  return {
    add(bytes) {
      const upload = ++last;
      const iterator = bytes[Symbol.asyncIterator]();
      iterators.set(upload, iterator);
      return {
        upload,
        async end() {
          iterators.delete(upload);
          await iterator.return?.();
        },
      };
    },
    async next(upload) {
      const result = await iterators.get(upload)?.next();
      return result === undefined || result.done ? null : result.value;
    },
  };
}

/** The owner as another thread sees it. */
export function createRemoteOwner(call: CallTask<OwnerTasks>, uploads: ReceivedUploads): Owner {
  /** For calls without a result. If the first thread has ended, this one ends too. */
  const send: CallTask<OwnerTasks> = (name, ...args) => call(name, ...args).catch(() => undefined as never);
  const reported = new Map<string, number>();
  return {
    counts: {
      place: (sub) => call('place', sub),
      loaded: (...account) => call('loaded', ...account),
      unload: () => void send('unload'),
      add: (...count) => void send('add', ...count),
      flush: () => call('flush'),
    },
    checkPassword: (credentials) => call('checkPassword', credentials),
    ready: () => call('ready'),
    reportFailure(error) {
      if (!isOutage(error)) return false;
      void send('reportFailure', error.code, error.message);
      return true;
    },
    onAboveSoftLimit(state) {
      const month = windowIndex('month', state.ts);
      if (reported.get(state.sub) === month) return; // every query above the limit calls this
      reported.set(state.sub, month);
      void send('aboveSoftLimit', state);
    },
    totals: () => call('totals'),
    async receiveUpload(bytes, choices) {
      const { upload, end } = uploads.add(bytes);
      try {
        return await call('receiveUpload', upload, choices);
      } finally {
        await end();
      }
    },
    wakeFeeds: () => void send('wakeFeeds'),
    lists: {
      copy: (...wanted) => call('listCopy', ...wanted),
      keptCopy: (...wanted) => call('keptListCopy', ...wanted),
      known: () => call('knownLists'),
      explain: (...asked) => call('explainEntry', ...asked),
    },
  };
}
