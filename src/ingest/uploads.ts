import { AppError } from '../core/errors.ts';
import { chooseEvidence, type EvidenceValues, jsonName, requireFormat, requireSourceName } from './evidence-choices.ts';
import type { FeedImportOptions } from './feeds/feed-import.ts';
import { runImport } from './import.ts';
import { defaultFeedName } from './import-sources.ts';
import { createDnsResolver, resolvingFormat } from './resolve.ts';
import { sourceOf } from './sources/source.ts';

type UploadOptions = Pick<
  FeedImportOptions,
  'store' | 'control' | 'networks' | 'families' | 'resolvesHosts' | 'allowReserved' | 'limits' | 'now'
> & {
  /** Called with an error that is not recorded as the error of the import. */
  onFailure?: (error: unknown) => void;
};

export type UploadChoices = EvidenceValues & {
  format: string;
  /** The name of the file, as the user gave it. */
  source: string;
  feed: string | null;
  isComplete: boolean;
  isForced: boolean;
};

/** Imports of files that clients send. */
export type Uploads = {
  /**
   * Imports a file while it arrives. Returns the id of the import when all bytes are read, or when it ended early; what
   * is read is still applied then. A failure after the start is recorded with the import, and not thrown.
   */
  receive(bytes: AsyncIterable<Buffer>, choices: UploadChoices): Promise<number>;
  /** Stops the import after its current batch, and waits for it. */
  close(): Promise<void>;
};

/** One at a time: parsing takes time of the thread that answers requests, and all imports share the one writer. */
export function createUploads(options: UploadOptions): Uploads {
  const stop = new AbortController();
  let current: Promise<void> | null = null;

  async function start(bytes: AsyncIterable<Buffer>, choices: UploadChoices): Promise<number> {
    const started = Promise.withResolvers<number>();
    const read = Promise.withResolvers<void>();
    const given = importOptionsOf(choices, options);
    const source = sourceOf(choices.source, untilRead(bytes, read.resolve), null, () => null, options.limits);
    current = runImport({ ...given, source, signal: stop.signal, onStarted: started.resolve })
      .then(
        () => {},
        (error) => {
          started.reject(error); // no effect if it has started
          if (!(error instanceof AppError)) options.onFailure?.(error);
        },
      )
      .finally(() => {
        current = null;
        read.resolve();
      });
    const id = await started.promise;
    await read.promise;
    return id;
  }

  return {
    async receive(bytes, choices) {
      if (current === null) return start(bytes, choices);
      const message = 'Another uploaded file is being imported: try again when that import has ended';
      throw new AppError('limit_reached', message, { retryAfterSeconds: RETRY_SECONDS });
    },
    async close() {
      stop.abort();
      await current;
    },
  };
}

/** Most uploads take a few seconds. */
const RETRY_SECONDS = 5;

async function* untilRead(bytes: AsyncIterable<Buffer>, onRead: () => void): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } finally {
    onRead();
  }
}

/** Throws before anything is read or recorded. */
function importOptionsOf(choices: UploadChoices, options: UploadOptions) {
  const { store, control, networks, families = [], resolvesHosts, allowReserved, limits, now } = options;
  const format = requireFormat(choices.format, jsonName);
  const evidence = chooseEvidence(format, choices, {}, jsonName);
  const feed = choices.feed ?? defaultFeedName(format.name, evidence.listKind, choices.source);
  return {
    format: resolvesHosts ? resolvingFormat(format, createDnsResolver()) : format,
    into: { store, control },
    feed: requireSourceName('"feed"', feed),
    isUnnamed: choices.feed === null,
    ...evidence,
    lookupAsn: networks.asnOf,
    families,
    allowReserved,
    limits,
    nowTs: now,
    isComplete: choices.isComplete,
    isForced: choices.isForced,
    adviseFormat: (name: string) => `Try the format ${name}.`,
  };
}
