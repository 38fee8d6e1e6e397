import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Intelligence, openIntelligence } from '../../../src/app/stores.ts';
import type { ObservationInput } from '../../../src/core/observation.ts';
import { normalizeUrl } from '../../../src/core/url/normalize.ts';
import { dataFiles } from '../../../src/database/data-folder.ts';
import { bulkFill } from '../../../tools/shared/bulk-fill.ts';
import { observationsAt, unknownUrlAt, urlAt } from '../../../tools/shared/observations.ts';
import { allObservations } from '../../../tools/shared/stores.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { collect, find } from '../../urls/contract/observations.ts';

const URLS = 2_500;

test('bulkFill creates the same database as applying the same observations', async (t) => {
  const [quick, slow] = [temporaryFolder(t), temporaryFolder(t)];
  bulkFill(dataFiles(quick).intelligence, allObservations(URLS));
  const [filled, applied] = [await openIntelligence({ dataDir: quick }), await openIntelligence({ dataDir: slow })];
  t.after(() => Promise.all([filled.close(), applied.close()]));
  for (const observations of allObservations(URLS)) await applied.apply(observations);
  assert.deepEqual(await exported(filled), await exported(applied));
  for (const [name, value] of SEARCHES) {
    const found = await find(filled, name, value);
    assert.ok(found.length > 0, `${name} ${value}`);
    assert.deepEqual(found, await find(applied, name, value), name);
  }
});

test('the known and unknown URLs of the benchmarks are in normal form', () => {
  for (let i = 0; i < URLS; i++) {
    const place = { i, urls: URLS };
    for (const url of [urlAt(place), unknownUrlAt(place)]) {
      const normal = normalizeUrl(url);
      assert.ok(normal.ok && normal.url === url && observationsAt(place)[0]?.host === normal.host, url);
    }
  }
});

const SEARCHES = [
  ['ip', '10.0.0.0/8'],
  ['ip', '2001:db8::/32'],
  ['asn', 64_512],
  ['host', observationsAt({ i: 1, urls: URLS })[0]?.host ?? ''],
  ['malware_family', 'mirai'],
  ['sha256', '00000000'.repeat(8)],
] as const;

async function exported(store: Intelligence): Promise<ObservationInput[]> {
  return collect(store.exportObservations({}));
}
