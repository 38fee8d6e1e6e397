import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import {
  Event,
  Payload,
  SearchRecord,
  SearchRequest,
  Status,
  UrlIdResponse,
  UrlLastResponse,
  UrlRequest,
} from '../../src/urls/schemas.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const EVENT = { ts: 1, status: 'added', removal: '', reporter: '' };
const PAYLOAD = {
  ts: 1,
  mime_type: null,
  file_type: null,
  file_ext: null,
  file_size: null,
  file_name: null,
  sha256_hash: null,
  'malware-family': null,
};
const { 'malware-family': _family, ...SEVEN_KEYS } = PAYLOAD;
const { reporter: _reporter, ...THREE_KEYS } = EVENT;

const VECTORS: [name: string, schema: TSchema, good: unknown[], bad: unknown[]][] = [
  ['UrlRequest', UrlRequest, [{ url: '' }], [{}, { url: 1 }, { url: null }, { url: 'x', more: 1 }, [], null, 'x']],
  [
    'SearchRequest',
    SearchRequest,
    [{ ip: 'x' }, { host: '' }, { asn: 1 }, { asn: 'AS1' }, { malware_family: 'x' }, { sha256: 'x' }],
    [{}, { ip: 'x', host: 'y' }, { 'malware-family': 'x' }, { asn: 1.5 }, { asn: null }, { ip: 1 }, { sha256: null }],
  ],
  [
    'SearchRecord',
    SearchRecord,
    [
      { ts: 0, id: 1, url: '' },
      { ts: MAX, id: MAX, url: '' },
    ],
    [{ ts: 0, id: 0, url: '' }],
  ],
  ['Event', Event, [EVENT, { ...EVENT, status: 'removed' }], [THREE_KEYS, { ...EVENT, status: 'gone' }]],
  ['Status', Status, [{ ...EVENT, status: 'online' }], [EVENT, { ...EVENT, status: 'offline', removal: null }]],
  ['Payload', Payload, [PAYLOAD, { ...PAYLOAD, file_size: MAX }], [SEVEN_KEYS, { ...PAYLOAD, file_size: '1' }]],
  ['UrlIdResponse', UrlIdResponse, [{ id: MAX }], [{ id: '1' }, { id: MAX + 1 }, {}]],
  [
    'UrlLastResponse',
    UrlLastResponse,
    [
      { id: 1, url: 'x', status: null, payload: null },
      { id: 1, url: 'x', status: { ...EVENT, status: 'offline' }, payload: PAYLOAD },
    ],
    [
      { id: 1, url: 'x', status: null },
      { id: 1, url: 'x', status: EVENT, payload: null },
      { id: 1, url: 'x', status: null, payload: SEVEN_KEYS },
    ],
  ],
];

describe('request and response schemas', () => {
  for (const [name, schema, good, bad] of VECTORS) {
    test(name, () => {
      for (const value of good) assert.ok(Value.Check(schema, value), JSON.stringify(value));
      for (const value of bad) assert.ok(!Value.Check(schema, value), JSON.stringify(value));
    });
  }
});
