import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toBytes } from '../../src/core/byte-text.ts';
import { type ObservationInput, toObservation } from '../../src/core/observation.ts';
import { groupByUrl, urlKey } from '../../src/urls/url-group.ts';

const A = 'http://a.example/';
const observed = (...inputs: Partial<ObservationInput>[]) =>
  inputs.map((input) => {
    const result = toObservation({ ts: 10, url: A, reporter: 'ada', ...input });
    assert.ok(result.ok);
    return result.observation;
  });
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('the key of a URL is the first 16 bytes of its SHA-256', () => {
  assert.equal(hex(urlKey(A)), '217fbabc0e7aa17115435afd966b734a');
});

test('observations are grouped by URL, in order of key', () => {
  const urls = Array.from({ length: 20 }, (_, i) => `${A}${i}`);
  const groups = groupByUrl(observed(...[...urls, ...urls].map((url) => ({ url }))));
  assert.deepEqual(
    groups.map(({ url }) => url),
    urls.toSorted((a, b) => Buffer.compare(urlKey(a), urlKey(b))),
  );
  for (const { key, url, host, statuses } of groups) {
    assert.deepEqual([hex(toBytes(key)), host, statuses.length], [hex(urlKey(url)), 'a.example', 2]);
  }
});

test('a group has the statuses in order of time, the payloads and the addresses of its observations', () => {
  const [group] = groupByUrl(
    observed(
      { ts: 30, status: 'removed', removal: 'abuse' },
      { ts: 20, status: 'offline', ip: '192.0.2.1' },
      { ts: 15, status: null, payload: { fileExt: 'sh' } },
      { ts: 20 },
    ),
  );
  assert.deepEqual(group?.statuses, [
    { ts: 20, status: 'online', removal: '', reporter: 'ada' },
    { ts: 20, status: 'offline', removal: '', reporter: 'ada' },
    { ts: 30, status: 'removed', removal: 'abuse', reporter: 'ada' },
  ]);
  assert.deepEqual(
    group?.payloads.map(({ ts, fileExt }) => [ts, fileExt]),
    [[15, 'sh']],
  );
  assert.equal(group?.addresses.length, 1);
});

test('two statuses of a URL are put in order of time', () => {
  const [group] = groupByUrl(observed({ ts: 30 }, { ts: 20 }));
  assert.deepEqual(
    group?.statuses.map(({ ts }) => ts),
    [20, 30],
  );
});

test('a group keeps all that many observations of its URL have, in their order', () => {
  const times = Array.from({ length: 20 }, (_, i) => i);
  const all = times.map((ts) => ({ ts, ip: `192.0.2.${ts}`, tags: [`tag ${ts}`], payload: { fileSize: ts } }));
  const [first, second] = groupByUrl(observed(...all.flatMap((one) => [one, { ...one, url: `${A}b` }])));
  for (const group of [first, second]) {
    assert.deepEqual(
      [
        group?.statuses.map(({ ts }) => ts),
        group?.payloads.map(({ fileSize }) => fileSize),
        group?.addresses.map(([ts, ip]) => (toBytes(ip).at(-1) === ts ? ts : null)),
        group?.tags.map((tag) => Number(tag.slice(4))),
      ],
      [times, times, times, times],
    );
  }
});

test('an address is stored once if neighbours have the same address, time and network', () => {
  const at = (ts: number, ip: string, asn?: number) => ({ ts, ip, ...(asn === undefined ? {} : { asn }) });
  const [group] = groupByUrl(
    observed(
      at(10, '192.0.2.1'),
      at(10, '192.0.2.1'),
      at(11, '192.0.2.1'),
      at(11, '192.0.2.2'),
      at(11, '192.0.2.2', 64500),
      at(11, '192.0.2.2', 64500),
      at(10, '192.0.2.1'),
    ),
  );
  assert.deepEqual(
    group?.addresses.map(([ts, ip, asn]) => [ts, toBytes(ip).at(-1), asn]),
    [
      [10, 1, null],
      [11, 1, null],
      [11, 2, null],
      [11, 2, 64500],
      [10, 1, null],
    ],
  );
});
