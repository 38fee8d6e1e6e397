import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRedisUrl, type RedisAddress } from '../../src/config/redis-url.ts';

const LOCAL: RedisAddress = {
  kind: 'standalone',
  isTls: false,
  hosts: [{ host: '127.0.0.1', port: 6379 }],
  username: null,
  password: null,
  db: 0,
  masterName: null,
  sentinelPassword: null,
};
const TWO = (port: number) => [
  { host: 'a.example', port },
  { host: '2001:db8::1', port: 7000 },
];

const GOOD: [string, Partial<RedisAddress>][] = [
  ['redis://127.0.0.1', {}],
  ['redis://127.0.0.1:6380/3', { hosts: [{ host: '127.0.0.1', port: 6380 }], db: 3 }],
  ['redis://127.0.0.1:1', { hosts: [{ host: '127.0.0.1', port: 1 }] }],
  ['redis://127.0.0.1:65535', { hosts: [{ host: '127.0.0.1', port: 65_535 }] }],
  ['redis://127.0.0.1/', {}],
  ['rediss://:p%40ss@127.0.0.1', { isTls: true, password: 'p@ss' }],
  ['redis://ada:a:b@127.0.0.1', { username: 'ada', password: 'a:b' }],
  ['redis://[2001:db8::1]:6380', { hosts: [{ host: '2001:db8::1', port: 6380 }] }],
  ['redis+cluster://a.example,[2001:db8::1]:7000', { kind: 'cluster', hosts: TWO(6379) }],
  ['rediss+cluster://ada:x@127.0.0.1', { kind: 'cluster', isTls: true, username: 'ada', password: 'x' }],
  ['redis+sentinel://a.example,[2001:db8::1]:7000/main', { kind: 'sentinel', hosts: TWO(26379), masterName: 'main' }],
  [
    'redis+sentinel://:x@a.example,[2001:db8::1]:7000/main/2?sentinel_password=y%26',
    { kind: 'sentinel', hosts: TWO(26379), password: 'x', masterName: 'main', db: 2, sentinelPassword: 'y&' },
  ],
];

test('valid Redis URLs', () => {
  for (const [url, expected] of GOOD) assert.deepEqual(parseRedisUrl(url), { ...LOCAL, ...expected }, url);
});

test('invalid Redis URLs', () => {
  for (const url of [
    '',
    'localhost:6379',
    'http://127.0.0.1',
    'redis://',
    'redis://:@127.0.0.1',
    'redis://ada@127.0.0.1',
    'redis://:%zz@127.0.0.1',
    'redis://127.0.0.1:0',
    'redis://127.0.0.1:65536',
    'redis://127.0.0.1/x',
    'redis://127.0.0.1/1/2',
    'redis://127.0.0.1,127.0.0.2',
    'redis://127.0.0.1?sentinel_password=x',
    'redis://127.0.0.1?db=1',
    'redis+sentinel://127.0.0.1',
    'redis+sentinel://127.0.0.1/',
    'redis+sentinel://127.0.0.1,/main',
    'redis+sentinel://127.0.0.1/%zz',
    'redis+sentinel://127.0.0.1/main?sentinel_password=%zz',
    'redis+cluster://127.0.0.1/1',
    'redis+other://127.0.0.1',
  ])
    assert.equal(parseRedisUrl(url), null, url);
});
