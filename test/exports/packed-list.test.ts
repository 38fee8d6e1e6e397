import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KeyNetwork, parseKeyNetwork } from '../../src/core/ip/key-network.ts';
import type { ListWithoutSerial } from '../../src/exports/entries.ts';
import { formatsOf, renderList } from '../../src/exports/formats/formats.ts';
import { packList, unpackEntries } from '../../src/exports/packed-list.ts';

const network = (text: string): KeyNetwork => parseKeyNetwork(text) as KeyNetwork;
const OF_LIST = { name: 'list', leftOut: { excluded: 1 }, nextEndTs: null };

const LISTS = [
  {
    list: {
      ...OF_LIST,
      kind: 'urls',
      entries: [
        {
          id: 1,
          url: 'http://a.example/x',
          host: 'a.example',
          status: 'online',
          sinceTs: 10,
          seenTs: 20,
          reporter: 'a',
          family: 'Mirai',
          sha256: 'ab'.repeat(32),
          tags: ['elf'],
        },
      ],
    },
    other: {
      id: 2,
      url: 'http://a.example/y',
      status: 'offline',
      sinceTs: 11,
      seenTs: 21,
      reporter: 'b',
      family: null,
      sha256: null,
      tags: ['elf', 'mips'],
    },
    keys: ['url'],
  },
  {
    list: {
      ...OF_LIST,
      kind: 'hosts',
      entries: [
        { host: 'a.example', domain: 'a.example', score: -10, sinceTs: 10, seenTs: 20, families: ['Mirai'], urls: 1 },
      ],
    },
    other: { host: 'b.example', domain: 'b.example', score: -11, sinceTs: 11, seenTs: 21, families: [], urls: 2 },
    keys: ['host'],
  },
  {
    list: {
      ...OF_LIST,
      kind: 'addresses',
      entries: [
        {
          network: network('192.0.2.1'),
          dataset: 'XBL',
          listedTs: 10,
          seenTs: 20,
          validUntilTs: 30,
          family: 'Mirai',
          port: 80,
          sources: ['a'],
        },
      ],
    },
    other: {
      network: network('192.0.2.2'),
      dataset: 'BCL',
      listedTs: 11,
      seenTs: 21,
      validUntilTs: 31,
      family: null,
      port: null,
      sources: ['a', 'b'],
    },
    keys: ['network', 'dataset'],
  },
] as const;

/** The test makes lists of fields one by one, whose types nobody can follow. */
const hex = (list: object): string[] => {
  const { hash, keysHash } = packList(list as ListWithoutSerial);
  return [hash, keysHash].map((one) => Buffer.from(one).toString('hex'));
};

for (const { list, other, keys } of LISTS) {
  test(`the hash of a list of ${list.kind} follows from every field, that of its keys from the keys alone`, () => {
    const [hash, keysHash] = hex(list);
    const [entry] = list.entries;
    assert.deepEqual(hex(structuredClone(list)), [hash, keysHash]);
    for (const [field, value] of Object.entries(other)) {
      const changed = hex({ ...list, entries: [{ ...entry, [field]: value }] });
      assert.notEqual(changed[0], hash, field);
      assert.equal(changed[1] !== keysHash, keys.includes(field as never), field);
    }
    // The host of a URL is a part of it.
    assert.deepEqual(
      Object.keys(other).sort(),
      Object.keys(entry)
        .filter((field) => list.kind !== 'urls' || field !== 'host')
        .sort(),
    );
    const [leftOut, leftOutKeys] = hex({ ...list, leftOut: { excluded: 2 } });
    assert.ok(leftOut !== hash && leftOutKeys !== keysHash);
    assert.deepEqual(
      hex({ ...list, leftOut: { excluded: 1, address: 2 } }),
      hex({ ...list, leftOut: { address: 2, excluded: 1 } }),
    );
    const [lacking, lackingKeys] = hex({ ...list, lacksNameLists: true });
    assert.ok(lacking !== hash && lackingKeys !== keysHash);
  });
}

for (const { list, other } of LISTS) {
  test(`a packed list of ${list.kind} has every field of every entry`, () => {
    const [entry] = list.entries;
    const second = { ...entry, ...other };
    const entries = Array.from({ length: 2_500 }, (_, i) => (i % 2 === 0 ? entry : second));
    for (const some of [entries, [entry], []]) {
      const packed = packList({ ...list, entries: some } as ListWithoutSerial);
      assert.deepEqual([...unpackEntries(packed, true)], some);
      assert.equal(packed.count, some.length);
    }
  });
}

for (const { list, other } of LISTS) {
  test(`formats for devices read no field of a list of ${list.kind} but its keys`, () => {
    const [entry] = list.entries;
    const whole = { ...list, entries: [entry, { ...entry, ...other }] } as ListWithoutSerial;
    const packed = packList(whole);
    const formats = formatsOf(whole.kind).filter(({ hasAllFields }) => !hasAllFields);
    assert.ok(formats.length > 0);
    for (const format of formats) {
      const [bare, complete] = [unpackEntries(packed, false), whole.entries].map((entries) =>
        renderList({ ...whole, entries, serial: 1 }, format, { max: null, profile: null }),
      );
      assert.deepEqual(bare, complete, format.name);
    }
  });
}
