import { openIntelligence } from '../../src/app/stores.ts';
import { toObservation } from '../../src/core/observation.ts';

// Stores URLs as another process than the server. After each batch it sends the number of URLs that are stored.

const [dataDir = '', urls = '0', batchUrls = '0'] = process.argv.slice(2);

const store = await openIntelligence({ dataDir });
for (let stored = 0; stored < Number(urls); stored += Number(batchUrls)) {
  const batch = Array.from({ length: Number(batchUrls) }, (_, i) => {
    const parsed = toObservation({ ts: 1, url: `http://a.example/${stored + i}` });
    if (!parsed.ok) throw new Error(parsed.reason);
    return parsed.observation;
  });
  await store.apply(batch);
  process.send?.(stored + batch.length);
}
await store.close();
process.disconnect();
