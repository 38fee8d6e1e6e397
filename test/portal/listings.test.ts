import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptCost, takeAccepted } from '../../portal/cost.ts';
import {
  byDataset,
  type Dataset,
  detailTexts,
  endText,
  hostListings,
  type Listing,
  verdictOf,
} from '../../portal/listings.ts';
import { networksAround } from '../../portal/networks.ts';

const DAY = 86_400;
const NOW = Date.UTC(2026, 10, 10) / 1_000;

const listing = (more: Partial<Listing>): Listing => ({
  dataset: 'XBL',
  state: 'live',
  cidr: '203.0.113.7',
  listed_ts: NOW - 9 * DAY,
  seen_ts: NOW - DAY,
  valid_until_ts: NOW + 6 * DAY,
  removed_ts: null,
  source: 'example',
  botname: null,
  details: {},
  ...more,
});
const past = { state: 'past', seen_ts: NOW - 30 * DAY, valid_until_ts: NOW - 23 * DAY } as const;

test('the verdict of an address', () => {
  const verdict = (...listings: Listing[]) => verdictOf({ cidr: '203.0.113.7', listings }, NOW);
  assert.equal(verdict().state, 'clean');
  assert.deepEqual(verdict(listing({ ...past, seen_ts: NOW - 40 * DAY }), listing(past)), {
    state: 'past',
    datasets: [],
    text: '2 past listings, last seen 30 days ago',
  });
  const around = listing({ cidr: '203.0.113.0/25', dataset: 'DROP', valid_until_ts: NOW + 2 * DAY });
  const listed = verdict(around, listing({}), listing({ ...past, dataset: 'BCL' }));
  assert.deepEqual([listed.state, listed.datasets], ['listed', ['DROP', 'XBL']]);
  assert.equal(listed.text, 'until 16 Nov 2026 unless it is seen again');
});

test('a listed address inside a network does not list the network', () => {
  const verdict = (...listings: Listing[]) => verdictOf({ cidr: '203.0.113.0/24', listings }, NOW);
  const { state, text } = verdict(listing({}), listing({ dataset: 'BCL' }), listing({ cidr: '203.0.113.128/25' }));
  assert.deepEqual([state, text], ['inside', '2 listed addresses or networks inside']);
  assert.equal(verdict(listing({})).text, '1 listed address or network inside');
  const around = listing({ cidr: '203.0.0.0/16', dataset: 'DROP' });
  const listed = verdict(listing({}), around);
  assert.deepEqual([listed.state, listed.datasets], ['listed', ['DROP']], 'what is inside says nothing about it');
});

test('listings by dataset: dangerous ones first, live ones first', () => {
  const newer = { seen_ts: NOW };
  const groups = byDataset([
    listing({ ...past, ...newer }),
    listing(past),
    listing({}),
    listing(newer),
    listing({ dataset: 'BCL' }),
  ]);
  assert.deepEqual(
    groups.map(([dataset, found]) => [dataset, found.map(({ state, seen_ts }) => [state, (NOW - seen_ts) / DAY])]),
    [
      ['BCL', [['live', 1]]],
      [
        'XBL',
        [
          ['live', 0],
          ['live', 1],
          ['past', 0],
          ['past', 30],
        ],
      ],
    ],
  );
});

test('details and ends in words', () => {
  const details = { dstport: 8080, cc: 'ZZ', abused: true, shared: false, unheard: 'of' };
  assert.deepEqual(detailTexts(details), ['port 8080', 'country ZZ', 'abused machine of a third party', 'unheard of']);
  assert.equal(endText(listing({}), NOW), 'until 16 Nov 2026');
  assert.equal(endText(listing(past), NOW), 'ended 23 days ago');
  assert.equal(endText(listing({ ...past, removed_ts: NOW - 3_600 }), NOW), 'removed by an administrator 1 hour ago');
});

test('networks around an address or a network, with what they cost', () => {
  const around = (cidr: string) => networksAround(cidr).map(({ path, cost }) => [path, cost]);
  assert.deepEqual(around('203.0.113.77'), [
    ['/network/203.0.113.64/28', 5],
    ['/network/203.0.113.0/24', 9],
    ['/search?ip=203.0.0.0%2F16', 17],
  ]);
  assert.deepEqual(around('203.0.113.0/24'), [['/search?ip=203.0.0.0%2F16', 17]]);
  assert.deepEqual(around('2001:db8:1:234::1'), [
    ['/network/2001:db8:1:234::/64', 1],
    ['/network/2001:db8:1:200::/56', 9],
    ['/search?ip=2001%3Adb8%3A1%3A%3A%2F48', 17],
  ]);
});

test('that the host of a URL is listed, with the page that says why', () => {
  const named = {
    host: 'gate.bad.example',
    domain: 'bad.example',
    addresses: [{ ip: '203.0.113.7' }],
    address_listed: [],
    domain_listed: false,
  };
  const address = { ...named, host: '198.51.100.66', domain: null, addresses: [], domain_listed: null };
  const datasets: Dataset[] = ['XBL', 'BCL'];
  const text = 'Address listed: botnet controller, infected or attacking host';
  assert.deepEqual(hostListings(named), []);
  assert.deepEqual(hostListings({ ...address, address_listed: datasets }), [{ text, path: '/address/198.51.100.66' }]);
  assert.deepEqual(hostListings({ ...address, host: '[2001:db8::1]', address_listed: datasets }), [
    { text, path: '/address/2001:db8::1' },
  ]);
  assert.deepEqual(hostListings({ ...named, address_listed: datasets, domain_listed: true }), [
    { text, path: '/address/203.0.113.7' },
    { text: 'Domain listed', path: '/domain/bad.example' },
  ]);
  const several = [{ ip: '203.0.113.7' }, { ip: '203.0.113.8' }];
  assert.deepEqual(hostListings({ ...named, addresses: several, address_listed: datasets }), [{ text, path: null }]);
});

test('an accepted cost holds once, for one page', () => {
  acceptCost('/network/203.0.113.0/24');
  assert.deepEqual(
    [1, 2].map(() => takeAccepted('/network/203.0.113.0/24')),
    [true, false],
  );
  acceptCost('/network/203.0.113.0/24');
  assert.equal(takeAccepted('/network/198.51.100.0/24'), false);
});
