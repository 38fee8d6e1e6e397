import { createReadStream, fstatSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, badRequest } from '../../core/errors.ts';
import { bounded, counted } from './chunks.ts';
import { INPUT_LIMITS, type InputLimits, type Source } from './format.ts';
import { toTemporaryFile } from './temporary-file.ts';
import { gunzip, unzip, unzipFd } from './unpack.ts';

const CHUNK_BYTES = 64 * 1024;
/** RFC 1952 section 2.3.1, with deflate, the only method. */
const GZIP = Buffer.from([0x1f, 0x8b, 0x08]);
/** PKWARE APPNOTE 4.3.7, and 4.3.16 for an empty archive. */
const ZIP = [Buffer.from('PK\x03\x04'), Buffer.from('PK\x05\x06')];
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const MAGIC_BYTES = 4;
const PLAIN_NAME = /^\w[\w.-]*$/;

const MANIFEST = 'manifest.json';

/** For a folder, opens its `manifest.json` (MISP feed). */
export async function openFile(path: string, limits: InputLimits = INPUT_LIMITS): Promise<Source> {
  const stats = await statOf(path);
  if (stats.isDirectory()) {
    const names = await readdir(path).catch((error) => Promise.reject(toFileError(error, path)));
    if (!names.includes(MANIFEST)) throw noManifest(path);
    return openFile(join(path, MANIFEST), limits);
  }
  return fileSource(path, stats.isFile() ? stats.size : null, limits);
}

export function openStdin(limits: InputLimits = INPUT_LIMITS): Source {
  // Node reads a folder as an empty file.
  if (fstatSync(process.stdin.fd).isDirectory()) throw badRequest('standard input: is a folder; choose a file in it');
  return sourceOf('standard input', process.stdin, null, () => null, limits);
}

/** Creates a source from bytes, packed or plain, that can be read once. `totalBytes` counts packed bytes. */
export function sourceOf(
  name: string,
  packed: AsyncIterable<Buffer>,
  totalBytes: number | null,
  sibling: Source['sibling'],
  limits: InputLimits = INPUT_LIMITS,
): Source {
  return packedSource({ name, packed: () => packed, path: null, totalBytes, sibling }, limits);
}

type Packed = {
  name: string;
  packed(): AsyncIterable<Buffer>;
  /** A file with random access; null for a stream. */
  path: string | null;
  totalBytes: number | null;
  sibling: Source['sibling'];
};

function fileSource(path: string, totalBytes: number | null, limits: InputLimits): Source {
  return packedSource(
    {
      name: path,
      packed: () => readFile(path),
      path: totalBytes === null ? null : path,
      totalBytes,
      // The name comes from the feed and must not lead out of its folder.
      sibling: (name) => (PLAIN_NAME.test(name) ? fileSource(join(dirname(path), name), null, limits) : null),
    },
    limits,
  );
}

function packedSource(input: Packed, limits: InputLimits): Source {
  const { name, totalBytes, sibling } = input;
  const { maxUnpackedBytes: maxBytes } = limits;
  const tooLarge = `${name}: larger than ${maxBytes} bytes when unpacked; if you trust the source, raise --max-unpacked-bytes`;
  let readBytes = 0;
  const onPacked = (bytes: number): void => {
    readBytes += bytes;
  };
  return {
    name,
    sibling,
    bytes: () => withoutBom(bounded(unpacked(input, limits, onPacked), maxBytes, tooLarge)),
    progress: () => ({ readBytes, totalBytes }),
  };
}

/** Detects the packing by the first bytes: a file name may be wrong, and a stream has none. */
async function* unpacked(
  { name, packed, path }: Packed,
  limits: InputLimits,
  onPacked: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const bytes = peekable(packed());
  const all = counted(bytes.all, onPacked);
  try {
    const start = await bytes.start(MAGIC_BYTES);
    if (start.subarray(0, GZIP.length).equals(GZIP)) {
      yield* gunzip(all, name, limits);
    } else if (!ZIP.some((magic) => start.subarray(0, magic.length).equals(magic))) {
      yield* all;
    } else if (path !== null) {
      yield* unzip(path, name, limits, onPacked);
    } else {
      yield* unzipStream(all, name, limits);
    }
  } finally {
    await bytes.close();
  }
}

/** The index of a zip file is at its end, so the whole file is stored before it is read. */
async function* unzipStream(bytes: AsyncIterable<Buffer>, name: string, limits: InputLimits): AsyncGenerator<Buffer> {
  const handle = await toTemporaryFile(bytes, name, limits.maxUnpackedBytes);
  try {
    yield* unzipFd(handle.fd, name, limits, () => {});
  } finally {
    await handle.close();
  }
}

async function* withoutBom(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const bytes = peekable(chunks);
  try {
    let skip = (await bytes.start(BOM.length)).subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
    for await (const chunk of bytes.all) {
      yield chunk.subarray(skip);
      skip = 0;
    }
  } finally {
    await bytes.close();
  }
}

async function* readFile(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw toFileError(error, path);
  }
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    throw toFileError(error, path);
  }
}

function toFileError(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new AppError('not_found', `${path}: there is no such file; check the path`, { cause: error });
  }
  if (code === 'EACCES')
    return new AppError('forbidden', `${path}: permission denied; make it readable for this user`, { cause: error });
  if (code === 'EISDIR')
    return new AppError('bad_request', `${path}: is a folder; choose a file in it`, { cause: error });
  if (typeof code !== 'string' || !/^E[A-Z0-9]+$/.test(code)) return error;
  const reason = FILE_ERRORS[code] ?? `the operating system reports ${code}`;
  return new AppError('bad_request', `${path}: the file cannot be read: ${reason}`, { cause: error });
}

const FILE_ERRORS: Record<string, string> = {
  EIO: 'the disk reports an error; copy the file from another place',
  ELOOP: 'its symbolic links lead in a circle',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'its name is too long; check the path',
  ENXIO: 'it is a socket, not a file',
  EPERM: 'the operating system does not allow it',
};

function noManifest(path: string): AppError {
  const message = `${path}: is a folder; choose a file in it. Only the folder of a MISP feed can be imported, by its ${MANIFEST}`;
  return badRequest(message);
}

/** A stream whose first bytes can be read ahead. `all` includes them and can be read once. */
export function peekable(chunks: AsyncIterable<Buffer>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let first: Buffer = Buffer.alloc(0);

  async function* all(): AsyncGenerator<Buffer> {
    if (first.length > 0) yield first;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  }

  return {
    /** At least this many bytes, unless the stream is shorter. */
    async start(bytes: number): Promise<Buffer> {
      while (first.length < bytes) {
        const next = await iterator.next();
        if (next.done) break;
        first = first.length === 0 ? next.value : Buffer.concat([first, next.value]);
      }
      return first;
    },
    all: all(),
    async close(): Promise<void> {
      await iterator.return?.();
    },
  };
}
