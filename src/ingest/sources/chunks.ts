import { badRequest } from '../../core/errors.ts';

/** The same chunks; `onBytes` gets the size of each one before it is passed on. */
export async function* counted(
  chunks: AsyncIterable<Buffer>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/** The same chunks; throws with the message when they have more bytes. */
export function bounded(chunks: AsyncIterable<Buffer>, maxBytes: number, message: string): AsyncGenerator<Buffer> {
  let total = 0;
  return counted(chunks, (bytes) => {
    total += bytes;
    if (total > maxBytes) throw badRequest(message);
  });
}
