import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIp } from '../../src/core/ip/address.ts';
import { byTime, type ObservationInput, type StatusObservation, toObservation } from '../../src/core/observation.ts';

test('every value is normalized, and missing values get their defaults', () => {
  const result = toObservation({ ts: 10, url: 'HTTP://u:p@A.example:80', payload: { sha256: 'AB'.repeat(32) } });
  assert.deepEqual(result, {
    ok: true,
    observation: {
      ts: 10,
      url: 'http://a.example/',
      host: 'a.example',
      status: 'online',
      removal: '',
      reporter: '',
      addresses: [],
      tags: [],
      payload: {
        ts: 10,
        sha256: 'ab'.repeat(32),
        mimeType: null,
        fileType: null,
        fileExt: null,
        fileSize: null,
        fileName: null,
        family: null,
      },
    },
  });
});

for (const { why, input, addresses } of [
  {
    why: 'a host that is an address is also an observed address',
    input: { url: 'http://192.0.2.1/' },
    addresses: ['192.0.2.1 null'],
  },
  { why: 'IPv4-mapped IPv6 is IPv4', input: { url: 'http://[::ffff:192.0.2.1]/' }, addresses: ['192.0.2.1 null'] },
  {
    why: 'the ASN belongs to the address that is the host',
    input: { url: 'http://192.0.2.1/', asn: 64500 },
    addresses: ['192.0.2.1 64500'],
  },
  {
    why: 'duplicates are dropped',
    input: { url: 'http://192.0.2.1/', ip: ['192.0.2.1', '2001:db8::1', '2001:DB8:0::1'] },
    addresses: ['192.0.2.1 null', '2001:db8::1 null'],
  },
  {
    why: 'the network belongs to the given address, not to the host',
    input: { url: 'http://192.0.2.1/', ip: '192.0.2.2', asn: 64500 },
    addresses: ['192.0.2.2 64500', '192.0.2.1 null'],
  },
]) {
  test(`addresses: ${why}`, () => {
    const result = toObservation({ ts: 1, ...input });
    assert.ok(result.ok);
    assert.deepEqual(
      result.observation.addresses.map(({ ip, asn }) => `${formatIp(ip)} ${asn}`),
      addresses,
    );
  });
}

for (const { why, input, reason } of [
  { why: 'not a URL', input: { url: 'a.example' }, reason: /^url: / },
  { why: 'not an address', input: { ip: '127.1' }, reason: /^ip: "127\.1"/ },
  { why: 'one ASN with two addresses', input: { ip: ['192.0.2.1', '192.0.2.2'], asn: 64500 }, reason: /^asn / },
  { why: 'an ASN without an address', input: { asn: 64500 }, reason: /^asn / },
  { why: 'a removal reason without a removal', input: { status: 'offline', removal: 'abuse' }, reason: /^removal / },
  { why: 'an invalid hash', input: { payload: { sha256: 'abc' } }, reason: /^sha256: / },
] as { why: string; input: Partial<ObservationInput>; reason: RegExp }[]) {
  test(`refused: ${why}`, () => {
    const result = toObservation({ ts: 1, url: 'http://a.example/', ...input });
    assert.ok(!result.ok);
    assert.match(result.reason, reason);
  });
}

test('an input without a payload has a null payload', () => {
  const result = toObservation({ ts: 1, url: 'http://a.example/' });
  assert.equal(result.ok && result.observation.payload, null);
});

for (const [given, stored] of [
  [' Mirai ', 'Mirai'],
  ['a b', 'a b'],
  ['', null],
  [' \u00a0', null],
  [null, null],
] as const) {
  test(`a text of a payload: ${JSON.stringify(given)} becomes ${JSON.stringify(stored)}`, () => {
    const texts = (value: string | null) => {
      return { mimeType: value, fileType: value, fileExt: value, fileName: value, family: value };
    };
    const result = toObservation({ ts: 1, url: 'http://a.example/', payload: { ts: 2, fileSize: 3, ...texts(given) } });
    const payload = { ts: 2, sha256: null, fileSize: 3, ...texts(stored) };
    assert.deepEqual(result.ok && result.observation.payload, payload);
  });
}

for (const [what, payload, isPayload] of [
  ['empty texts', { family: '  ', fileName: '' }, false],
  ['null', { sha256: null, fileSize: null, mimeType: null }, false],
  ['empty texts and a time', { ts: 2, family: ' ' }, false],
  ['a size of 0', { family: ' ', fileSize: 0 }, true],
  ['a hash', { family: ' ', sha256: '0'.repeat(64) }, true],
  ['a time alone', { ts: 2 }, true],
] as const) {
  test(`a payload with ${what} is ${isPayload ? 'kept' : 'no payload'}`, () => {
    const result = toObservation({ ts: 1, url: 'http://a.example/', payload });
    assert.equal(result.ok && result.observation.payload !== null, isPayload);
  });
}

const CONTROL = 'a\nb';
for (const [name, input] of [
  ['removal', { status: 'removed', removal: CONTROL }],
  ['reporter', { reporter: CONTROL }],
  ['mimeType', { payload: { mimeType: CONTROL } }],
  ['fileType', { payload: { fileType: CONTROL } }],
  ['fileExt', { payload: { fileExt: CONTROL } }],
  ['fileName', { payload: { fileName: CONTROL } }],
  ['family', { payload: { family: CONTROL } }],
] as [string, Partial<ObservationInput>][]) {
  test(`control characters are refused: ${name}`, () => {
    const result = toObservation({ ts: 1, url: 'http://a.example/', ...input });
    assert.match(result.ok ? '' : result.reason, new RegExp(`^${name}: control characters`));
  });
}

for (const [length, reporter, isAccepted] of [
  ['1,024 letters', 'x'.repeat(1_024), true],
  ['1,025 letters', 'x'.repeat(1_025), false],
  ['1,024 characters of two units', '😀'.repeat(1_024), true],
  ['1,025 characters of two units', '😀'.repeat(1_025), false],
] as const) {
  test(`a text of ${length} is ${isAccepted ? 'accepted' : 'refused'}`, () => {
    assert.equal(toObservation({ ts: 1, url: 'http://a.example/', reporter }).ok, isAccepted);
  });
}

test('observations are ordered by time, then online, offline, removed', () => {
  const at = (ts: number, status: StatusObservation['status']) => ({ ts, status, removal: '', reporter: '' });
  const ordered = [at(1, 'removed'), at(2, 'online'), at(2, 'offline'), at(2, 'removed'), at(3, 'online')];
  assert.deepEqual(ordered.toReversed().sort(byTime), ordered);
});

test('tags are trimmed; empty ones and duplicates are dropped; a spelling of its own stays', () => {
  const result = toObservation({ ts: 1, url: 'http://a.example/', tags: [' elf', 'elf ', '', '  ', 'Mozi', 'mozi'] });
  assert.deepEqual(result.ok && result.observation.tags, ['elf', 'Mozi', 'mozi']);
});

for (const [why, tags, reason] of [
  ['too many', Array.from({ length: 65 }, (_, i) => `tag${i}`), 'tags: at most 64 tags'],
  ['too long', ['x'.repeat(129)], 'tags: at most 128 characters each'],
  ['a control character', ['a\u0000b'], 'tags: control characters and unpaired surrogates are not allowed'],
] as const) {
  test(`tags are refused: ${why}`, () => {
    assert.deepEqual(toObservation({ ts: 1, url: 'http://a.example/', tags }), { ok: false, reason });
  });
}
