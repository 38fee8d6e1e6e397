import { openIntelligence } from '../../src/app/stores.ts';
import { batches } from './observations.ts';

// Applies all batches and prints a line after each; the parent kills this process at a random time.

const [dataDir = '', count = '0', size = '1'] = process.argv.slice(2);
const store = await openIntelligence({ dataDir });
for (const batch of batches(Number(count), Number(size))) {
  await store.apply(batch);
  process.stdout.write('applied\n');
}
await store.close();
