import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { createBuckets, observe, registerHistogram } from '../../src/metrics/cells.ts';

test('each bucket of a histogram counts all values up to and including its bound', async () => {
  const registry = new Registry();
  const value = createBuckets([0.5, 1]);
  const unused = createBuckets([0.5, 1]);
  registerHistogram(registry, { name: 'h', help: 'Help' }, () => [
    { labels: { kind: 'a' }, value },
    { labels: { kind: 'b' }, value: unused },
  ]);
  for (const seconds of [0.25, 0.5, 0.75, 2]) observe(value, seconds);
  assert.equal(
    await registry.metrics(),
    `# HELP h Help
# TYPE h histogram
h_bucket{kind="a",le="0.5"} 2
h_bucket{kind="a",le="1"} 3
h_bucket{kind="a",le="+Inf"} 4
h_sum{kind="a"} 3.5
h_count{kind="a"} 4
`,
  );
});
