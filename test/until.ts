import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';

/** Polls until the condition is true. Fails after `withinMs`. */
export async function until(isTrue: () => boolean | Promise<boolean>, what: string, withinMs = 20_000): Promise<void> {
  for (const endMs = performance.now() + withinMs; !(await isTrue()); await setTimeout(20)) {
    assert.ok(performance.now() < endMs, `not in time: ${what}`);
  }
}
