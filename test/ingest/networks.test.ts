import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { parseIp } from '../../src/core/ip/address.ts';
import { toObservation } from '../../src/core/observation.ts';
import { type Networks, openNetworks, refillNetworks } from '../../src/ingest/networks.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { factsOf } from '../urls/contract/observations.ts';
import { mmdbOf } from './mmdb.ts';

const asnOf = (networks: Networks, address: string) => networks.asnOf(parseIp(address) ?? assert.fail(address));

/** The address as a decimal number, as in the npm data set. */
function numberOf(address: string): string {
  const key = parseIp(address) ?? assert.fail(address);
  const bytes = address.includes(':') ? key : key.subarray(12);
  return `${BigInt(`0x${Buffer.from(bytes).toString('hex')}`)}`;
}

const row = (from: string, to: string, asn: number | string, name = '"Name, with comma"') =>
  `${numberOf(from)},${numberOf(to)},${asn},${name}\n`;

const IPV4 = [
  row('192.0.2.0', '192.0.2.127', 64500),
  row('192.0.2.128', '192.0.2.255', 64501, 'plain'),
  row('198.51.100.0', '198.51.100.255', 0),
  row('203.0.113.0', '255.255.255.255', 4_294_967_295),
].join('');
const IPV6 = [row('2001:db8::', '2001:db8:0:ffff:ffff:ffff:ffff:ffff', 64510), row('3fff::', '3fff::1', 64511)].join(
  '',
);

function csvFolder(t: TestContext, ipv4 = IPV4, ipv6 = IPV6): string {
  const folder = join(temporaryFolder(t), 'asn');
  mkdirSync(folder);
  writeFileSync(join(folder, 'asn-ipv4-num.csv'), ipv4);
  writeFileSync(join(folder, 'asn-ipv6-num.csv'), ipv6);
  return folder;
}

function mmdbFile(t: TestContext, networks = MMDB): string {
  const file = join(temporaryFolder(t), 'asn.mmdb');
  writeFileSync(file, mmdbOf(networks));
  return file;
}

const MMDB = {
  '192.0.2.0/25': { autonomous_system_number: 64500, name: 'x' },
  '192.0.2.128/25': { asn: 'AS64501' },
  '198.51.100.0/24': { country: 'ZZ' },
  '203.0.113.0/24': { autonomous_system_number: 4_294_967_295 },
  '2001:db8::/48': { autonomous_system_number: 64510 },
};

const VECTORS = [
  ['192.0.2.0', 64500],
  ['192.0.2.127', 64500],
  ['::ffff:192.0.2.127', 64500],
  ['192.0.2.128', 64501],
  ['192.0.2.255', 64501],
  ['192.0.3.0', null],
  ['192.0.1.255', null],
  ['0.0.0.0', null],
  ['198.51.100.1', null],
  ['203.0.113.9', 4_294_967_295],
  ['2001:db8::', 64510],
  ['2001:db8:0:ffff:ffff:ffff:ffff:ffff', 64510],
  ['2001:db8:1::', null],
  ['2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', null],
  ['::', null],
  ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
] as const;

for (const [kind, make] of [
  ['MMDB file', mmdbFile],
  ['npm data set', csvFolder],
] as const) {
  describe(`networks from an ${kind}`, () => {
    for (const [address, asn] of VECTORS) {
      test(`${address} is in ${asn === null ? 'no network' : `AS${asn}`}`, (t) =>
        assert.equal(asnOf(openNetworks(make(t)), address), asn));
    }
  });
}

describe('names of networks', () => {
  const networkOf = (networks: Networks, address: string) => networks.networkOf(parseIp(address) ?? assert.fail());

  test('of the npm data set, by address and by AS number', (t) => {
    const ipv6 =
      row('2001:db8::', '2001:db8::ff', 64510, '"Ein ""Netz"" für Ümläute"\r') + row('3fff::', '3fff::1', 7, '');
    const networks = openNetworks(csvFolder(t, IPV4, ipv6.trimEnd()));
    assert.deepEqual(networkOf(networks, '192.0.2.1'), { asn: 64500, name: 'Name, with comma' });
    assert.deepEqual(networkOf(networks, '192.0.2.200'), { asn: 64501, name: 'plain' });
    assert.deepEqual(networkOf(networks, '2001:db8::1'), { asn: 64510, name: 'Ein "Netz" für Ümläute' });
    assert.deepEqual(networkOf(networks, '3fff::'), { asn: 7, name: null });
    assert.equal(networkOf(networks, '198.51.100.1'), null);
    const names = [64500, 64501, 4_294_967_295, 7, 0, 64502].map((asn) => networks.nameOf(asn));
    assert.deepEqual(names, ['Name, with comma', 'plain', 'Name, with comma', null, null, null]);
  });

  test('of an MMDB file, by address, and then by AS number', (t) => {
    const networks = openNetworks(
      mmdbFile(t, {
        ...MMDB,
        '192.0.2.0/25': { autonomous_system_number: 64500, autonomous_system_organization: 'Example Net' },
        '192.0.2.128/25': { asn: 'AS64501', as_name: 'Other' },
      } as unknown as typeof MMDB),
    );
    assert.equal(networks.nameOf(64500), null);
    assert.deepEqual(networkOf(networks, '192.0.2.1'), { asn: 64500, name: 'Example Net' });
    assert.deepEqual(networkOf(networks, '192.0.2.128'), { asn: 64501, name: 'Other' });
    assert.deepEqual(networkOf(networks, '2001:db8::'), { asn: 64510, name: null });
    assert.equal(networkOf(networks, '198.51.100.1'), null);
    assert.deepEqual(
      [64500, 64501, 64510].map((asn) => networks.nameOf(asn)),
      ['Example Net', 'Other', null],
    );
  });

  test('without a table there are none', () => {
    assert.equal(networkOf(openNetworks(null), '192.0.2.1'), null);
    assert.equal(openNetworks(null).nameOf(64500), null);
  });
});

describe('networks', () => {
  test('without a table every AS number is unknown', () => assert.equal(asnOf(openNetworks(null), '192.0.2.1'), null));

  test('a table may be empty, and its last line may have no line feed', (t) => {
    const networks = openNetworks(csvFolder(t, IPV4.trimEnd(), ''));
    assert.equal(asnOf(networks, '203.0.113.9'), 4_294_967_295);
    assert.equal(asnOf(networks, '2001:db8::'), null);
  });

  test('if ranges overlap, as in real data, the later start wins', (t) => {
    const networks = openNetworks(
      csvFolder(t, row('192.0.2.0', '192.0.2.99', 1) + row('192.0.2.50', '192.0.2.200', 2)),
    );
    assert.deepEqual(
      ['192.0.2.49', '192.0.2.50'].map((address) => asnOf(networks, address)),
      [1, 2],
    );
  });

  for (const [why, text] of [
    ['not a number', 'x,2,3,n\n'],
    ['an empty field', ',2,3,n\n'],
    ['too few fields', '1,2\n3,4,5,n\n'],
    ['an empty line', '1,2,3,n\n\n'],
    ['an address beyond the family', '1,4294967296,3,n\n'],
    ['an ASN beyond 32 bits', '1,2,4294967296,n\n'],
    ['an end before its start', '2,1,3,n\n'],
    ['unsorted lines', '5,6,1,n\n1,2,1,n\n'],
  ] as const) {
    test(`a table is refused for ${why}`, (t) => {
      assert.throws(() => openNetworks(csvFolder(t, text)), /asn-ipv4-num\.csv: line \d/);
    });
  }

  test('a missing or invalid table is refused with a reason', (t) => {
    const folder = temporaryFolder(t);
    assert.throws(() => openNetworks(join(folder, 'none.mmdb')), /does not exist: check --asn-db/);
    writeFileSync(join(folder, 'text.mmdb'), 'hello');
    assert.throws(() => openNetworks(join(folder, 'text.mmdb')), /is not a readable MMDB file/);
    assert.throws(() => openNetworks('npm'), /npm install --no-save @ip-location-db\/asn/);
  });

  for (const [kind, make, replace] of [
    [
      'MMDB file',
      mmdbFile,
      (file: string) => writeFileSync(file, mmdbOf({ '192.0.2.0/24': { autonomous_system_number: 7 } })),
    ],
    [
      'npm data set',
      csvFolder,
      (folder: string) => writeFileSync(join(folder, 'asn-ipv4-num.csv'), row('192.0.2.0', '192.0.2.255', 7)),
    ],
  ] as const) {
    test(`a changed ${kind} is reloaded; a damaged one is reported, and the old one stays in use`, async (t) => {
      const failures: unknown[] = [];
      const timers: (() => void)[] = [];
      let isStopped = false;
      const place = make(t);
      const networks = openNetworks(place, {
        every(_ms, work) {
          timers.push(work);
          return () => {
            isStopped = true;
          };
        },
        onFailure: (error) => failures.push(error),
      });
      const [poll = () => assert.fail()] = timers;
      poll();
      replace(place);
      assert.equal(asnOf(networks, '192.0.2.1'), 64500);
      await until(() => {
        poll();
        return asnOf(networks, '192.0.2.1') === 7;
      }, 'the new table is used');
      writeFileSync(kind === 'MMDB file' ? place : join(place, 'asn-ipv6-num.csv'), 'half a fi');
      await until(() => {
        poll();
        return failures.length > 0;
      }, 'the damage is reported');
      poll();
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual([asnOf(networks, '192.0.2.1'), failures.length], [7, 1]);
      assert.match(
        String((failures[0] as Error).message),
        /is not a readable MMDB file|asn-ipv6-num\.csv: line 1 must be/,
      );
      networks.close();
      assert.ok(isStopped);
    });
  }
});

describe('refilling networks', () => {
  test('sets missing AS numbers and keeps existing ones', async (t) => {
    const store = await openIntelligence({ dataDir: temporaryFolder(t) });
    t.after(() => store.close());
    const ts = 1_767_225_600;
    const seen = [
      { ts, url: 'http://192.0.2.1/a' },
      { ts, url: 'http://192.0.2.1/b' },
      { ts, url: 'http://192.0.2.2/', asn: 64999 },
      { ts, url: 'http://192.88.0.1/' },
      { ts, url: 'http://a.example/', ip: ['192.0.2.200', '2001:db8::5'] },
    ].map((input) => {
      const parsed = toObservation(input);
      assert.ok(parsed.ok);
      return parsed.observation;
    });
    await store.apply(seen);
    const networks = openNetworks(mmdbFile(t));
    const refill = () => refillNetworks(store, networks, new AbortController().signal);
    assert.deepEqual(await refill(), { addresses: 4, unknown: 1, resolutions: 4 });
    assert.deepEqual(await refill(), { addresses: 1, unknown: 1, resolutions: 0 });
    const found = async (asn: number) => {
      const urls: string[] = [];
      const window = { since: 0, until: ts };
      const bounds = { limit: 99, signal: new AbortController().signal };
      for await (const lines of store.search({ by: 'asn', asn }, window, bounds))
        urls.push(...factsOf(lines).map(({ url }) => url));
      return urls.sort();
    };
    assert.deepEqual(await found(64500), ['http://192.0.2.1/a', 'http://192.0.2.1/b']);
    assert.deepEqual(await found(64999), ['http://192.0.2.2/']);
    assert.deepEqual(await found(64501), ['http://a.example/']);
  });
});
