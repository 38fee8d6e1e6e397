import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIp } from '../../src/core/ip/address.ts';
import { formatKeyNetwork, parseKeyNetwork } from '../../src/core/ip/key-network.ts';
import { createFamilySets } from '../../src/core/ip/network-set.ts';
import {
  type DomainInput,
  type EvidenceRules,
  type FactInput,
  type ListInput,
  type ListingInput,
  toDomainEvidence,
  toFact,
  toListEntry,
  toListing,
} from '../../src/ingest/evidence.ts';

const NOW = 1_767_225_600;
const DAY = 86_400;
const RULES: EvidenceRules = { source: 'feed', nowTs: NOW, allowReserved: false, isAllowed: () => false };
const TESTED: EvidenceRules = { ...RULES, allowReserved: true };

const LISTING: ListingInput = { type: 'listing', network: '192.0.2.7', dataset: 'XBL', ts: NOW };
const DOMAIN: DomainInput = { type: 'domain', domain: 'example.com', kind: 'malware', ts: NOW };

const LISTINGS: [change: Partial<ListingInput>, reason: RegExp | null][] = [
  [{}, null],
  [{ network: '192.0.2.7/24' }, null],
  [{ network: '2001:db8::/32' }, null],
  [{ network: '192.0.2.7 ' }, /^"192\.0\.2\.7 " is no IP address/],
  [{ network: '192.0.2.0/33' }, /is no IP address and no network/],
  [{ network: '8.0.0.0/8' }, null],
  [{ network: '8.0.0.0/7' }, /^"8\.0\.0\.0\/7" is wider than \/8, which can only be a mistake$/],
  [{ network: '0.0.0.0/0' }, /wider than \/8/],
  [{ network: '2a00::/16' }, null],
  [{ network: '2a00::/15' }, /wider than \/16/],
  [{ network: '::/0' }, /wider than \/16/],
  [{ ts: NOW + DAY }, null],
  [{ ts: NOW + DAY + 1 }, /^ts: more than a day in the future/],
  [{ ts: -1 }, /^ts: must be Unix seconds/],
  [{ listedTs: NOW - DAY }, null],
  [{ listedTs: NOW + 1 }, /^listed: /],
  [{ botname: 'a\nb' }, /^botname: control characters/],
  [{ dstport: 65_535 }, null],
  [{ dstport: 65_536 }, /^dstport: /],
  [{ dstport: -1 }, /^dstport: /],
];

for (const [change, reason] of LISTINGS) {
  test(`toListing: ${JSON.stringify(change)}`, () => check(toListing({ ...LISTING, ...change }, TESTED), reason));
}

function check(result: unknown, reason: RegExp | null): void {
  if (reason === null) assert.equal(typeof result, 'object', String(result));
  else assert.match(String(result), reason);
}

test('toListing: reserved networks and networks on an allow list are refused', () => {
  assert.match(String(toListing(LISTING, RULES)), /reserved network is never listed.*--allow-reserved/);
  const allowed = parseKeyNetwork('192.0.2.0/24');
  assert.ok(allowed !== null);
  const rules = { ...TESTED, isAllowed: createFamilySets([allowed]).covers };
  assert.equal(toListing(LISTING, rules), '"192.0.2.7" is on an allow list');
  check(toListing({ ...LISTING, network: '192.0.0.0/16' }, rules), null); // wider: the answer leaves the /24 out
});

test('toListing: values are normalized', () => {
  const details = { heuristic: 'feed', cc: 'de', asn: 64500, dstip: '2001:DB8::1', helo: null };
  const listing = toListing({ ...LISTING, network: '192.0.2.7/24', botname: 'Unknown', details }, TESTED);
  assert.ok(typeof listing === 'object');
  const { network, ...rest } = listing;
  assert.equal(formatKeyNetwork(network), '192.0.2.0/24');
  assert.deepEqual(rest, {
    source: 'feed',
    dataset: 'XBL',
    family: null,
    port: null,
    listedTs: NOW,
    ts: NOW,
    details: '{"asn":"64500","cc":"DE","dstip":"2001:db8::1","heuristic":"FEED"}',
  });
});

const FAMILIES: [botname: string | null, family: string | null][] = [
  ['Mirai', 'Mirai'],
  [' Mirai ', 'Mirai'],
  ['Two words', 'Two words'],
  ['   ', null],
  ['', null],
  [' unknown', null],
  [null, null],
];

for (const [botname, family] of FAMILIES) {
  test(`the family ${JSON.stringify(botname)} is stored as ${family}`, () => {
    const listing = toListing({ ...LISTING, botname }, TESTED);
    const domain = toDomainEvidence({ ...DOMAIN, botname }, RULES);
    assert.ok(typeof listing === 'object' && typeof domain === 'object');
    assert.deepEqual([listing.family, domain.botname], [family, family]);
  });
}

const DETAILS: [key: string, accepted: unknown[], refused: unknown[]][] = [
  ['heuristic', ['MALWARE_URL'], ['two words', '', 5, 'x'.repeat(33)]],
  ['asn', ['64500', 0, 4_294_967_295], ['AS64500', -1, 4_294_967_296]],
  ['cc', ['DE'], ['D', 'DEU', 5]],
  ['lat', [-90, 12.5], [90.1, '12']],
  ['lon', [180], [180.1]],
  ['dstip', ['192.0.2.1'], ['192.0.2.0/24', 5]],
  ['srcip', ['2001:db8::1'], ['x']],
  ['srcport', [0, 65_535], [65_536, '80']],
  ['protocol', ['tcp'], [6]],
  ['helo', ['x'.repeat(255), ''], ['x'.repeat(256), 'a\0', 5]],
  ['subject', ['Hello'], ['a\nb']],
  ['domain', ['example.com'], [5]],
  ['detection', ['text'], [{}]],
  ['abused', [true, false], ['yes', 1]],
  ['shared', [true], ['no']],
  ['rule', [], ['abcdef01']],
];

for (const [key, accepted, refused] of DETAILS) {
  test(`toListing: ${key}`, () => {
    for (const value of accepted) check(toListing({ ...LISTING, details: { [key]: value } }, TESTED), null);
    for (const value of refused) {
      check(
        toListing({ ...LISTING, details: { [key]: value } }, TESTED),
        new RegExp(`^(?:unknown key "rule"|${key}: )`),
      );
    }
  });
}

const DOMAINS: [change: Partial<DomainInput>, reason: RegExp | null][] = [
  [{}, null],
  [{ domain: 'www.BÜCHER.example.' }, null],
  [{ domain: 'com' }, /^domain: "com" is a public suffix/],
  [{ domain: 'github.io' }, /public suffix/],
  [{ domain: '192.0.2.1' }, /is an address/],
  [{ domain: '2001:db8::1' }, /is an address/],
  [{ domain: 'a b' }, /is no host name/],
  [{ domain: '' }, /is no host name/],
  [{ confidence: 1 }, null],
  [{ confidence: 0 }, /^confidence: /],
  [{ confidence: 101 }, /^confidence: /],
  [{ confidence: 1.5 }, /^confidence: /],
  [{ ts: NOW + DAY + 1 }, /^ts: /],
  [{ botname: 'x'.repeat(1_025) }, /^botname: at most/],
];

for (const [change, reason] of DOMAINS) {
  test(`toDomainEvidence: ${JSON.stringify(change).slice(0, 60)}`, () =>
    check(toDomainEvidence({ ...DOMAIN, ...change }, RULES), reason));
}

test('toDomainEvidence: values are normalized, and only known tags are kept', () => {
  const tags = ['phishing', 'exe', ' Malware', 'phishing', 'toString'];
  assert.deepEqual(toDomainEvidence({ ...DOMAIN, domain: 'WWW.Example.co.uk', tags, source: 'other' }, RULES), {
    source: 'other',
    name: { hostname: 'www.example.co.uk', domain: 'example.co.uk' },
    kind: 'malware',
    ts: NOW,
    confidence: 100,
    botname: null,
    isAbused: null,
    tags: ['malware', 'phishing'],
  });
});

const FACTS: [fact: object, reason: RegExp | null][] = [
  [{ a: ['192.0.2.1', '2001:db8::1'] }, null],
  [{ a: [] }, /^a: must have at least one value/],
  [{ a: ['x'] }, /^a: "x" is no IP address/],
  [{ a: Array(1_001).fill('192.0.2.1') }, /^a: at most 1000 values/],
  [{ ns: ['ns1.example.com'] }, null],
  [{ ns: ['com'] }, /^ns: "com" is a public suffix/],
  [{ sender: { ip: '192.0.2.1' } }, null],
  [{ sender: { ip: 'x' } }, /^sender: ip/],
  [{ sender: { ip: '192.0.2.1', helo: 'x'.repeat(256) } }, /^sender: helo at most/],
  [{ whois: { created: 5 } }, null],
  [{ whois: {} }, /^whois: must have at least one/],
  [{ whois: { created: NOW + 2 * DAY } }, /^whois: ts: more than a day/],
  [{ whois: { expires: NOW + 9_999 * DAY } }, null],
  [{ whois: { expires: NOW * 1000 } }, /^whois: expires/],
  [{ whois: { registrar: 'a\nb' } }, /^whois: registrar/],
  [{ whois: { registrar: '  ' } }, /^whois: must have at least one/],
  [{ rank: 1 }, null],
  [{ rank: 0 }, /^rank: /],
];

for (const [fact, reason] of FACTS) {
  test(`toFact: ${JSON.stringify(fact).slice(0, 60)}`, () =>
    check(toFact({ type: 'fact', domain: 'example.com', ts: NOW, ...fact } as FactInput, RULES), reason));
}

test('toFact: spaces around a registrar are removed, and an empty one is unknown', () => {
  const registrarOf = (registrar: string) => {
    const fact = toFact({ type: 'fact', domain: 'example.com', ts: NOW, whois: { created: 5, registrar } }, RULES);
    return typeof fact === 'object' && fact.kind === 'whois' ? fact.registrar : fact;
  };
  assert.deepEqual([' R & Co ', '  ', ''].map(registrarOf), ['R & Co', null, null]);
});

test('toFact: the same address twice is one', () => {
  const fact = toFact({ type: 'fact', domain: 'example.com', ts: NOW, a: ['2001:db8::1', '2001:DB8:0::1'] }, RULES);
  assert.deepEqual(typeof fact === 'object' && fact.kind === 'a' && fact.ips.map(formatIp), ['2001:db8::1']);
});

const ENTRIES: [as: ListInput['as'], entry: string, result: string | RegExp][] = [
  ['allow', '192.0.2.0/24', '192.0.2.0/24'],
  ['shared', '192.0.2.1', '192.0.2.1'],
  ['shared', 'www.example.com', 'www.example.com'],
  ['popular', '.example.com', 'example.com'],
  ['popular', '*.example.com', 'example.com'],
  ['shared', '.github.io', 'github.io'],
  ['dyndns', 'duckdns.org', 'duckdns.org'],
  ['shortener', ' Example.COM ', 'example.com'],
  ['allow', '0.0.0.0/0', /wider than \/8/],
  ['allow', 'example.com', /only addresses and networks/],
  ['popular', '192.0.2.1', /only names/],
  ['shared', 'example.com/path', /neither a host name nor a network/],
  ['shared', '', /neither/],
  ['shared', 'nonsense', /neither/],
  ['popular', '.com', /neither/],
];

for (const [as, entry, result] of ENTRIES) {
  test(`toListEntry: ${entry} as ${as}`, () => {
    const parsed = toListEntry({ type: 'list', as, entry, ts: NOW, reason: 'why' }, RULES);
    if (typeof result === 'object') return check(parsed, result);
    assert.ok(typeof parsed === 'object', String(parsed));
    assert.equal('network' in parsed ? formatKeyNetwork(parsed.network) : parsed.name, result);
  });
}
