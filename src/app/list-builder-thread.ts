import { AppError } from '../core/errors.ts';
import { createListBuilder } from '../exports/list-builder.ts';
import { createMemoryRelease } from '../threads/release-memory.ts';
import { lowerPriority, serveTasks } from '../threads/worker-thread.ts';
import type { ListBuilderStart } from './lists.ts';
import { openIntelligence } from './stores.ts';

// The entry file of the thread that builds lists for devices. It reads with handles of its own.

lowerPriority();
serveTasks(async ({ place, ...options }: ListBuilderStart) => {
  const store = await openIntelligence(place, {
    async writeFor() {
      throw new AppError('unavailable', 'the thread that builds lists does not write');
    },
  });
  return { tasks: createListBuilder(store, { ...options, afterWork: createMemoryRelease() }), close: store.close };
});
