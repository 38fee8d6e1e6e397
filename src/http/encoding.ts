import { constants, createGzip, createZstdCompress } from 'node:zlib';

// Content codings of responses (RFC 9110 section 8.4).

/** If a client likes several best, it gets the last: zstd is smaller than gzip, and quicker to pack and unpack. */
export const ENCODINGS = ['identity', 'gzip', 'zstd'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Less than any weight that a client can send: it has three decimals. */
const UNSENT_IDENTITY = 0.0001;

/** How much a client wants each coding, 0 to 1 (RFC 9110 section 12.5.3). */
function weightsOf(accepted: string): (encoding: Encoding) => number {
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith('q='));
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  return (encoding) => weights.get(encoding) ?? weights.get('*') ?? (encoding === 'identity' ? UNSENT_IDENTITY : 0);
}

/**
 * The encoding of a response to this Accept-Encoding. A client that accepts none of those offered gets the bytes as they
 * are, also if it refuses these.
 */
export function bestEncoding(accepted = '', offered: readonly Encoding[] = ENCODINGS): Encoding {
  const weightOf = weightsOf(accepted);
  let best: Encoding = 'identity';
  for (const encoding of offered) {
    if (weightOf(encoding) > 0 && weightOf(encoding) >= weightOf(best)) best = encoding;
  }
  return best;
}

export const acceptsIdentity = (accepted = ''): boolean => weightsOf(accepted)('identity') > 0;

/** Compresses pages of one response on the thread pool. */
export type Compressor = {
  /** The bytes from which a client can unpack the whole page, so that it need not wait for the next one. */
  add(page: string): Promise<Buffer>;
  /** The bytes after the last page. */
  end(): Promise<Buffer>;
  /** Releases the memory of the compressor. What is being compressed is never returned. */
  close(): void;
};

const GZIP = { level: constants.Z_BEST_SPEED, flush: constants.Z_SYNC_FLUSH };

const ZSTD = {
  flush: constants.ZSTD_e_flush,
  params: {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_windowLog]: 17, // 128 KiB, more than a page: 0.2 MB for each stream instead of 0.6
  },
};

/** Low levels: higher ones take two to four times as long and save less than a seventh (docs/decisions/reads.md). */
export function createCompressor(encoding: Exclude<Encoding, 'identity'>): Compressor {
  const stream = encoding === 'zstd' ? createZstdCompress(ZSTD) : createGzip(GZIP);
  let packed: Buffer[] = [];
  const take = () => Buffer.concat(packed.splice(0));
  stream.on('data', (bytes: Buffer) => packed.push(bytes));
  stream.on('error', () => {}); // the callback of the page has it too
  return {
    add: (page) =>
      new Promise((resolve, reject) => {
        stream.write(page, 'utf8', (error) => (error ? reject(error) : resolve(take())));
      }),
    end: () =>
      new Promise((resolve, reject) => {
        stream.once('end', () => resolve(take())).once('error', reject);
        stream.end();
      }),
    close() {
      packed = [];
      stream.destroy();
    },
  };
}
