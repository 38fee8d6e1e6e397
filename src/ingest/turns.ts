/** Lets `limit` pieces of work be under way at once. A failure is thrown by whichever call comes next. */
export function createTurns(limit: number) {
  const underWay: Promise<void>[] = [];

  return {
    /** Waits until there is room, and no longer. */
    async start(work: () => Promise<void>): Promise<void> {
      while (underWay.length >= limit) await underWay.shift();
      const started = work();
      started.catch(() => {}); // thrown where it is waited for
      underWay.push(started);
    },

    /** Waits for all of it. */
    async end(): Promise<void> {
      const settled = await Promise.allSettled(underWay.splice(0));
      for (const one of settled) if (one.status === 'rejected') throw one.reason;
    },
  };
}
