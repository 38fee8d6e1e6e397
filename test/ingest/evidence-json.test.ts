import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ADDRESS_DATASETS, DOMAIN_KINDS, DOMAIN_TAGS } from '../../src/core/evidence.ts';
import {
  type EvidenceInput,
  type EvidenceRules,
  toDomainEvidence,
  toFact,
  toListing,
} from '../../src/ingest/evidence.ts';
import {
  isEvidence,
  parseEvidence,
  printDomainEvidence,
  printFact,
  printListing,
} from '../../src/ingest/evidence-json.ts';

const NOW = 1_800_000_000;
const RULES: EvidenceRules = { source: 'feed', nowTs: NOW, allowReserved: true, isAllowed: () => false };

const LINES: [line: string, printed: string | RegExp][] = [
  [
    '{"ts":5,"ip":"192.0.2.7","dataset":"BCL","botname":"Mirai","dstport":443,"abused":true,"cc":"de","listed":3}',
    '{"ts":5,"ip":"192.0.2.7","dataset":"BCL","feed":"feed","listed":3,"botname":"Mirai","dstport":443,"abused":true,"cc":"DE"}',
  ],
  [
    '{"domain":"a.example","heuristic":"X","feed":"f","dataset":"XBL","cidr":"192.0.2.7/24","ts":5}',
    '{"ts":5,"cidr":"192.0.2.0/24","dataset":"XBL","feed":"f","domain":"a.example","heuristic":"X"}',
  ],
  [
    '{"ts":5,"domain":"WWW.example.com","kind":"phishing","tags":["x","phishing"],"abused":false,"botname":"B"}',
    '{"ts":5,"domain":"www.example.com","kind":"phishing","feed":"feed","confidence":100,"botname":"B","abused":false,"tags":["phishing"]}',
  ],
  ['{"ts":5,"domain":"a.example","a":"192.0.2.1"}', '{"ts":5,"domain":"a.example","a":["192.0.2.1"]}'],
  [
    '{"ts":5,"domain":"a.example","a":["192.0.2.1","2001:db8::1"],"feed":"f"}',
    '{"ts":5,"domain":"a.example","a":["192.0.2.1","2001:db8::1"]}',
  ],
  ['{"ts":5,"domain":"a.example","ns":["NS1.b.example"]}', '{"ts":5,"domain":"a.example","ns":["ns1.b.example"]}'],
  [
    '{"ts":5,"domain":"a.example","sender":{"helo":"mx","ip":"192.0.2.1"}}',
    '{"ts":5,"domain":"a.example","sender":{"ip":"192.0.2.1","helo":"mx"}}',
  ],
  [
    '{"ts":5,"domain":"a.example","whois":{"registrar":"R","created":1,"expires":null}}',
    '{"ts":5,"domain":"a.example","whois":{"created":1,"registrar":"R"}}',
  ],
  ['{"ts":5,"domain":"a.example","rank":7,"feed":"top"}', '{"ts":5,"domain":"a.example","feed":"top","rank":7}'],

  ['{"ip":"192.0.2.7","dataset":"BCL"}', /^ts is missing$/],
  ['{"ts":5,"dataset":"BCL"}', /^exactly one of ip and cidr is needed$/],
  ['{"ts":5,"dataset":"BCL","ip":"192.0.2.1","cidr":"192.0.2.0/24"}', /^exactly one of ip and cidr/],
  ['{"ts":5,"dataset":"BCL","ip":"192.0.2.0/24"}', /^ip: must be an IP address$/],
  ['{"ts":5,"dataset":"bcl","ip":"192.0.2.1"}', /^dataset: must be one of "XBL", "CSS", "BCL", "DROP"$/],
  [
    '{"ts":5,"dataset":"BCL","ip":"192.0.2.1","url":"x"}',
    /^unknown key "url"; allowed keys: ts, ip, cidr, dataset, feed/,
  ],
  ['{"ts":5,"dataset":"BCL","ip":"192.0.2.1","cc":null}', /^cc: must not be null/],
  ['{"ts":5,"dataset":"BCL","ip":"192.0.2.1","feed":""}', /^feed: the name is empty/],
  ['{"ts":5,"dataset":"BCL","ip":"192.0.2.1","feed":"a|b"}', /^feed: the character \| is not allowed/],
  ['{"ts":5,"dataset":"BCL","ip":"192.0.2.1","feed":7}', /^feed: must be a string/],
  ['{"ts":5,"dataset":"BCL","ip":"192.0.2.1","feed":"URL data"}', /^feed: this name is used/],
  ['{"ts":1800086401,"dataset":"BCL","ip":"192.0.2.1"}', /^ts: more than a day in the future/],
  ['{"ts":5,"dataset":"BCL","ip":"192.0.2.1","listed":6}', /^listed: /],
  [
    '{"ts":5,"domain":"a.example"}',
    /^with domain, exactly one of dataset, kind, a, ns, sender, whois, rank is needed$/,
  ],
  ['{"ts":5,"domain":"a.example","rank":1,"a":"192.0.2.1"}', /^with domain, exactly one of/],
  ['{"ts":5,"domain":"a.example","kind":"spam"}', /^kind: must be one of/],
  ['{"ts":5,"domain":"a.example","kind":"malware","confidence":0}', /^confidence: must be an integer from 1 to 100/],
  ['{"ts":5,"domain":"a.example","kind":"malware","confidence":101}', /^confidence: must be an integer from 1 to 100/],
  ['{"ts":5,"domain":"a.example","kind":"malware","confidence":"75"}', /^confidence: must be an integer from 1 to 100/],
  ['{"ts":5,"domain":"a.example","kind":"malware","confidence":null}', /^confidence: must be an integer from 1 to 100/],
  ['{"ts":5,"domain":"a.example","kind":"malware","tags":"x"}', /^tags: must be a list/],
  [
    '{"ts":5,"domain":"a.example","kind":"malware","a":["192.0.2.1"]}',
    /^unknown key "a"; allowed keys: ts, domain, kind/,
  ],
  ['{"ts":5,"domain":"a.example","sender":{"helo":"x"}}', /^sender: ip is missing/],
  ['{"ts":5,"domain":"a.example","whois":{"owner":"x"}}', /^whois: unknown key "owner"/],
  ['{"ts":5,"domain":"a.example","kind":"malware","tags":[7]}', /^tags: must be a list of strings$/],
  ['{"ts":5,"domain":"a.example","a":["192.0.2.1",7]}', /^a: must be a string, or a list of strings$/],
  ['{"ts":5,"domain":"a.example","a":"\\u0007"}', /^a: control characters and unpaired surrogates are not allowed$/],
  [
    '{"ts":5,"domain":"a.example","whois":{"expires":"2027-01-01"}}',
    /^whois: expires: must be an integer: Unix seconds/,
  ],
  ['{"ts":5,"domain":"a.example","rank":1.5}', /^rank: must be an integer from 1$/],
  ['{"ts":5,"domain":"a.example","rank":"7"}', /^rank: must be an integer from 1$/],
  ['{"ts":5,"domain":7,"rank":1}', /^domain: must be a string/],
];

for (const [line, printed] of LINES) {
  test(line, () => {
    const value = JSON.parse(line);
    assert.ok(isEvidence(value));
    const result = reprint(parseEvidence(value, NOW));
    if (typeof printed === 'string') assert.equal(result, printed);
    else assert.match(result, printed);
  });
}

/** The normalized line, or the reason of a refusal. */
function reprint(input: EvidenceInput | string): string {
  if (typeof input === 'string') return input;
  switch (input.type) {
    case 'listing':
      return printOr(toListing(input, RULES), printListing);
    case 'domain':
      return printOr(toDomainEvidence(input, RULES), printDomainEvidence);
    case 'fact':
      return printOr(toFact(input, RULES), printFact);
    case 'list':
      return 'no line of this kind exists';
  }
}

function printOr<T>(value: T | string, print: (value: T) => string): string {
  return typeof value === 'string' ? value : print(value);
}

const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((one) => !/[\p{Cc}\p{Cs}]/u.test(one));
const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const ip = fc.oneof(fc.ipV4(), fc.ipV6());
const seconds = fc.integer({ min: 1_000, max: NOW });
const feed = text.filter((name) => name !== '' && !name.includes('|'));
const name = fc.constantFrom('example.com', 'a.b.example.co.uk', 'user.github.io', 'xn--bcher-kva.example');
const listings = fc.record({
  ts: seconds,
  cidr: fc.oneof(
    fc.tuple(fc.ipV4(), fc.integer({ min: 8, max: 32 })).map(([net, prefix]) => `${net}/${prefix}`),
    fc.tuple(fc.ipV6(), fc.integer({ min: 16, max: 128 })).map(([net, prefix]) => `${net}/${prefix}`),
  ),
  dataset: fc.constantFrom(...ADDRESS_DATASETS),
  feed: optional(feed),
  listed: optional(fc.integer({ min: 0, max: 1_000 })),
  botname: optional(text),
  dstport: optional(fc.integer({ min: 0, max: 65_535 })),
  subject: optional(text),
  lat: optional(fc.double({ min: -90, max: 90, noNaN: true })),
  asn: optional(fc.integer({ min: 0, max: 4_294_967_295 })),
  srcip: optional(ip),
  shared: optional(fc.boolean()),
});
const domains = fc.record({
  ts: seconds,
  domain: name,
  kind: fc.constantFrom(...DOMAIN_KINDS),
  feed: optional(feed),
  confidence: optional(fc.integer({ min: 1, max: 100 })),
  botname: optional(text),
  abused: optional(fc.boolean()),
  tags: optional(fc.array(fc.oneof(fc.constantFrom(...Object.keys(DOMAIN_TAGS)), text))),
});
const facts = fc.oneof(
  fc.record({ ts: seconds, domain: name, a: fc.array(ip, { minLength: 1 }) }),
  fc.record({ ts: seconds, domain: name, ns: fc.array(name, { minLength: 1 }) }),
  fc.record({ ts: seconds, domain: name, sender: fc.record({ ip, helo: text }) }),
  fc.record({ ts: seconds, domain: name, whois: fc.record({ created: seconds, registrar: text }) }),
  fc.record({ ts: seconds, domain: name, feed, rank: fc.integer({ min: 1 }) }),
);

test('what is printed is parsed again as the same evidence', () => {
  fc.assert(
    fc.property(fc.oneof(listings, domains, facts), (value) => {
      const given = JSON.parse(JSON.stringify(value));
      const printed = reprint(parseEvidence(given, NOW));
      assert.ok(printed.startsWith('{'), `${JSON.stringify(given)}: ${printed}`);
      assert.equal(reprint(parseEvidence(JSON.parse(printed), NOW)), printed);
    }),
    { numRuns: 500 },
  );
});
