import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  integerBetween,
  isLoopback,
  readHost,
  readNetworks,
  readPath,
  readPostgresUrl,
  readPostgresUrls,
  readSwitch,
} from '../../src/config/setting-values.ts';

const CASES: [read: (text: string) => unknown, name: string, values: [text: string, value: unknown][]][] = [
  [
    readHost,
    'readHost',
    [
      ['localhost', 'localhost'],
      ['127.0.0.1', '127.0.0.1'],
      ['::', '::'],
      ['a.example', null],
      ['', null],
    ],
  ],
  [
    readPath,
    'readPath',
    [
      ['a', 'a'],
      ['', null],
    ],
  ],
  [
    readPostgresUrl,
    'readPostgresUrl',
    [
      ['postgres://h/x', 'postgres://h/x'],
      ['postgresql://h/x?y=1', 'postgresql://h/x?y=1'],
      ['postgres://h', null],
      ['mysql://h/x', null],
      ['postgres://u:p%23,w@[::1]:1,h:2,h:3/x', 'postgres://u:p%23,w@[::1]:1,h:2,h:3/x'],
      ['postgres://u:p#w@h/x', null],
      ['postgres://u:p?w@h/x', null],
      ['postgres://u:p%w@h/x', null],
      ['postgres://u:p@h:port/x', null],
      ['postgres://u:p@h:65536,h:2/x', null],
      ['postgres://u:p@/x', null],
    ],
  ],
  [
    readPostgresUrls,
    'readPostgresUrls',
    [
      ['postgres://a,b/x,postgres://c/x', ['postgres://a,b/x', 'postgres://c/x']],
      ['postgres://a/x,postgres://c', null],
      ['', null],
    ],
  ],
  [
    readNetworks,
    'readNetworks',
    [
      ['10.1.2.3/8, ::1', ['10.0.0.0/8', '::1']],
      ['192.0.2.1,0.0.0.0/0', null],
      ['::/0,192.0.2.1', null],
      ['192.0.2.1,x', null],
      ['', null],
    ],
  ],
  [
    integerBetween(5, 10),
    'integerBetween(5, 10)',
    [
      ['5', 5],
      ['10', 10],
      ['007', 7],
      ['4', null],
      ['11', null],
      ['7.5', null],
      ['', null],
    ],
  ],
  [
    readSwitch,
    'readSwitch',
    [
      ['true', true],
      ['1', true],
      ['false', false],
      ['0', false],
      ['', null],
      ['yes', null],
    ],
  ],
  [
    isLoopback,
    'isLoopback',
    [
      ['localhost', true],
      ['127.0.0.1', true],
      ['127.255.255.255', true],
      ['::1', true],
      ['::ffff:127.0.0.1', true],
      ['126.0.0.1', false],
      ['128.0.0.1', false],
      ['192.0.2.1', false],
      ['::2', false],
      ['::', false],
      ['1::1', false],
      ['::1:0:1', false],
      ['::7f00:1', false],
      ['a.example', false],
    ],
  ],
];

for (const [read, name, values] of CASES) {
  test(`${name}: valid and invalid texts`, () => {
    for (const [text, value] of values) assert.deepEqual(read(text), value, JSON.stringify(text));
  });
}
