import { open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { crc32, createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib';
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl';
import { AppError } from '../../core/errors.ts';
import { counted } from './chunks.ts';
import type { InputLimits } from './format.ts';

/** The ratio is checked above this size: a small text of blanks is not a zip bomb. */
const RATIO_FREE_BYTES = 2 ** 20;
const CHUNK_BYTES = 64 * 1024;

export function gunzip(packed: AsyncIterable<Buffer>, name: string, limits: InputLimits): AsyncGenerator<Buffer> {
  return unpack(packed, createGunzip({ chunkSize: CHUNK_BYTES }), `${name}: the gzip data`, limits);
}

function inflate(packed: AsyncIterable<Buffer>, name: string, limits: InputLimits): AsyncGenerator<Buffer> {
  return unpack(packed, createInflateRaw({ chunkSize: CHUNK_BYTES }), `${name}: the zip data`, limits);
}

const RATIO_HINT = 'if you trust the source, raise --max-unpack-ratio';

async function* unpack(
  packed: AsyncIterable<Buffer>,
  engine: Gunzip | InflateRaw,
  subject: string,
  limits: InputLimits,
): AsyncGenerator<Buffer> {
  let packedBytes = 0;
  let unpackedBytes = 0;
  const input = counted(packed, (bytes) => {
    packedBytes += bytes;
  });
  // Errors reach the reader of `engine`, so the callback ignores them.
  pipeline(Readable.from(input, { objectMode: true, highWaterMark: 1 }), engine, () => {});
  try {
    for await (const chunk of engine as AsyncIterable<Buffer>) {
      unpackedBytes += chunk.length;
      if (unpackedBytes > RATIO_FREE_BYTES && unpackedBytes > packedBytes * limits.maxRatio) {
        throw refused(
          `${subject} unpack to more than ${limits.maxRatio} times their size, as in a zip bomb; ${RATIO_HINT}`,
        );
      }
      yield chunk;
    }
  } catch (error) {
    throw toUnpackError(error, subject);
  } finally {
    engine.destroy();
  }
}

function toUnpackError(error: unknown, subject: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'Z_BUF_ERROR') return refused(`${subject} are cut off; download or copy the file again`, error);
  if (typeof code === 'string' && code.startsWith('Z_')) {
    return refused(`${subject} are damaged; download or copy the file again`, error);
  }
  return error;
}

function refused(message: string, cause?: unknown): AppError {
  return new AppError('bad_request', message, { cause });
}

const STORED = 0;
const DEFLATED = 8;

/** Unpacks the only file of a zip file. `onPacked` gets the number of packed bytes of each chunk. */
export async function* unzip(
  path: string,
  name: string,
  limits: InputLimits,
  onPacked: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const handle = await open(path);
  try {
    yield* unzipFd(handle.fd, name, limits, onPacked);
  } finally {
    await handle.close();
  }
}

export async function* unzipFd(
  fd: number,
  name: string,
  limits: InputLimits,
  onPacked: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const zip = await readable(name, () => fromFdPromise(fd, { autoClose: false }));
  const entry = await readable(name, () => onlyFile(zip, name));
  const stream = await readable(name, () => zip.openReadStreamPromise(entry, { decodeFileData: false }));
  const packed = counted(stream as AsyncIterable<Buffer>, onPacked);
  yield* checked(entry.compressionMethod === STORED ? packed : inflate(packed, name, limits), entry, name);
}

/** Ignores directories. An archive with a second file is refused: none of them is preferred. */
async function onlyFile(zip: ZipFile, name: string): Promise<Entry> {
  let only: Entry | null = null;
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    if (only !== null) throw refused(`${name}: the zip file contains several files; unpack it and use them one by one`);
    only = entry;
  }
  if (only === null) throw refused(`${name}: the zip file contains no file`);
  if (only.isEncrypted()) throw refused(`${name}: the zip file is encrypted; unpack it first`);
  if (only.compressionMethod !== STORED && only.compressionMethod !== DEFLATED) {
    throw refused(`${name}: the zip file uses compression method ${only.compressionMethod}; unpack it first`);
  }
  return only;
}

async function* checked(chunks: AsyncIterable<Buffer>, entry: Entry, name: string): AsyncGenerator<Buffer> {
  let bytes = 0;
  let checksum = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    checksum = crc32(chunk, checksum);
    yield chunk;
  }
  if (bytes !== entry.uncompressedSize || checksum !== entry.crc32) {
    throw refused(`${name}: the zip data are damaged; download or copy the file again`);
  }
}

/** Errors of yauzl describe damage in the file. */
async function readable<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof AppError || !(error instanceof Error)) throw error;
    throw refused(`${name}: the zip file is damaged or cut off; download or copy it again (${error.message})`, error);
  }
}
