import { parseArgs } from 'node:util';
import { runFuzz } from './run.ts';

/** `npm run fuzz -- --count 1000000 --seed 1`; `--from N --count 1` repeats request N. */
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    from: { type: 'string', default: '0' },
  },
});
const [count, seed, from] = [Number(values.count), Number(values.seed), Number(values.from)];
const started = Date.now();
const log = (text: string) => process.stdout.write(`${text}\n`);

log(`seed ${seed}, ${count} requests, first number ${from}`);
const onProgress = (done: number) => log(`${done} requests in ${Math.round((Date.now() - started) / 1000)} s`);
const { done, byStatus, failure } = await runFuzz({ seed, count, from, onProgress });

for (const [status, times] of [...byStatus].sort(([a], [b]) => String(a).localeCompare(String(b)))) {
  log(`${String(times).padStart(9)}  ${status}`);
}
log(`${done} requests in ${((Date.now() - started) / 1000).toFixed(1)} s`);
if (failure) {
  log(`FAILED: ${failure.reason}\nrequest ${failure.index}: ${failure.request}`);
  log(`repeat it with: npm run fuzz -- --seed ${seed} --from ${failure.index} --count 1`);
  process.exitCode = 1;
}
