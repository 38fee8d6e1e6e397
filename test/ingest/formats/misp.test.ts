import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { AppError } from '../../../src/core/errors.ts';
import { misp } from '../../../src/ingest/formats/misp.ts';
import { familiesOf } from '../../../src/ingest/formats/misp-group.ts';
import { sourceOf } from '../../../src/ingest/sources/source.ts';
import { cpuTimeMs } from '../../cpu-time.ts';
import { importWorld, textSource } from '../import-world.ts';
import {
  evidenceOf,
  fixture,
  inChunks,
  inputsOf,
  readFixture,
  readSource,
  readText,
  readWith,
  rejectsOf,
  timesOf,
  ts,
} from './read-items.ts';

const EVENT_ID = '8e0c1f3a-0000-4000-8000-000000000001';
const EVENT = readFileSync(fixture(`misp-feed/${EVENT_ID}.json`), 'utf8');

test('an event has URLs with their addresses, files and families', async () => {
  const items = await readText(misp, EVENT);
  const reporter = 'Example CERT';
  const unknown = { fileType: null, fileExt: null, family: 'Mirai' };
  const tags = ['tlp:clear', 'misp-galaxy:malpedia="Mirai"'];
  const payload = { family: 'Mirai' };
  assert.deepEqual(inputsOf(items), [
    { ts: 1752760000, url: 'http://www.example.com/a', reporter, ip: ['198.51.100.4'], payload, tags },
    {
      ts: ts('2025-07-17T08:00:00Z'),
      url: 'http://files.example.org/b',
      reporter,
      payload: { family: 'Emotet' },
      tags: ['misp-galaxy:mitre-malware="Emotet - S0367"', ...tags],
    },
    { ts: ts('2025-07-17T12:00:00Z'), url: 'http://files.example.org/b', reporter },
    {
      ts: 1752765000,
      url: 'http://cdn.example.net/c',
      reporter,
      ip: ['203.0.113.9'],
      payload: {
        ...unknown,
        sha256: hash('sha256', 'file a'),
        fileName: 'c.sh',
        fileSize: 1842,
        mimeType: 'text/x-shellscript',
      },
      tags,
    },
  ]);
  assert.deepEqual(
    items.flatMap((item) => (item.kind === 'file' ? item.file : [])),
    [{ ...unknown, sha256: hash('sha256', 'file b'), fileName: 'b.exe', fileSize: null, mimeType: null }],
  );
  assert.deepEqual(timesOf(items), [1752773600]);
  assert.deepEqual(
    rejectsOf(items).map(({ reason }) => reason),
    ['ip-dst: must be an IP address'],
  );
});

test('a feed is read from its folder by its manifest; a missing event is a reject', async () => {
  const items = await readFixture(misp, 'misp-feed');
  assert.deepEqual(inputsOf(items), inputsOf(await readText(misp, EVENT)));
  assert.match(rejectsOf(items).at(-1)?.reason ?? '', /000002\.json: there is no such file/);
  const row = items.find((item) => item.kind === 'observations');
  assert.ok(row?.kind === 'observations' && row.text.startsWith(`${EVENT_ID}.json: {"type":"url"`));
});

test('a network error in a feed ends the import', async () => {
  const down = sourceOf('down', failing(new AppError('unavailable', 'no answer')), null, () => null);
  const manifest = sourceOf('manifest', inChunks(Buffer.from(`{"${EVENT_ID}":{}}`), 99), null, () => down);
  await assert.rejects(readSource(misp, manifest), /no answer/);
});

test('a manifest cannot lead out of its folder', async () => {
  const requested: string[] = [];
  const manifest = JSON.stringify({ [EVENT_ID]: {}, '../../etc/passwd': {}, [`${EVENT_ID}/../x`]: {} });
  const source = sourceOf('manifest', inChunks(Buffer.from(manifest), 99), null, (name) => {
    requested.push(name);
    return null;
  });
  const items = await readSource(misp, source);
  assert.deepEqual(requested, [`${EVENT_ID}.json`]);
  assert.equal(rejectsOf(items).length, 3);
});

test('lists of events are read, as the API returns them', async () => {
  const one = JSON.parse(EVENT);
  const other = { Event: { date: '2025-01-02', Attribute: [{ type: 'url', value: 'http://192.0.2.1/' }] } };
  const expected = [
    ...inputsOf(await readText(misp, EVENT)),
    { ts: ts('2025-01-02T00:00:00Z'), url: 'http://192.0.2.1/', reporter: '' },
  ];
  for (const list of [[one, other], { response: [one, other] }]) {
    assert.deepEqual(inputsOf(await readText(misp, JSON.stringify(list))), expected);
  }
});

const URL_A = { type: 'url', value: 'http://www.example.com/a', timestamp: '1752760000' };
const URL_B = { type: 'url', value: 'http://www.example.com/b', timestamp: '1752760000' };
const URL_ELSEWHERE = { type: 'url', value: 'http://www.example.org/', timestamp: '1752760000' };
const IP = { type: 'ip-dst', value: '198.51.100.9' };

test('an address outside of an object belongs to the host of the event, if there is exactly one', async () => {
  const ips = async (...attributes: object[]) =>
    inputsOf(await readText(misp, JSON.stringify({ Event: { Attribute: attributes } }))).map(({ ip }) => ip);
  assert.deepEqual(await ips(URL_A, URL_B, IP), [['198.51.100.9'], ['198.51.100.9']]);
  assert.deepEqual(await ips(URL_A, URL_ELSEWHERE, IP), [undefined, undefined]);
  assert.deepEqual(await ips({ ...URL_A, value: 'http://192.0.2.1/' }, IP), [undefined]);
});

test('an address in an object belongs to the URLs of that object only', async () => {
  const report = { ...URL_ELSEWHERE, to_ids: false };
  for (const Attribute of [[IP], [report, IP]]) {
    const event = { Event: { Attribute: [URL_A], Object: [{ Attribute }] } };
    assert.deepEqual(
      inputsOf(await readText(misp, JSON.stringify(event))).map(({ url, ip }) => [url, ip]),
      [[URL_A.value, undefined]],
    );
  }
});

test('an attribute without any time is a reject', async () => {
  const event = { Event: { Attribute: [{ type: 'url', value: 'http://www.example.com/' }] } };
  assert.deepEqual(
    rejectsOf(await readText(misp, JSON.stringify(event))).map(({ reason }) => reason),
    ['neither the attribute nor the event has a time'],
  );
});

test('a URL with to_ids: false is left out; the rest of its object is used', async () => {
  const report = { ...URL_ELSEWHERE, category: 'External analysis', to_ids: false };
  const Attribute = [report, { ...URL_A, to_ids: true }, { type: 'sha256', value: hash('sha256', 'file a') }];
  const event = {
    date: '2025-07-17',
    Attribute: [report, { ...report, to_ids: '0' }, URL_B, IP],
    Object: [{ Attribute }],
  };
  const items = await readText(misp, JSON.stringify({ Event: event }));
  // The address belongs to the only host that is left.
  assert.deepEqual(
    inputsOf(items).map(({ url, ip, payload }) => [url, ip, payload?.sha256]),
    [
      [URL_B.value, [IP.value], undefined],
      [URL_A.value, [IP.value], hash('sha256', 'file a')],
    ],
  );
  assert.deepEqual(rejectsOf(items), []);
});

test('a complete listing may end with a URL with to_ids: false', async (t) => {
  const world = await importWorld(t);
  const event = { Event: { Attribute: [URL_A, { ...URL_B, to_ids: false }] } };
  const source = textSource(JSON.stringify(event));
  const report = await world.run({ format: misp, source, isComplete: true, isStrict: true });
  assert.deepEqual([report.outcome, report.error, report.observations], ['done', null, 1]);
});

const TAGS: [tag: string, families: string[]][] = [
  ['misp-galaxy:malpedia="Mirai"', ['Mirai']],
  ['misp-galaxy:mitre-malware="Emotet - S0367"', ['Emotet']],
  ['misp-galaxy:ransomware="Ryuk"', ['Ryuk']],
  ['ms-caro-malware:malware-family="Zbot"', ['Zbot']],
  ['misp-galaxy:threat-actor="Somebody"', []],
  ['malware_classification:malware-category="Ransomware"', []],
  ['tlp:clear', []],
];

test('families are read from tags', () => {
  for (const [name, families] of TAGS) assert.deepEqual(familiesOf({ Tag: [{ name }] }), families, name);
  assert.deepEqual(familiesOf({ Tag: [{ name: TAGS[0]?.[0] }, { name: 'misp-galaxy:tool="MIRAI"' }, 5, {}] }), [
    'Mirai',
  ]);
});

test('two families are ambiguous, and families of the attribute take precedence', async () => {
  const tag = (family: string) => ({ name: `misp-galaxy:malpedia="${family}"` });
  const familiesIn = async (attributeTags: object[], eventTags: object[]) => {
    const event = { Event: { Tag: eventTags, Attribute: [{ ...URL_A, Tag: attributeTags }] } };
    return inputsOf(await readText(misp, JSON.stringify(event))).map(({ payload }) => payload?.family);
  };
  assert.deepEqual(await familiesIn([tag('A')], [tag('B')]), ['A']);
  assert.deepEqual(await familiesIn([], [tag('B')]), ['B']);
  assert.deepEqual(await familiesIn([tag('A'), tag('C')], [tag('B')]), [undefined]);
  assert.deepEqual(await familiesIn([], [tag('A'), tag('B')]), [undefined]);
});

test('other input is refused', async () => {
  for (const text of ['', '{"a":1}', '"x"', 'http://example.com/']) {
    await assert.rejects(readText(misp, text), /neither a MISP event nor the manifest/);
  }
});

async function* failing(error: Error): AsyncGenerator<Buffer> {
  yield Buffer.from('{');
  throw error;
}

const C2 = { name: 'kill-chain:Command and Control' };
const at = { timestamp: '1752760000' };
const TS = 1752760000;
const INDICATORS: [what: string, attribute: object, evidence: object[]][] = [
  ['an address', { type: 'ip-dst', value: '198.51.100.9' }, [listing('198.51.100.9', 'XBL', null)]],
  ['a network', { type: 'ip-dst', value: '198.51.100.0/24' }, [listing('198.51.100.0/24', 'XBL', null)]],
  ['a tag', { type: 'ip-dst', value: '198.51.100.9', Tag: [C2] }, [listing('198.51.100.9', 'BCL', null)]],
  [
    'a comment',
    { type: 'ip-dst|port', value: '198.51.100.9|443', comment: 'Emotet C2' },
    [listing('198.51.100.9', 'BCL', 443)],
  ],
  [
    'an origin',
    { type: 'ip-src|port', value: '198.51.100.9|443', Tag: [C2] },
    [{ type: 'listing', network: '198.51.100.9', dataset: 'XBL', ts: TS, botname: null, details: { srcport: 443 } }],
  ],
  ['a domain', { type: 'domain', value: 'example.com' }, [domain('example.com', 'malware')]],
  ['a controller', { type: 'hostname', value: 'a.example', Tag: [C2] }, [domain('a.example', 'botnetcc')]],
  [
    'phishing',
    { type: 'hostname|port', value: 'a.example|80', comment: 'Phishing' },
    [domain('a.example', 'phishing')],
  ],
  [
    'a domain with its address',
    { type: 'domain|ip', value: 'a.example|198.51.100.9' },
    [domain('a.example', 'malware'), { type: 'fact', domain: 'a.example', a: ['198.51.100.9'], ts: TS }],
  ],
  ['no evidence', { type: 'ip-dst', value: '198.51.100.9', to_ids: false }, []],
  ['a deleted attribute', { type: 'ip-dst', value: '198.51.100.9', deleted: true }, []],
];

function listing(network: string, dataset: string, dstport: number | null) {
  return { type: 'listing', network, dataset, ts: TS, botname: null, dstport };
}

function domain(name: string, kind: string) {
  return { type: 'domain', domain: name, kind, ts: TS, botname: null };
}

for (const [what, attribute, evidence] of INDICATORS) {
  test(`evidence: ${what}`, async () => {
    const event = { Event: { Attribute: [{ ...attribute, ...at }] } };
    assert.deepEqual(evidenceOf(await readText(misp, JSON.stringify(event))), evidence);
  });
}

test('evidence: the address of a host in the same object is not listed', async () => {
  const Attribute = [
    { type: 'domain', value: 'a.example' },
    { type: 'ip-dst', value: '198.51.100.9' },
  ];
  const event = {
    Event: { Object: [{ ...at, first_seen: '2025-07-17T08:00:00Z', last_seen: '2025-07-18T08:00:00Z', Attribute }] },
  };
  const [first, last] = [ts('2025-07-17T08:00:00Z'), ts('2025-07-18T08:00:00Z')];
  assert.deepEqual(evidenceOf(await readText(misp, JSON.stringify(event))), [
    { ...domain('a.example', 'malware'), ts: first },
    { type: 'fact', domain: 'a.example', a: ['198.51.100.9'], ts: first },
    { ...domain('a.example', 'malware'), ts: last },
    { type: 'fact', domain: 'a.example', a: ['198.51.100.9'], ts: last },
  ]);
});

test('evidence: nor is the address of a host with to_ids: false', async () => {
  for (const host of [
    URL_A,
    { type: 'domain', value: 'a.example' },
    { type: 'domain|ip', value: 'a.example|192.0.2.1' },
  ]) {
    const event = {
      Event: {
        Object: [
          {
            ...at,
            Attribute: [
              { ...host, to_ids: false },
              { ...IP, to_ids: true },
            ],
          },
        ],
      },
    };
    assert.deepEqual(evidenceOf(await readText(misp, JSON.stringify(event))), [], host.type);
  }
});

test('evidence: --dataset and --kind take precedence', async () => {
  const Attribute = [
    { type: 'ip-dst', value: '198.51.100.9', ...at },
    { type: 'ip-src', value: '198.51.100.8', ...at },
    { type: 'domain', value: 'a.example', ...at },
  ];
  const choices = { dataset: 'CSS', evidenceKind: 'phishing' } as const;
  const { dstport: _, ...origin } = listing('198.51.100.8', 'CSS', null);
  assert.deepEqual(evidenceOf(await readWith(misp, JSON.stringify({ Event: { Attribute } }), choices)), [
    listing('198.51.100.9', 'CSS', null),
    { ...origin, details: { srcport: null } },
    domain('a.example', 'phishing'),
  ]);
});

const many = <T>(count: number, toOne: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => toOne(i));
const EVENTS_OF_MANY: Record<string, object> = {
  'tags of the event, and URLs': {
    Tag: many(6_000, (i) => ({ name: `tag ${i}` })),
    Attribute: many(6_000, (i) => ({ type: 'url', value: `http://a.example/${i}` })),
  },
  'tags of the event, and names': {
    Tag: many(10_000, (i) => ({ name: `tag ${i}` })),
    Attribute: many(10_000, (i) => ({ type: 'domain', value: `a${i}.example` })),
  },
  'tags and URLs of an object': {
    Object: [
      {
        Tag: many(6_000, (i) => ({ name: `tag ${i}` })),
        Attribute: many(6_000, (i) => ({ type: 'url', value: `http://a.example/${i}` })),
      },
    ],
  },
  'comments and names of an object': {
    Object: [{ Attribute: many(3_000, (i) => ({ type: 'domain', value: `a${i}.example`, comment: 'c'.repeat(100) })) }],
  },
};

test('each name of an object gets at most 100 of its addresses', async () => {
  const Attribute = [
    ...many(2, (i) => ({ type: 'domain', value: `a${i}.example` })),
    ...many(1_100, (i) => ({ type: 'ip-dst', value: `198.51.${i >> 8}.${i & 255}` })),
  ];
  const items = await readText(misp, JSON.stringify({ Event: { timestamp: '1752760000', Object: [{ Attribute }] } }));
  const facts = evidenceOf(items).flatMap((one) => ('a' in one ? [one.a.length] : []));
  assert.deepEqual(facts, [100, 100]);
});

for (const [what, event] of Object.entries(EVENTS_OF_MANY)) {
  test(`thousands of ${what} are read in time that grows with their number`, async () => {
    const start = cpuTimeMs();
    await readText(misp, JSON.stringify({ Event: { timestamp: '1752760000', ...event } }));
    const tookMs = cpuTimeMs() - start;
    assert.ok(tookMs < 3_000, `${tookMs} ms`); // for each URL or name again: 5 s and more
  });
}
