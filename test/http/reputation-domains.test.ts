import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { parseDomainName } from '../../src/core/domain-name.ts';
import { AppError } from '../../src/core/errors.ts';
import { DOMAIN_TAGS } from '../../src/core/evidence.ts';
import type { LiveListing } from '../../src/reputation/address-report.ts';
import { CONTEXTS } from '../../src/reputation/domain-report.ts';
import { PUBLIC_SUFFIXES } from '../../src/reputation/public-suffixes.ts';
import type { DomainState, ReputationStore } from '../../src/reputation/store.ts';
import { evidenceOf, ipOf, sourceOf, stateOf } from '../reputation/domain-state.ts';
import { OPERATOR } from './admit-all.ts';
import { assertError, build, DAY, NOW, ROUTES, stubStore } from './build.ts';
import { authorized, LIMITS, withAccounts } from './with-accounts.ts';

const DOMAIN = '/api/intel/v2/byobject/domain';
const VIEWS = ['', '/overview', '/dimensions', '/listing', '/explain'];
const ARRAYS = ['/contexts', '/senders', '/ns', '/a', '/hostnames', '/malware/urls', '/malware/hashes'];
const ALL_VIEWS = [...VIEWS, ...ARRAYS];

const schemaOf = (path: string): TSchema =>
  ROUTES.find(({ endpoint }) => endpoint.path === path)?.endpoint.response.schema ?? assert.fail(path);

const live = (dataset: LiveListing['dataset'], days = 0): LiveListing => ({
  network: { ip: ipOf('192.0.2.1'), prefix: 128 },
  dataset,
  source: 'lists',
  trustPermille: 900,
  seenTs: NOW - days * DAY,
  validUntilTs: NOW + DAY,
});

/** A server that knows this domain, and these live listings by address. */
async function knowing(
  t: TestContext,
  state: Partial<DomainState>,
  store: Partial<ReputationStore> = {},
  listed: Record<string, LiveListing[]> = {},
) {
  const known = stateOf(state);
  const addresses = {
    records: () => [],
    liveListings: (ip: Uint8Array) =>
      Object.entries(listed).flatMap(([text, listings]) => (Buffer.compare(ipOf(text), ip) === 0 ? listings : [])),
  };
  const domainState = (name: string) => (name === known.name ? known : null);
  const { app } = await build(t, {
    services: { store: stubStore({ domainState, ...store }), reputation: { addresses } },
  });
  return async (view: string) => {
    const response = await app.inject(`${DOMAIN}/${known.name}${view}`);
    assert.equal(response.statusCode, 200, response.body);
    assert.match(String(response.headers['content-type']), /^application\/json/);
    assert.ok(!response.body.includes('null'));
    assert.ok(Value.Check(schemaOf(`${DOMAIN}/:domain${view.split('?')[0]}`), response.json()), response.body);
    assert.ok(!('code' in response.json()));
    return response.json();
  };
}

const MALWARE: Partial<DomainState> = {
  lastUrlTs: NOW,
  urls: [{ hostname: 'x.site.example', onlineTs: NOW }],
  firstUrlTs: NOW,
  evidenceHosts: ['x.site.example'],
};

describe('a domain', () => {
  test('general, overview, dimensions', async (t) => {
    const get = await knowing(t, {
      ...MALWARE,
      whois: { ts: NOW - DAY, createdTs: NOW - 10 * DAY, expiresTs: null, registrar: 'A registrar' },
    });
    const general = {
      domain: 'site.example',
      'last-seen': NOW,
      tags: ['malware'],
      abused: false,
      whois: { created: NOW - 10 * DAY, registrar: 'A registrar' },
      score: -23.1,
    };
    const dimensions = { human: 0, identity: -5, infra: 0, malware: -18.1, smtp: 0 };
    assert.deepEqual(await get(''), general);
    assert.deepEqual(await get('/overview'), { ...general, dimensions });
    assert.deepEqual(await get('/dimensions'), dimensions);
  });

  test('with neutral values if nothing of the kind is known', async (t) => {
    const get = await knowing(t, { settings: { human: 0, isAbused: null, reason: '', setTs: NOW } });
    assert.deepEqual(await get(''), {
      domain: 'site.example',
      'last-seen': NOW,
      tags: [],
      abused: false,
      whois: {},
      score: 0,
    });
    assert.deepEqual(await get('/listing'), { 'is-listed': false, ts: NOW });
    assert.deepEqual((await get('/explain')).reasons, []);
    for (const view of ARRAYS) assert.deepEqual(await get(view), []);
  });

  test('listing has its end only if it is listed', async (t) => {
    const listed = await (await knowing(t, MALWARE))('/listing');
    assert.equal(listed['is-listed'], true);
    assert.equal(listed.ts, NOW);
    // 0.7 · 2^(−t / 14 d) is the x at which −40 · 0.9 · (1 − e^−x) rounds to −10.0
    const until = NOW + Math.ceil(14 * DAY * Math.log2(0.7 / -Math.log(1 - 9.95 / 36)));
    assert.ok(Math.abs(listed['listed-until'] - until) <= 1);
    const old = [{ hostname: 'x.site.example', onlineTs: NOW - 21 * DAY }];
    const free = await (await knowing(t, { ...MALWARE, urls: old }))('/listing');
    assert.deepEqual(free, { 'is-listed': false, ts: NOW - 21 * DAY });
  });

  test('explain adds up and names the feed', async (t) => {
    const explanation = await (await knowing(t, MALWARE))('/explain');
    const text =
      'URL data: one malware URL on x.site.example, last seen online on 2026-01-01. Weight 0.70 after its age, trust 0.9';
    assert.deepEqual(explanation, {
      domain: 'site.example',
      score: -18.1,
      dimensions: { human: 0, identity: 0, infra: 0, malware: -18.1, smtp: 0 },
      'is-listed': true,
      reasons: [{ dimension: 'malware', points: -18.1, text, feed: 'URL data', ts: NOW }],
    });
  });

  test('contexts, senders and ns', async (t) => {
    const senders = [
      { ip: ipOf('2001:db8::1'), helo: 'mail.site.example', lastTs: NOW },
      { ip: ipOf('192.0.2.2'), helo: '', lastTs: NOW - 1 },
    ];
    const get = await knowing(
      t,
      {
        servers: [
          { hostname: 'ns1.other.example', lastTs: NOW - DAY, days: 4, ips: [ipOf('192.0.2.1'), ipOf('192.0.2.2')] },
          { hostname: 'ns2.other.example', lastTs: NOW - 2 * DAY, days: 1, ips: [] },
        ],
        senders,
      },
      { domainSenders: async (_id, limit) => senders.slice(0, limit) },
      { '192.0.2.1': [live('XBL')], '192.0.2.2': [live('BCL'), live('CSS')] },
    );
    const first = { ip: '2001:db8::1', helo: 'mail.site.example', 'last-seen': NOW, score: 0 };
    assert.deepEqual(await get('/senders'), [first, { ip: '192.0.2.2', helo: '', 'last-seen': NOW - 1, score: -15 }]);
    assert.deepEqual(await get('/senders?limit=1'), [first]);
    assert.deepEqual(await get('/ns'), [
      { ns: 'ns1.other.example', 'last-seen': NOW - DAY, score: -15, counter: 4 },
      { ns: 'ns2.other.example', 'last-seen': NOW - 2 * DAY, score: 0, counter: 1 },
    ]);
    assert.deepEqual(await get('/contexts'), [
      { context: 'helo', 'last-seen': NOW },
      { context: 'pdns', 'last-seen': NOW - DAY },
    ]);
    assert.deepEqual((await get('/contexts?limit=1')).length, 1);
    // A name server with a BCL listing, a sender with a CSS listing.
    assert.deepEqual(await get('/dimensions'), { human: 0, identity: 0, infra: -6.8, malware: 0, smtp: -6.8 });
  });

  test('a, hostnames, malware/urls and malware/hashes ask the store with the limit', async (t) => {
    const limits: number[] = [];
    const rows = <Row>(...found: Row[]) => {
      return async (_id: number, limit: number) => {
        limits.push(limit);
        return found;
      };
    };
    const get = await knowing(
      t,
      { ...MALWARE, settings: { human: 0, isAbused: true, reason: '', setTs: NOW } },
      {
        domainAddresses: rows({ ip: ipOf('192.0.2.1'), lastTs: NOW, days: 3 }),
        domainHostnames: rows(
          { hostname: 'x.site.example', lastTs: NOW, urlTs: [NOW], evidence: [] },
          { hostname: 'y.site.example', lastTs: NOW - 1, urlTs: [], evidence: [evidenceOf({ bestConfidence: 10 })] },
        ),
        domainUrls: rows({ url: 'http://x.site.example/', family: null, lastTs: NOW }),
        domainFiles: rows({ sha256: 'ab'.repeat(32), family: 'Mirai', lastTs: NOW }),
      },
      { '192.0.2.1': [live('DROP'), live('XBL')] },
    );
    assert.deepEqual(await get('/a'), [{ ip: '192.0.2.1', 'last-seen': NOW, score: -15, counter: 3 }]);
    assert.deepEqual(await get('/hostnames?limit=10000'), [
      { hostname: 'x.site.example', 'last-seen': NOW, 'is-listed': true, abused: true },
      { hostname: 'y.site.example', 'last-seen': NOW - 1, 'is-listed': false, abused: true },
    ]);
    assert.deepEqual(await get('/malware/urls?limit=1'), [
      { url: 'http://x.site.example/', botname: 'unknown', 'last-seen': NOW },
    ]);
    assert.deepEqual(await get('/malware/hashes'), [
      { type: 'sha256', hash: 'ab'.repeat(32), botname: 'Mirai', 'last-seen': NOW },
    ]);
    assert.deepEqual(limits, [1_000, 10_000, 1, 1_000]);
  });

  test('an abused domain is not listed for its evidence', async (t) => {
    const get = await knowing(t, {
      ...MALWARE,
      lists: [{ kind: 'popular', source: 'top', rank: 10_000, ts: NOW }],
    });
    assert.deepEqual((await get('')).abused, true);
    assert.deepEqual(await get('/listing'), { 'is-listed': false, ts: NOW });
    assert.match((await get('/explain')).reasons[0].text, /Abused, because it has rank 10000/);
  });
});

describe('the name of a domain', () => {
  const paths: string[] = [];
  const ask = async (t: TestContext, text: string) => {
    const domainState = (name: string) => {
      paths.push(name);
      return null;
    };
    const { app } = await build(t, { services: { store: stubStore({ domainState }) } });
    return app.inject(`${DOMAIN}/${text}`);
  };
  for (const [text, name] of [
    ['site.example', 'site.example'],
    ['SITE.Example.', 'site.example'],
    ['site.example/', 'site.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['b%C3%BCcher.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['user.github.io', 'user.github.io'],
    ['site.co.uk', 'site.co.uk'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ] as const) {
    test(`${text} is ${name}`, async (t) => {
      paths.length = 0;
      assertError(await ask(t, encodeURI(text).replaceAll('%25', '%')), 404, /This domain is not known/);
      assert.deepEqual(paths, [name]);
    });
  }
  for (const [text, reason] of [
    ['www.site.example', /www\.site\.example is a name below a registrable domain; ask for site\.example/],
    ['a.user.github.io', /ask for user\.github\.io/],
    ['github.io', /public suffix/],
    ['100%.example', /must be a DNS name/],
    ['%ff.example', /must be a DNS name/],
    ['com', /public suffix/],
    ['co.uk', /public suffix/],
    ['192.0.2.1', /not an address/],
    ['2001:db8::1', /not an address/],
    ['%5B2001:db8::1%5D', /not an address/],
    ['a%20b.example', /must be a DNS name/],
    ['-', /must be a DNS name|public suffix/],
    ['http%3A%2F%2Fsite.example%2F', /must be a DNS name/],
    ['a..example', /must be a DNS name/],
    ['%00', /must be a DNS name/],
    ['a'.repeat(5_000), /must be a DNS name/],
  ] as const) {
    test(`${text.slice(0, 40)} is 400 on every endpoint`, async (t) => {
      const { app } = await build(t, { services: { store: stubStore({}) } });
      for (const view of ALL_VIEWS) assertError(await app.inject(`${DOMAIN}/${text}${view}`), 400, reason);
    });
  }

  test('never seen is 404 on every endpoint, also when the store answers later', async (t) => {
    for (const domainState of [() => null, async () => null]) {
      const { app } = await build(t, { services: { store: stubStore({ domainState }) } });
      for (const view of ALL_VIEWS) assertError(await app.inject(`${DOMAIN}/site.example${view}`), 404, /not known/);
      for (const view of ['/x', '/malware', '/malware/x', '/listing/x'])
        assertError(await app.inject(`${DOMAIN}/site.example${view}`), 404, /path/);
    }
  });

  test('a limit outside 1 to 10000 is 400 on arrays, and unknown elsewhere', async (t) => {
    const { app } = await build(t, { services: { store: stubStore({ domainState: () => stateOf() }) } });
    for (const limit of ['0', '10001', 'x', '1&limit=1']) {
      for (const view of ARRAYS) assertError(await app.inject(`${DOMAIN}/site.example${view}?limit=${limit}`), 400);
      for (const view of VIEWS) {
        assert.equal((await app.inject(`${DOMAIN}/site.example${view}?limit=${limit}`)).statusCode, 200);
      }
    }
  });
});

describe('access', () => {
  const CATALOGUES = ['domains/tld', 'domains/tags', 'domains/contexts', 'domains/dimensions', 'context'];
  const catalogueUrls = CATALOGUES.map((name) => `/api/intel/v2/${name}`);

  test('needs a token, then the dataset DOMAIN, before the name is checked', async (t) => {
    const refuse = () => {
      throw new AppError('unauthorized', 'No token');
    };
    const closed = await build(t, { services: { authenticate: refuse } });
    const limits = { ...OPERATOR.limits, ads: ['URL', 'XBL', 'CSS', 'BCL', 'DROP'] };
    const without = await build(t, { services: { authenticate: () => ({ ...OPERATOR, limits }) } });
    for (const url of [...ALL_VIEWS.map((view) => `${DOMAIN}/com${view}?limit=0`), ...catalogueUrls]) {
      assertError(await closed.app.inject(url), 401);
      assertError(await without.app.inject(url), 403, /DOMAIN/);
    }
  });

  test('a query counts 1, a catalogue and a bad request nothing', async (t) => {
    const { app, logIn } = await withAccounts(t, { ads: ['DOMAIN'] }, { services: { store: stubStore({}) } });
    const token = await logIn();
    const count = async () => (await app.inject(authorized(LIMITS, token))).json().current.qpm;
    for (const view of ALL_VIEWS) await app.inject(authorized({ url: `${DOMAIN}/site.example${view}` }, token));
    assert.equal(await count(), ALL_VIEWS.length);
    for (const url of catalogueUrls) assert.equal((await app.inject(authorized({ url }, token))).statusCode, 200);
    await app.inject(authorized({ url: `${DOMAIN}/www.site.example` }, token));
    assert.equal(await count(), ALL_VIEWS.length);
  });

  test('catalogues have their words, and an ETag', async (t) => {
    const { app } = await build(t);
    const get = async (name: string) => (await app.inject(`/api/intel/v2/${name}`)).json();
    assert.deepEqual(
      (await get('domains/tags')).map(({ tag }: { tag: string }) => tag),
      Object.keys(DOMAIN_TAGS),
    );
    const contexts = await get('domains/contexts');
    assert.deepEqual(
      contexts,
      Object.entries(CONTEXTS).map(([context, description]) => ({ context, description })),
    );
    assert.deepEqual(await get('context'), contexts);
    const dimensions = await get('domains/dimensions');
    assert.deepEqual(
      dimensions.map(({ dimension }: { dimension: string }) => dimension),
      ['human', 'identity', 'infra', 'malware', 'smtp'],
    );
    assert.ok(dimensions.every(({ description }: { description: string }) => description.length > 10));
    assert.deepEqual(await get('domains/tld'), PUBLIC_SUFFIXES.trim().split('\n'));
  });

  test('a catalogue that the client has is 304 without a body', async (t) => {
    const { app } = await build(t);
    const url = '/api/intel/v2/domains/tld';
    const { headers, statusCode } = await app.inject(url);
    assert.equal(statusCode, 200);
    const etag = String(headers.etag);
    assert.match(etag, /^"[0-9a-f]{64}"$/);
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const response = await app.inject({ url, headers: { 'if-none-match': known } });
      assert.deepEqual([response.statusCode, response.body, response.headers.etag], [304, '', etag]);
    }
    for (const method of ['GET', 'HEAD'] as const) {
      const response = await app.inject({ method, url, headers: { 'if-none-match': etag } });
      assert.deepEqual([response.statusCode, response.headers['content-length']], [304, undefined], method);
    }
    for (const other of ['"x"', etag.slice(1, -1), '']) {
      assert.equal((await app.inject({ url, headers: { 'if-none-match': other } })).statusCode, 200);
    }
  });
});

test('a stored domain is answered from evidence, facts and the listings of its addresses', async (t) => {
  const { app, store } = await build(t);
  const name = (text: string) => {
    const parsed = parseDomainName(text);
    return parsed.ok ? parsed.name : assert.fail(text);
  };
  const [site, host] = [name('site.example'), name('c2.site.example')];
  await store.putSources([sourceOf('weak', 500)]);
  const given = { confidence: 100, botname: 'Mirai', isAbused: null, tags: [] } as const;
  await store.applyDomains(
    [
      { source: 'strong', name: host, kind: 'botnetcc', ts: NOW, ...given },
      { source: 'weak', name: site, kind: 'phishing', ts: NOW - 3 * DAY, ...given },
    ],
    [
      { kind: 'a', ts: NOW - DAY, name: site, ips: [ipOf('192.0.2.1')] },
      { kind: 'a', ts: NOW, name: name('ns.other.example'), ips: [ipOf('192.0.2.2')] },
      { kind: 'ns', ts: NOW, name: site, servers: [name('ns.other.example')] },
      { kind: 'sender', ts: NOW, name: site, ip: ipOf('192.0.2.3'), helo: 'mail' },
      { kind: 'whois', ts: NOW, name: site, createdTs: NOW - 5 * DAY, expiresTs: null, registrar: null },
    ],
  );
  const listing = { source: 'strong', family: null, port: null, listedTs: NOW, ts: NOW, details: '' };
  await store.applyListings([
    { ...listing, network: { ip: ipOf('192.0.2.0'), prefix: 96 + 24 }, dataset: 'DROP' },
    { ...listing, network: { ip: ipOf('192.0.2.3'), prefix: 128 }, dataset: 'CSS' },
  ]);
  const get = async (view: string) => (await app.inject(`${DOMAIN}/site.example${view}`)).json();
  // infra: 1 − (1 − 0.9·(1 − e^−1.4))·(1 − 0.5·(1 − e^−0.35))
  const dimensions = { human: 0, identity: -5, infra: -10.9, malware: -28, smtp: -6.8 };
  const tags = ['botnetcc', 'phishing'];
  assert.deepEqual(await get('/overview'), {
    domain: 'site.example',
    'last-seen': NOW,
    tags,
    abused: false,
    whois: { created: NOW - 5 * DAY },
    score: -50.7,
    dimensions,
  });
  assert.deepEqual(await get('/a'), [{ ip: '192.0.2.1', 'last-seen': NOW - DAY, score: -10, counter: 1 }]);
  assert.deepEqual(await get('/ns'), [{ ns: 'ns.other.example', 'last-seen': NOW, score: -10, counter: 1 }]);
  assert.deepEqual(await get('/senders'), [{ ip: '192.0.2.3', helo: 'mail', 'last-seen': NOW, score: -15 }]);
  const hosts = await get('/hostnames');
  assert.deepEqual(
    hosts.map((one: Record<string, unknown>) => [one.hostname, one['is-listed']]),
    [
      ['c2.site.example', true],
      ['site.example', false],
    ],
  );
  const { reasons, score } = await get('/explain');
  const sum = reasons.reduce((total: number, { points }: { points: number }) => total + Math.round(points * 10), 0);
  assert.equal(sum, Math.round(score * 10));
});
