import { pipeline, Readable } from 'node:stream';
import { createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib';
import { AppError } from '../core/errors.ts';
import type { InputLimits } from './format.ts';

/** How much a ratio may be broken before it counts: a small text of blanks is no bomb. */
const RATIO_FREE_BYTES = 2 ** 20;
const CHUNK_BYTES = 64 * 1024;

export function gunzip(packed: AsyncIterable<Buffer>, name: string, limits: InputLimits): AsyncGenerator<Buffer> {
  return unpack(packed, createGunzip({ chunkSize: CHUNK_BYTES }), `${name}: the gzip data`, limits);
}

export function inflate(packed: AsyncIterable<Buffer>, name: string, limits: InputLimits): AsyncGenerator<Buffer> {
  return unpack(packed, createInflateRaw({ chunkSize: CHUNK_BYTES }), `${name}: the zip data`, limits);
}

async function* unpack(
  packed: AsyncIterable<Buffer>,
  engine: Gunzip | InflateRaw,
  subject: string,
  limits: InputLimits,
): AsyncGenerator<Buffer> {
  let packedBytes = 0;
  let unpackedBytes = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of packed) {
      packedBytes += chunk.length;
      yield chunk;
    }
  }
  // Whatever goes wrong arrives at the end of the pipeline, where it is read.
  pipeline(Readable.from(counted(), { objectMode: true, highWaterMark: 1 }), engine, () => {});
  try {
    for await (const chunk of engine as AsyncIterable<Buffer>) {
      unpackedBytes += chunk.length;
      if (unpackedBytes > RATIO_FREE_BYTES && unpackedBytes > packedBytes * limits.maxRatio) {
        throw refused(`${subject} unpack to more than ${limits.maxRatio} times their size, as in a zip bomb`);
      }
      yield chunk;
    }
  } catch (error) {
    throw told(error, subject);
  } finally {
    engine.destroy();
  }
}

function told(error: unknown, subject: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'Z_BUF_ERROR') return refused(`${subject} end in the middle; fetch or copy the file again`, error);
  if (typeof code === 'string' && code.startsWith('Z_')) {
    return refused(`${subject} are damaged; fetch or copy the file again`, error);
  }
  return error;
}

function refused(message: string, cause?: unknown): AppError {
  return new AppError('bad_request', message, { cause });
}
