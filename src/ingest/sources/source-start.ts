import type { Source } from './format.ts';

/** The beginning of a source, unpacked. */
export type SourceStart = {
  bytes: Buffer;
  /** These are all bytes of the source. */
  isWhole: boolean;
};

/** Enough for the banner and the first rows of every known format; the longest banner has about 800 bytes. */
const START_BYTES = 4_096;

/** The same source, which remembers how it began. */
export function keepStart(source: Source): { source: Source; start(): SourceStart } {
  let [start, isEnded, readBytes] = [Buffer.alloc(0), false, 0];

  async function* bytes(): AsyncGenerator<Buffer> {
    for await (const chunk of source.bytes()) {
      readBytes += chunk.length;
      if (start.length < START_BYTES) start = Buffer.concat([start, chunk.subarray(0, START_BYTES - start.length)]);
      yield chunk;
    }
    isEnded = true;
  }

  return {
    source: { ...source, bytes },
    start: () => ({ bytes: start, isWhole: isEnded && readBytes === start.length }),
  };
}

/** Reads no more of the source than that. */
export async function readStart(given: Source): Promise<SourceStart> {
  const { source, start } = keepStart(given);
  for await (const _ of source.bytes()) if (start().bytes.length >= START_BYTES) break;
  return start();
}
