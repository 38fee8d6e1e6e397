import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toASCII as tr46 } from 'tr46';
import { ApiError, LIMIT_REACHED } from '../../portal/api.ts';
import type { BulkRow } from '../../portal/bulk-read.ts';
import { bulk, filtered, isUnsaved, nextBatch, readInput, stopOf } from '../../portal/bulk-run.ts';
import { toASCII } from '../../portal/tr46.ts';

const row = (input: string, more: Partial<BulkRow> = {}): BulkRow => ({
  line: 1,
  times: 1,
  input,
  url: input,
  isDefanged: false,
  error: null,
  ...more,
});

const end = (more: object = {}) => ({
  end: true as const,
  lines: 0,
  distinct: 0,
  found: 0,
  invalid: 0,
  charged: 0,
  ...more,
});

describe('sending a list', () => {
  it('a request has at most 10,000 lines, and none that is not valid', () => {
    const rows = Array.from({ length: 10_005 }, (_, i) => row(`http://a.example/${i}`));
    rows[1] = row('nowhere', { url: null, error: 'No.' });
    const first = nextBatch(rows, 0);
    assert.equal(first.body.split('\n').length - 1, 10_000);
    assert.deepEqual([first.indexes[0], first.indexes[1], first.indexes.at(-1)], [0, 2, 10_000]);
    const second = nextBatch(rows, 10_001);
    assert.equal(second.body, [1, 2, 3, 4].map((i) => `http://a.example/${10_000 + i}\n`).join(''));
    assert.deepEqual(nextBatch(rows, rows.length), { rows: [], indexes: [], body: '' });
  });

  it('a request has at most 8 MiB', () => {
    const rows = Array.from({ length: 3_000 }, (_, i) => row(`http://a.example/${'é'.repeat(3_000)}${i}`));
    const { body, indexes } = nextBatch(rows, 0);
    assert.ok(Buffer.byteLength(body) <= 8 * 2 ** 20);
    assert.ok(indexes.length > 500);
  });

  it('defanged URLs are sent in their real form', () => {
    assert.equal(nextBatch([row('hxxp://b[.]example/', { isDefanged: true })], 0).body, 'http://b.example/\n');
  });

  it('results that were paid for and not saved would be lost with the page', async () => {
    await readInput(new Blob(['http://a.example/']), '', 'me', null);
    const read = bulk.value ?? assert.fail();
    assert.equal(isUnsaved(null), false);
    assert.equal(isUnsaved(read), false);
    assert.equal(isUnsaved({ ...read, phase: 'running' }), true);
    assert.equal(isUnsaved({ ...read, phase: 'stopped' }), false, 'nothing was answered');
    assert.equal(isUnsaved({ ...read, phase: 'stopped', answered: 1 }), true);
    assert.equal(isUnsaved({ ...read, phase: 'done', answered: 1 }), true);
    assert.equal(isUnsaved({ ...read, phase: 'done', answered: 1, isSaved: true }), false);
  });

  it('the last line says how it ended', () => {
    assert.equal(stopOf(end(), 5, 5), null);
    assert.deepEqual(stopOf(null, 5, 5), { how: 'cut' });
    assert.deepEqual(stopOf(end(), 4, 5), { how: 'cut' });
    assert.deepEqual(stopOf(end({ stopped_at: 4, limit: 'rl_qpm' }), 5, 9), { how: 'cut' });
    assert.equal(stopOf(end({ stopped_at: 5, limit: 'lines' }), 4, 9), null);
    assert.deepEqual(stopOf(end({ stopped_at: 1, limit: 'bytes' }), 0, 9), { how: 'cut' });
    const stop = stopOf(end({ stopped_at: 5, limit: 'rl_qph', retry_after: 90 }), 4, 9);
    assert.ok(stop?.how === 'failed' && stop.error instanceof ApiError);
    assert.deepEqual([stop.error.status, stop.error.retryAfterSeconds], [LIMIT_REACHED, 90]);
    assert.match(stop.error.message, /^Your limit is used up this hour\./);
  });

  it('filters', () => {
    const rows = [
      row('found', { found: { n: 1 } as unknown as NonNullable<BulkRow['found']> }),
      row('unknown', { found: null }),
      row('waiting', { isDefanged: true }),
      row('invalid', { url: null, error: 'No.' }),
    ];
    const names = (filter: Parameters<typeof filtered>[1]) => filtered(rows, filter).map(({ input }) => input);
    assert.deepEqual(names('all'), ['found', 'unknown', 'waiting', 'invalid']);
    assert.deepEqual(names('found'), ['found']);
    assert.deepEqual(names('unknown'), ['unknown']);
    assert.deepEqual(names('invalid'), ['invalid']);
    assert.deepEqual(names('defanged'), ['waiting']);
  });

  it('names of other scripts become the same as on the server', () => {
    for (const name of [
      'faß.example',
      'ÖBB.example',
      '例え.テスト',
      'a\u202eb.example',
      'xn--a.ß',
      '１２.example',
      'ﷺ.example',
    ])
      assert.equal(toASCII(name), tr46(name, { checkBidi: true, checkJoiners: true }), name);
    for (const name of ['ö/a', 'ö@b', 'ö:80', 'ö a', 'ö%2f']) assert.equal(toASCII(name), null, name);
  });
});
