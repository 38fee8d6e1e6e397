import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ObservationInput } from '../../src/core/observation.ts';
import type { FileReport } from '../../src/core/records.ts';
import { dataFiles } from '../../src/store/data-folder.ts';
import { openStore } from '../../src/store/open.ts';
import { openWriter } from '../../src/store/sqlite/database.ts';
import { createIntelligenceWrites } from '../../src/store/sqlite/intelligence-write.ts';
import { preparePart } from '../../src/store/sqlite/open-part.ts';
import { createMakeAnswer } from '../../src/store/sqlite/read-last.ts';
import { groupByUrl } from '../../src/store/url-group.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { seen } from './contract/observations.ts';

// Few of everything, so that what is told meets what is known.
const url = fc.constantFrom('http://192.0.2.1/a', 'http://192.0.2.1/b', 'http://a.example/');
const ts = fc.integer({ min: 1, max: 4 });
const detail = <T>(...values: T[]) => fc.constantFrom(null, ...values);
const sha256 = fc.constantFrom('aa'.repeat(32), 'bb'.repeat(32));
const details = {
  mimeType: detail('text/html'),
  fileType: fc.constant(null),
  fileExt: fc.constant(null),
  fileSize: detail(1),
  fileName: detail('a "b"', 'ü'),
  family: detail('Mirai', 'Gafgyt'),
};

const payload = fc.option(fc.record({ sha256: fc.option(sha256), ...details }));

const observation = fc.record({ url, ts, status: fc.constantFrom('online', 'offline', 'removed', null), payload }).map(
  ({ url, ts, status, payload }): ObservationInput => ({
    url,
    ts,
    status,
    reporter: ts % 2 === 0 ? 'x' : 'y "z"',
    ...(status === 'removed' && { removal: 'abuse' }),
    ...(payload !== null && { payload }),
  }),
);

type Step =
  | { name: 'apply'; observations: ObservationInput[] }
  | { name: 'files'; files: FileReport[] }
  | { name: 'listing'; observations: ObservationInput[]; ts: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ name: fc.constant('apply' as const), observations: fc.array(observation, { maxLength: 4 }) }),
  fc.record({
    name: fc.constant('files' as const),
    files: fc.array(fc.record({ sha256, ...details }), { maxLength: 2 }),
  }),
  fc.record({ name: fc.constant('listing' as const), observations: fc.array(observation, { maxLength: 2 }), ts }),
);

test('whatever is told in whatever order, every URL has a ready answer, and it is the one that would be made', (t) => {
  const folder = temporaryFolder(t);
  let runs = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const path = join(folder, `${runs++}.db`);
      preparePart('intelligence', path);
      const db = openWriter(path);
      try {
        const writes = createIntelligenceWrites(db);
        const make = createMakeAnswer(db);
        const urls = db.prepare<[id: number, answer: string | null]>('select id, answer from urls');
        for (const one of steps) {
          take(one, writes);
          for (const [id, answer] of urls.all()) assert.equal(answer, make(id));
        }
      } finally {
        db.close();
      }
    }),
    { numRuns: 200 },
  );
});

test('a URL without a ready answer has the same one', async (t) => {
  const dataDir = temporaryFolder(t);
  const store = await openStore({ dataDir });
  t.after(() => store.close());
  const url = 'http://a.example/';
  await store.apply([seen({ ts: 1, url, reporter: 'x', payload: { sha256: 'aa'.repeat(32), family: 'Mirai' } })]);
  const ready = store.urlLast(url);
  const db = openWriter(dataFiles(dataDir).intelligence);
  assert.equal(db.prepare('update urls set answer = null').run(), 1);
  db.close();
  await new Promise((resolve) => setImmediate(resolve)); // the next turn sees it
  assert.equal(store.urlLast(url), ready);
  assert.ok(typeof ready === 'string' && ready.includes('Mirai'), String(ready));
});

function take(step: Step, { apply, applyFiles, finishListing }: ReturnType<typeof createIntelligenceWrites>): void {
  if (step.name === 'files') return void applyFiles(step.files);
  const groups = groupByUrl(step.observations.map(seen));
  if (step.name === 'apply') return void apply(groups);
  const listing = { feed: 'feed', ts: step.ts };
  apply(groups, listing);
  finishListing(listing);
}
