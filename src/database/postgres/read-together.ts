/** Queries of one statement, so that no result waits long for the others. */
const MAX_TOGETHER = 100;

type Waiting<Query, Result> = {
  query: Query;
  resolve(result: Result | Promise<Result>): void;
  reject(error: unknown): void;
};

/**
 * Reads what is asked for in one iteration of the event loop together: queries of one group, up to 100 at a time. `read`
 * returns the results in the order of its queries.
 */
export function createReadTogether<Query, Result>(
  read: (queries: readonly Query[]) => Promise<(Result | Promise<Result>)[]>,
  groupOf: (query: Query) => string = () => '',
): (query: Query) => Promise<Result> {
  let waiting: Waiting<Query, Result>[] = [];

  function readWaiting(): void {
    const groups = Map.groupBy(waiting, ({ query }) => groupOf(query));
    waiting = [];
    for (const group of groups.values()) {
      for (let at = 0; at < group.length; at += MAX_TOGETHER) void readBatch(group.slice(at, at + MAX_TOGETHER));
    }
  }

  async function readBatch(batch: readonly Waiting<Query, Result>[]): Promise<void> {
    try {
      const results = await read(batch.map(({ query }) => query));
      for (const [i, { resolve }] of batch.entries()) resolve(results[i] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (query) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(readWaiting);
      waiting.push({ query, resolve, reject });
    });
}
