/** A stream of which the first bytes can be looked at before all of it is read, once. */
export function peekable(chunks: AsyncIterable<Buffer>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let first: Buffer = Buffer.alloc(0);

  async function* all(): AsyncGenerator<Buffer> {
    if (first.length > 0) yield first;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  }

  return {
    /** At least so many, unless there are fewer. */
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
