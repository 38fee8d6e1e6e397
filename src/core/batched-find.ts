/** No batch is larger, so that a statement stays short. */
const MAX_BATCH = 500;

/**
 * One read at a time, of everything that was asked for meanwhile: a flood of invented cookies or keys must not take the few
 * connections to the control database. What `read` does not return is null.
 */
export function createBatchedFind<Found>(
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): (id: string) => Promise<Found | null> {
  type Waiting = { id: string; found: PromiseWithResolvers<Found | null> };
  let waiting: Waiting[] = [];
  let isReading = false;

  async function readWaiting(): Promise<void> {
    isReading = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      try {
        const byId = await read(batch.map(({ id }) => id));
        for (const { id, found } of batch) found.resolve(byId.get(id) ?? null);
      } catch (error) {
        for (const { found } of batch) found.reject(error);
      }
    }
    isReading = false;
  }

  return (id) => {
    const found = Promise.withResolvers<Found | null>();
    waiting.push({ id, found });
    if (!isReading) void readWaiting();
    return found.promise;
  };
}
