import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Intelligence } from '../../../src/app/stores.ts';
import { parseDomainName } from '../../../src/core/domain-name.ts';
import { DOMAIN_KINDS, type DomainEvidence, type DomainFact } from '../../../src/core/evidence.ts';
import { formatIp, parseIp } from '../../../src/core/ip/address.ts';
import type { DomainState, StoredEvidence } from '../../../src/reputation/store.ts';
import { collect, DAY, hashOf, NEW_YEAR, seen } from '../../urls/contract/observations.ts';
import type { OpenStore } from './index.ts';

function nameOf(text: string) {
  const parsed = parseDomainName(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.reason}`);
  return parsed.name;
}

function ip(text: string): Uint8Array {
  return parseIp(text) as Uint8Array;
}

function named(hostname: string, more: Partial<DomainEvidence> = {}): DomainEvidence {
  return {
    source: 'feed',
    name: nameOf(hostname),
    kind: 'malware',
    ts: NEW_YEAR,
    confidence: 100,
    botname: null,
    isAbused: null,
    tags: [],
    ...more,
  };
}

const addresses = (hostname: string, ts: number, ...ips: string[]): DomainFact => {
  return { ts, name: nameOf(hostname), kind: 'a', ips: ips.map(ip) };
};
const servers = (domain: string, ts: number, ...names: string[]): DomainFact => {
  return { ts, name: nameOf(domain), kind: 'ns', servers: names.map(nameOf) };
};
const sender = (domain: string, ts: number, address: string, helo: string): DomainFact => {
  return { ts, name: nameOf(domain), kind: 'sender', ip: ip(address), helo };
};
const whois = (domain: string, ts: number, registrar: string | null, createdTs: number | null = null): DomainFact => {
  return { ts, name: nameOf(domain), kind: 'whois', createdTs, expiresTs: null, registrar };
};
const rank = (domain: string, ts: number, source: string, value: number): DomainFact => {
  return { ts, name: nameOf(domain), kind: 'rank', source, rank: value };
};

async function stateOf(store: Intelligence, name: string): Promise<DomainState> {
  const state = await store.domainState(name);
  if (state === null) throw new Error(`${name} is unknown`);
  return state;
}

/** A state without ids and with readable addresses: equal in every store with the same data. */
async function comparable(store: Intelligence, name: string) {
  const state = await store.domainState(name);
  if (state === null) return null;
  const { id, ...known } = state;
  return {
    ...known,
    addresses: known.addresses.map(({ ip: key, lastTs }) => ({ ip: formatIp(key), lastTs })),
    servers: known.servers.map((server) => ({ ...server, ips: server.ips.map(formatIp) })),
    senders: known.senders.map((one) => ({ ...one, ip: formatIp(one.ip) })),
    allSenders: (await store.domainSenders(id, 100)).map((one) => ({ ...one, ip: formatIp(one.ip) })),
    allAddresses: (await store.domainAddresses(id, 100)).map((one) => ({ ...one, ip: formatIp(one.ip) })),
    hostnames: await store.domainHostnames(id, 100),
    malwareUrls: await store.domainUrls(id, 100),
    files: await store.domainFiles(id, 100),
  };
}

const short = ({ source, kind, hostname, bestTs }: StoredEvidence) => `${source.name} ${kind} ${hostname} ${bestTs}`;

/** All of `exportDomains`, with readable addresses. */
async function exported(store: Intelligence): Promise<string[]> {
  const items = await collect(store.exportDomains());
  return items.map((item) =>
    JSON.stringify(item, (_, value) => (value instanceof Uint8Array ? formatIp(value) : value)),
  );
}

const online = (url: string, ts: number, more: object = {}) => seen({ ts, url, status: 'online', ...more });

/** The tests of domains that every engine must pass. */
export function domainSuite(open: OpenStore): void {
  test('a domain is known if something is stored of it, and not by the name servers of others', async (t) => {
    const store = await open(t);
    equal(await store.domainState('site.example'), null);
    await store.applyDomains(
      [named('evidence.example')],
      [
        addresses('address.example', NEW_YEAR, '192.0.2.1'),
        servers('delegated.example', NEW_YEAR, 'ns.dns.example'),
        sender('sender.example', NEW_YEAR, '192.0.2.1', ''),
        whois('whois.example', NEW_YEAR, 'A registrar'),
        rank('rank.example', NEW_YEAR, 'top', 5),
      ],
    );
    await store.setDomain('setting.example', { human: 0, isAbused: null, reason: '', setTs: NEW_YEAR });
    const states = await Promise.all(
      ['evidence', 'address', 'delegated', 'sender', 'whois', 'rank', 'setting'].map((label) =>
        store.domainState(`${label}.example`),
      ),
    );
    deepEqual(
      states.map((state) => state?.name),
      ['evidence', 'address', 'delegated', 'sender', 'whois', 'rank', 'setting'].map((label) => `${label}.example`),
    );
    equal(await store.domainState('dns.example'), null);
    equal(await store.domainState('example'), null);
  });

  test('sightings of a source, kind and host name are one piece of evidence', async (t) => {
    const store = await open(t);
    const given = [
      named('www.site.example', { ts: NEW_YEAR + 300, confidence: 50, botname: 'Mirai', tags: ['malware'] }),
      named('www.site.example', { ts: NEW_YEAR + 100, confidence: 50, isAbused: true }),
      named('www.site.example', { ts: NEW_YEAR + 200 }),
    ];
    equal(await store.applyDomains(given.slice(0, 1), []), 1);
    equal(await store.applyDomains(given.slice(1), []), 1);
    equal(await store.applyDomains(given, []), 0);
    const { evidence, evidenceHosts, lastUrlTs, urls, firstUrlTs } = await stateOf(store, 'site.example');
    deepEqual(evidence, [
      {
        source: { name: 'feed', trustPermille: 900, lifeSeconds: null, intervalSeconds: null },
        kind: 'malware',
        hostname: 'www.site.example',
        bestTs: NEW_YEAR + 200,
        bestConfidence: 100,
        firstTs: NEW_YEAR + 100,
        lastTs: NEW_YEAR + 300,
        botname: 'Mirai',
        isAbused: null,
        tags: ['malware'],
      },
    ]);
    deepEqual(evidenceHosts, ['www.site.example']);
    deepEqual([lastUrlTs, urls, firstUrlTs], [null, [], null]);
    equal(await store.domainState('www.site.example'), null);
  });

  test('of every source and kind the 64 pieces of evidence that count most are read', async (t) => {
    const store = await open(t);
    const hostname = (i: number) => `h${String(i).padStart(2, '0')}.site.example`;
    // 70 host names. The newer half has half the confidence, which counts like 14 days of age.
    const given = Array.from({ length: 70 }, (_, i) =>
      named(hostname(i), { ts: NEW_YEAR + i * DAY, confidence: i < 35 ? 100 : 50 }),
    );
    await store.applyDomains(
      [
        ...given,
        named('h99.site.example', { source: 'other', kind: 'botnetcc' }),
        named('h98.site.example', { kind: 'phishing' }),
        named('h97.site.example', { source: 'other' }),
      ],
      [],
    );
    const { evidence, evidenceHosts } = await stateOf(store, 'site.example');
    deepEqual(evidence.slice(64).map(short), [
      `feed phishing h98.site.example ${NEW_YEAR}`,
      `other botnetcc h99.site.example ${NEW_YEAR}`,
      `other malware h97.site.example ${NEW_YEAR}`,
    ]);
    deepEqual(
      evidence.slice(0, 64).map(({ hostname: host }) => host),
      Array.from({ length: 64 }, (_, i) => hostname(i + 6)),
    );
    equal(evidenceHosts.length, 2);
    const hostnames = await store.domainHostnames((await stateOf(store, 'site.example')).id, 1_000);
    equal(hostnames.length, 73);
    deepEqual(hostnames[0]?.evidence.map(short), [`feed malware h69.site.example ${NEW_YEAR + 69 * DAY}`]);
  });

  test('less confidence counts less: an old row with all of it is read before newer ones', async (t) => {
    const store = await open(t);
    const newer = Array.from({ length: 64 }, (_, i) =>
      named(`n${i}.site.example`, { ts: NEW_YEAR + 13 * DAY, confidence: 50 }),
    );
    await store.applyDomains([named('old.site.example'), ...newer], []);
    const { evidence } = await stateOf(store, 'site.example');
    equal(evidence.length, 64);
    equal(evidence.filter(({ hostname }) => hostname === 'old.site.example').length, 1);
  });

  test('a site was broken into if the newest evidence of a source says so', async (t) => {
    const store = await open(t);
    const claim = async () => (await stateOf(store, 'site.example')).abusedClaim;
    await store.applyDomains([named('site.example')], []);
    equal(await claim(), null);
    await store.applyDomains([named('a.site.example', { isAbused: true, ts: NEW_YEAR + 1 })], []);
    deepEqual(await claim(), { source: 'feed', ts: NEW_YEAR + 1 });
    await store.applyDomains([named('b.site.example', { isAbused: false, source: 'other', ts: NEW_YEAR + 2 })], []);
    deepEqual(await claim(), { source: 'feed', ts: NEW_YEAR + 1 });
    await store.applyDomains([named('c.site.example', { isAbused: true, source: 'other', ts: NEW_YEAR + 2 })], []);
    deepEqual(await claim(), { source: 'other', ts: NEW_YEAR + 2 });
    await store.applyDomains([named('site.example', { source: 'other', ts: NEW_YEAR + 9 })], []);
    deepEqual(await claim(), { source: 'feed', ts: NEW_YEAR + 1 });
    await store.applyDomains([named('site.example', { isAbused: false, ts: NEW_YEAR + 9 })], []);
    equal(await claim(), null);
  });

  test('facts: addresses, name servers with their addresses, senders, registration', async (t) => {
    const store = await open(t);
    const facts = [
      addresses('site.example', NEW_YEAR, '192.0.2.1', '192.0.2.2'),
      addresses('www.site.example', NEW_YEAR + 60, '192.0.2.1'),
      addresses('site.example', NEW_YEAR + DAY, '192.0.2.1', '2001:db8::1'),
      servers('www.site.example', NEW_YEAR, 'ns1.dns.example', 'ns2.dns.example'),
      servers('site.example', NEW_YEAR + DAY, 'ns2.dns.example'),
      servers('site.example', NEW_YEAR + DAY + 9, 'ns2.dns.example'),
      addresses('ns2.dns.example', NEW_YEAR, '198.51.100.2', '198.51.100.1'),
      addresses('ns2.dns.example', NEW_YEAR + DAY, '198.51.100.2'),
      sender('site.example', NEW_YEAR, '203.0.113.1', ''),
      sender('site.example', NEW_YEAR, '203.0.113.1', 'mail.site.example'),
      sender('www.site.example', NEW_YEAR + 5, '203.0.113.1', ''),
      whois('site.example', NEW_YEAR, 'Older', 5),
      whois('site.example', NEW_YEAR + 5, 'B', 7),
    ];
    equal(await store.applyDomains([], facts), 4 + 1 + 2 + 1 + 3 + 2 + 1);
    equal(await store.applyDomains([], facts), 0);
    const state = await comparable(store, 'site.example');
    deepEqual(state?.addresses, [
      { ip: '192.0.2.1', lastTs: NEW_YEAR + DAY },
      { ip: '2001:db8::1', lastTs: NEW_YEAR + DAY },
      { ip: '192.0.2.2', lastTs: NEW_YEAR },
    ]);
    deepEqual(
      state?.allAddresses.map(({ ip: text, days }) => [text, days]),
      [
        ['192.0.2.1', 2],
        ['2001:db8::1', 1],
        ['192.0.2.2', 1],
      ],
    );
    deepEqual(state?.servers, [
      { hostname: 'ns2.dns.example', lastTs: NEW_YEAR + DAY + 9, days: 2, ips: ['198.51.100.1', '198.51.100.2'] },
      { hostname: 'ns1.dns.example', lastTs: NEW_YEAR, days: 1, ips: [] },
    ]);
    deepEqual(state?.senders, [
      { ip: '203.0.113.1', helo: '', lastTs: NEW_YEAR + 5 },
      { ip: '203.0.113.1', helo: 'mail.site.example', lastTs: NEW_YEAR },
    ]);
    deepEqual(state?.whois, { ts: NEW_YEAR + 5, createdTs: 7, expiresTs: null, registrar: 'B' });
    const { id } = await stateOf(store, 'site.example');
    equal((await store.domainAddresses(id, 2)).length, 2);
    deepEqual(state?.allSenders, state?.senders);
  });

  test('of very many addresses and senders the newest are read, whatever came first', async (t) => {
    const [one, other] = await Promise.all([open(t), open(t)]);
    const old = Array.from({ length: 1_500 }, (_, i) => `10.1.${i >> 8}.${i & 255}`);
    const facts = [
      // 1,001 names with two addresses.
      ...Array.from({ length: 1_001 }, (_, i) => addresses(`r${i}.few.example`, NEW_YEAR + i, '10.9.9.9')),
      addresses('c2.few.example', NEW_YEAR + DAY, '192.0.2.9'),
      ...old.map((ip, i) => addresses('many.example', NEW_YEAR + (i % 7) * DAY, ip)),
      addresses('www.many.example', NEW_YEAR + 9 * DAY, '192.0.2.9'),
      ...old.map((ip, i) => sender('many.example', NEW_YEAR + i, ip, '')),
      sender('many.example', NEW_YEAR + 9 * DAY, '192.0.2.9', ''),
    ];
    await one.applyDomains([], facts);
    const reversed = facts.toReversed();
    for (let i = 0; i < reversed.length; i += 500) await other.applyDomains([], reversed.slice(i, i + 500));
    for (const store of [one, other]) {
      const few = await stateOf(store, 'few.example');
      deepEqual(
        few.addresses.map(({ ip: key, lastTs }) => [formatIp(key), lastTs]),
        [
          ['192.0.2.9', NEW_YEAR + DAY],
          ['10.9.9.9', NEW_YEAR + 1_000],
        ],
      );
      const many = await stateOf(store, 'many.example');
      for (const list of [many.addresses, many.senders]) {
        equal(list.length, 1_000);
        equal(formatIp(list[0]?.ip as Uint8Array), '192.0.2.9');
      }
      equal(many.senders.at(-1)?.lastTs, NEW_YEAR + 501);
    }
    const known = async (store: Intelligence) => {
      const { addresses: rows } = await stateOf(store, 'many.example');
      return rows.map(({ ip: key, lastTs }) => `${formatIp(key)} ${lastTs}`);
    };
    deepEqual(await known(one), await known(other));
  });

  test('all senders are found, the newest first', async (t) => {
    const store = await open(t);
    const senders = Array.from({ length: 1_100 }, (_, i) =>
      sender('site.example', NEW_YEAR + i, `10.0.0.${i % 3}`, `h${i}`),
    );
    await store.applyDomains([], senders);
    const { id } = await stateOf(store, 'site.example');
    const newest = await store.domainSenders(id, 2);
    deepEqual(
      newest.map((one) => ({ ...one, ip: formatIp(one.ip) })),
      [
        { ip: '10.0.0.1', helo: 'h1099', lastTs: NEW_YEAR + 1_099 },
        { ip: '10.0.0.0', helo: 'h1098', lastTs: NEW_YEAR + 1_098 },
      ],
    );
    equal((await store.domainSenders(id, 10_000)).length, 1_100);
  });

  test('registration data of one second: the greater text is kept, whatever came first', async (t) => {
    const store = await open(t);
    const [a, b] = [whois('site.example', NEW_YEAR, 'A', 5), whois('site.example', NEW_YEAR, 'B', 5)];
    equal(await store.applyDomains([], [b]), 1);
    equal(await store.applyDomains([], [a]), 0);
    equal((await stateOf(store, 'site.example')).whois?.registrar, 'B');
    equal(await store.applyDomains([], [whois('site.example', NEW_YEAR - 1, 'C', 5)]), 0);
    equal(await store.applyDomains([], [whois('site.example', NEW_YEAR + 1, null)]), 1);
    equal((await stateOf(store, 'site.example')).whois?.registrar, null);
  });

  test('the newest evidence is read, also if 64 host names count more', async (t) => {
    const store = await open(t);
    const strong = Array.from({ length: 70 }, (_, i) => named(`h${i}.site.example`, { ts: NEW_YEAR }));
    await store.applyDomains(strong, []);
    await store.applyDomains([named('z.site.example', { ts: NEW_YEAR + 9, confidence: 1, isAbused: true })], []);
    const { evidence, abusedClaim } = await stateOf(store, 'site.example');
    deepEqual([evidence.length, abusedClaim], [65, { source: 'feed', ts: NEW_YEAR + 9 }]);
  });

  test('of more than 64 host names of one time the same are read, whatever came first', async (t) => {
    const [one, other] = await Promise.all([open(t), open(t)]);
    const label = (i: number) => `h${String(i).padStart(3, '0')}.site.example`;
    const given = Array.from({ length: 200 }, (_, i) =>
      named(label(i), { isAbused: i === 150 ? true : null, tags: i === 3 ? ['shared'] : [] }),
    );
    // A better one leaves 63 of the others. The newest time has two names, both of little weight.
    const more = [
      named('z.site.example', { ts: NEW_YEAR + 1 }),
      named('y.site.example', { ts: NEW_YEAR + 9, confidence: 1, source: 'second' }),
      named('x.site.example', { ts: NEW_YEAR + 9, confidence: 1, source: 'second', isAbused: true }),
      ...given.map((item) => ({ ...item, source: 'second', isAbused: null })),
    ];
    await one.applyDomains([...given, ...more], []);
    for (const item of [...more.toReversed(), ...given.toReversed()]) await other.applyDomains([item], []);
    const states = await Promise.all([one, other].map((store) => stateOf(store, 'site.example')));
    for (const { evidence } of states) {
      deepEqual(
        evidence.map(({ source, hostname }) => `${source.name} ${hostname}`),
        [
          ...Array.from({ length: 63 }, (_, i) => `feed ${label(i)}`),
          'feed z.site.example',
          ...Array.from({ length: 64 }, (_, i) => `second ${label(i)}`),
          'second x.site.example',
        ],
      );
    }
    deepEqual(
      states.map((state) => state.abusedClaim),
      Array(2).fill({ source: 'second', ts: NEW_YEAR + 9 }),
    );
  });

  test('a claim of abuse counts at the newest time of its source, among any number of names', async (t) => {
    const store = await open(t);
    const given = Array.from({ length: 1_100 }, (_, i) => named(`h${i}.site.example`));
    await store.applyDomains([named('a.site.example', { isAbused: true }), ...given], []);
    const claim = async () => (await stateOf(store, 'site.example')).abusedClaim;
    deepEqual(await claim(), { source: 'feed', ts: NEW_YEAR });
    await store.applyDomains([named('b.site.example', { kind: 'phishing', ts: NEW_YEAR + 1 })], []);
    equal(await claim(), null);
  });

  test('a list without ranks does not make a domain known', async (t) => {
    const store = await open(t);
    await store.applyLists([{ as: 'shortener', name: 'site.example', source: 'list', ts: NEW_YEAR }]);
    equal(await store.domainState('site.example'), null);
    await store.applyDomains([], [rank('site.example', NEW_YEAR, 'top', 9)]);
    deepEqual(
      (await stateOf(store, 'site.example')).lists.map(({ kind }) => kind),
      ['popular', 'shortener'],
    );
  });

  test('ranks: of each source the newest one, of one second the smaller', async (t) => {
    const store = await open(t);
    const listed = async () => (await stateOf(store, 'site.example')).lists;
    equal(await store.applyDomains([], [rank('www.site.example', NEW_YEAR, 'top', 900)]), 1);
    deepEqual(await listed(), [{ kind: 'popular', source: 'top', rank: 900, ts: NEW_YEAR }]);
    equal(await store.applyDomains([], [rank('site.example', NEW_YEAR, 'top', 901)]), 0);
    equal(await store.applyDomains([], [rank('site.example', NEW_YEAR, 'top', 800)]), 1);
    equal(await store.applyDomains([], [rank('site.example', NEW_YEAR + 1, 'top', 1_000)]), 1);
    equal(await store.applyDomains([], [rank('site.example', NEW_YEAR, 'another', 7)]), 1);
    deepEqual(await listed(), [
      { kind: 'popular', source: 'another', rank: 7, ts: NEW_YEAR },
      { kind: 'popular', source: 'top', rank: 1_000, ts: NEW_YEAR + 1 },
    ]);
    const { id } = await stateOf(store, 'site.example');
    deepEqual(await store.domainUrls(id, 10), []);
    deepEqual(await store.domainHostnames(id, 10), []);
  });

  test('settings of the operator replace the former ones', async (t) => {
    const store = await open(t);
    const set = { human: 25, isAbused: true, reason: 'A customer', setTs: NEW_YEAR };
    await store.setDomain('site.example', set);
    deepEqual((await stateOf(store, 'site.example')).settings, set);
    const again = { human: -50, isAbused: null, reason: '', setTs: NEW_YEAR + 1 };
    await store.setDomain('site.example', again);
    deepEqual((await stateOf(store, 'site.example')).settings, again);
    await store.setDomain('site.example', { ...again, isAbused: false });
    equal((await stateOf(store, 'site.example')).settings?.isAbused, false);
  });

  test('a setting that is not given stays as it is, also if another one is changed at the same time', async (t) => {
    const store = await open(t);
    const first = { human: 25, isAbused: null, reason: 'A customer', setTs: NEW_YEAR };
    const { setTs, human, reason } = first;
    deepEqual(await store.setDomain('site.example', { setTs, human, reason }), { before: null, settings: first });
    const second = { ...first, isAbused: true, setTs: NEW_YEAR + 1 };
    const changed = await store.setDomain('site.example', { setTs: NEW_YEAR + 1, isAbused: true });
    deepEqual(changed, { before: first, settings: second });
    deepEqual((await stateOf(store, 'site.example')).settings, second);

    await store.applyDomains([named('known0.example'), named('known1.example'), named('known2.example')], []);
    for (const kind of ['new', 'known']) {
      for (let i = 0; i < 3; i++) {
        const name = `${kind}${i}.example`;
        const changes = [{ human }, { isAbused: true }, { reason }];
        await Promise.all(changes.map((change) => store.setDomain(name, { setTs, ...change })));
        deepEqual((await stateOf(store, name)).settings, { human, isAbused: true, reason, setTs }, name);
      }
    }
  });

  test('URLs: the newest sightings, the first one, the hosts', async (t) => {
    const store = await open(t);
    await store.apply([
      online('http://a.site.example/1', NEW_YEAR),
      online('http://a.site.example/1', NEW_YEAR + 50),
      online('http://b.site.example/2', NEW_YEAR + 20),
      online('http://site.example/3', NEW_YEAR + 30),
      seen({ ts: NEW_YEAR + 90, url: 'http://site.example/3', status: 'offline' }),
      online('http://other.example/', NEW_YEAR + 10),
    ]);
    const state = await stateOf(store, 'site.example');
    deepEqual(state.urls, [
      { hostname: 'a.site.example', onlineTs: NEW_YEAR + 50 },
      { hostname: 'site.example', onlineTs: NEW_YEAR + 30 },
      { hostname: 'b.site.example', onlineTs: NEW_YEAR + 20 },
    ]);
    deepEqual([state.firstUrlTs, state.lastUrlTs], [NEW_YEAR, NEW_YEAR + 50]);
    deepEqual(state.evidenceHosts, ['a.site.example', 'b.site.example']);
    deepEqual((await stateOf(store, 'other.example')).evidenceHosts, ['other.example']);
  });

  test('a URL that was never seen online makes its domain known, and is no evidence', async (t) => {
    const store = await open(t);
    await store.apply([seen({ ts: NEW_YEAR, url: 'http://a.site.example/', status: 'offline' })]);
    const { lastUrlTs, urls, firstUrlTs, evidenceHosts } = await stateOf(store, 'site.example');
    deepEqual([lastUrlTs, urls, firstUrlTs, evidenceHosts], [NEW_YEAR, [], null, []]);
  });

  test('a URL without a status makes its domain known, and is no evidence', async (t) => {
    const store = await open(t);
    const fact = (url: string, more: object) => seen({ ts: NEW_YEAR, url, status: null, ...more });
    await store.apply([
      fact('http://a.payload.example/', { payload: { sha256: hashOf('c') } }),
      fact('http://b.payload.example/', { payload: { sha256: hashOf('c'), ts: NEW_YEAR + 9 } }),
      fact('http://address.example/', { ip: '192.0.2.1' }),
      fact('http://tag.example/', { tags: ['elf'] }),
      fact('http://offline.example/', { payload: { sha256: hashOf('c') } }),
      seen({ ts: NEW_YEAR + 5, url: 'http://offline.example/other', status: 'offline' }),
    ]);
    const lastUrlTs = async (name: string) => (await stateOf(store, name)).lastUrlTs;
    equal(await lastUrlTs('payload.example'), NEW_YEAR + 9);
    equal(await lastUrlTs('address.example'), NEW_YEAR);
    equal(await lastUrlTs('tag.example'), 0);
    equal(await lastUrlTs('offline.example'), NEW_YEAR + 5);
    const { urls, firstUrlTs, evidenceHosts } = await stateOf(store, 'payload.example');
    deepEqual([urls, firstUrlTs, evidenceHosts], [[], null, []]);
  });

  test('a domain with many name servers of others is known by its only URL', async (t) => {
    const store = await open(t);
    const facts = Array.from({ length: 100 }, (_, i) =>
      servers(`customer${i}.example`, NEW_YEAR, `ns${i}.dns.example`),
    );
    await store.applyDomains([], facts);
    equal(await store.domainState('dns.example'), null);
    await store.apply([seen({ ts: NEW_YEAR + 5, url: 'http://www.dns.example/', status: 'offline' })]);
    equal((await stateOf(store, 'dns.example')).lastUrlTs, NEW_YEAR + 5);
  });

  test('an old URL on another host is found behind 64 newer ones', async (t) => {
    const store = await open(t);
    const newer = Array.from({ length: 65 }, (_, i) => online(`http://a.site.example/${i}`, NEW_YEAR + 1_000 + i));
    await store.apply(newer);
    deepEqual((await stateOf(store, 'site.example')).evidenceHosts, ['a.site.example']);
    await store.apply([
      seen({ ts: NEW_YEAR, url: 'http://b.site.example/', status: 'offline' }),
      online('http://other.example/', NEW_YEAR),
    ]);
    deepEqual((await stateOf(store, 'site.example')).evidenceHosts, ['a.site.example']);
    await store.apply([online('http://z.site.example/old', NEW_YEAR)]);
    const { urls, evidenceHosts } = await stateOf(store, 'site.example');
    deepEqual(evidenceHosts, ['a.site.example', 'z.site.example']);
    equal(urls.length, 64);
    equal(urls.at(-1)?.onlineTs, NEW_YEAR + 1_001);
  });

  test('a URL on another host is found beside any number of hosts without URLs', async (t) => {
    const store = await open(t);
    for (const [domain, hosts] of [
      ['some.example', 70],
      ['many.example', 1_100],
    ] as const) {
      const facts = Array.from({ length: hosts }, (_, i) => addresses(`h${i}.${domain}`, NEW_YEAR, '192.0.2.1'));
      await store.applyDomains([], facts);
      const newer = Array.from({ length: 65 }, (_, i) => online(`http://a.${domain}/${i}`, NEW_YEAR + 1_000 + i));
      await store.apply(newer);
      deepEqual((await stateOf(store, domain)).evidenceHosts, [`a.${domain}`]);
      await store.apply([online(`http://z.${domain}/old`, NEW_YEAR)]);
      deepEqual((await stateOf(store, domain)).evidenceHosts, [`a.${domain}`, `z.${domain}`]);
    }
  });

  test('host names with their own URLs and evidence, the newest first', async (t) => {
    const store = await open(t);
    await store.apply([
      online('http://a.site.example/1', NEW_YEAR),
      online('http://a.site.example/2', NEW_YEAR + 10),
      online('http://b.site.example/3', NEW_YEAR + 20),
    ]);
    await store.applyDomains([named('a.site.example', { ts: NEW_YEAR + 30 }), named('c.site.example')], []);
    const { id } = await stateOf(store, 'site.example');
    const hostnames = await store.domainHostnames(id, 10);
    deepEqual(
      hostnames.map(({ hostname, lastTs, urlTs, evidence }) => [hostname, lastTs, urlTs, evidence.map(short)]),
      [
        ['a.site.example', NEW_YEAR + 30, [NEW_YEAR + 10, NEW_YEAR], [`feed malware a.site.example ${NEW_YEAR + 30}`]],
        ['b.site.example', NEW_YEAR + 20, [NEW_YEAR + 20], []],
        ['c.site.example', NEW_YEAR, [], [`feed malware c.site.example ${NEW_YEAR}`]],
      ],
    );
    deepEqual(await store.domainHostnames(id, 2), hostnames.slice(0, 2));
  });

  test('URLs with the family of their newest payload that has one', async (t) => {
    const store = await open(t);
    const [a, b, c] = ['a', 'b', 'c'].map(hashOf);
    await store.apply([
      online('http://site.example/1', NEW_YEAR, { payload: { sha256: a, family: 'Mirai' } }),
      online('http://site.example/1', NEW_YEAR + 5, { payload: { sha256: b, family: 'Gafgyt' } }),
      online('http://site.example/1', NEW_YEAR + 9, { payload: { sha256: c } }),
      online('http://site.example/2', NEW_YEAR + 9),
      online('http://site.example/3', NEW_YEAR + 1),
    ]);
    const { id } = await stateOf(store, 'site.example');
    const urls = await store.domainUrls(id, 10);
    deepEqual(urls, [
      { url: 'http://site.example/1', family: 'Gafgyt', lastTs: NEW_YEAR + 9 },
      { url: 'http://site.example/2', family: null, lastTs: NEW_YEAR + 9 },
      { url: 'http://site.example/3', family: null, lastTs: NEW_YEAR + 1 },
    ]);
    deepEqual(await store.domainUrls(id, 1), urls.slice(0, 1));
  });

  test('files with a SHA-256, by their newest payload', async (t) => {
    const store = await open(t);
    const [a, b, c] = ['a', 'b', 'c'].map(hashOf);
    await store.apply([
      online('http://site.example/1', NEW_YEAR, { payload: { sha256: b, family: 'Mirai' } }),
      online('http://site.example/1', NEW_YEAR + 5, { payload: { sha256: a } }),
      online('http://www.site.example/2', NEW_YEAR + 5, { payload: { sha256: c } }),
      online('http://www.site.example/2', NEW_YEAR + 9, { payload: { sha256: b } }),
      online('http://www.site.example/2', NEW_YEAR + 11, { payload: { fileType: 'exe' } }),
      online('http://other.example/', NEW_YEAR + 20, { payload: { sha256: hashOf('d') } }),
    ]);
    const { id } = await stateOf(store, 'site.example');
    const files = await store.domainFiles(id, 10);
    deepEqual(files, [
      { sha256: b, family: 'Mirai', lastTs: NEW_YEAR + 9 },
      { sha256: a, family: null, lastTs: NEW_YEAR + 5 },
      { sha256: c, family: null, lastTs: NEW_YEAR + 5 },
    ]);
    deepEqual(await store.domainFiles(id, 2), files.slice(0, 2));
  });

  test('addresses of URLs and of facts count each day once', async (t) => {
    const store = await open(t);
    await store.apply([
      online('http://site.example/1', NEW_YEAR, { ip: '192.0.2.1' }),
      online('http://site.example/2', NEW_YEAR + 5, { ip: '192.0.2.1' }),
      online('http://www.site.example/', NEW_YEAR + 9, { ip: '192.0.2.1' }),
      online('http://site.example/1', NEW_YEAR + DAY, { ip: '192.0.2.2' }),
      online('http://ns.dns.example/', NEW_YEAR, { ip: '192.0.2.3' }),
    ]);
    await store.applyDomains(
      [],
      [
        addresses('site.example', NEW_YEAR + 7, '192.0.2.1'),
        addresses('site.example', NEW_YEAR + DAY, '192.0.2.1'),
        servers('site.example', NEW_YEAR, 'ns.dns.example'),
      ],
    );
    const state = await comparable(store, 'site.example');
    deepEqual(state?.allAddresses, [
      { ip: '192.0.2.1', lastTs: NEW_YEAR + DAY, days: 2 },
      { ip: '192.0.2.2', lastTs: NEW_YEAR + DAY, days: 1 },
    ]);
    deepEqual(
      state?.addresses,
      state?.allAddresses.map(({ ip: text, lastTs }) => ({ ip: text, lastTs })),
    );
    // Only facts say where a name server is.
    deepEqual(state?.servers, [{ hostname: 'ns.dns.example', lastTs: NEW_YEAR, days: 1, ips: [] }]);
    // What follows from URLs is exported with the URLs.
    equal((await exported(store)).length, 3);
  });

  test('the export is in an order that depends on the data alone', async (t) => {
    const store = await open(t);
    // Ids are given in this order, which is not the order of the names.
    for (const name of ['b.site.example', 'site.example', 'a.site.example', 'z.example', 'c.example']) {
      for (const source of ['second', 'first']) {
        for (const kind of ['phishing', 'malware'] as const)
          await store.applyDomains([named(name, { source, kind })], []);
      }
    }
    const lines = (await exported(store)).map((line) => JSON.parse(line));
    const names = ['c.example', 'a.site.example', 'b.site.example', 'site.example', 'z.example'];
    deepEqual(
      lines.map(({ name, source, kind }) => `${name.hostname} ${source} ${kind}`),
      names.flatMap((name) =>
        ['first', 'second'].flatMap((s) => ['malware', 'phishing'].map((k) => `${name} ${s} ${k}`)),
      ),
    );
  });

  test('the export of facts', async (t) => {
    const store = await open(t);
    await store.applyDomains(
      [],
      [
        rank('site.example', NEW_YEAR, 'second', 5),
        rank('site.example', NEW_YEAR, 'first', 5),
        rank('a.example', NEW_YEAR, 'second', 5),
        whois('site.example', NEW_YEAR, null, 5),
        sender('site.example', NEW_YEAR, '203.0.113.9', 'b'),
        sender('site.example', NEW_YEAR, '203.0.113.9', 'a'),
        servers('site.example', NEW_YEAR, 'ns2.dns.example', 'ns1.dns.example'),
        addresses('www.site.example', NEW_YEAR, '192.0.2.2', '192.0.2.1'),
        addresses('site.example', NEW_YEAR + DAY, '192.0.2.2'),
        addresses('site.example', NEW_YEAR, '192.0.2.2'),
      ],
    );
    const site = { hostname: 'site.example', domain: 'site.example' };
    const www = { hostname: 'www.site.example', domain: 'site.example' };
    const server = (hostname: string) => ({ hostname, domain: 'dns.example' });
    const a = { hostname: 'a.example', domain: 'a.example' };
    deepEqual(
      (await exported(store)).map((line) => JSON.parse(line)),
      [
        { ts: NEW_YEAR, name: site, kind: 'a', ips: ['192.0.2.2'] },
        { ts: NEW_YEAR + DAY, name: site, kind: 'a', ips: ['192.0.2.2'] },
        { ts: NEW_YEAR, name: www, kind: 'a', ips: ['192.0.2.1'] },
        { ts: NEW_YEAR, name: www, kind: 'a', ips: ['192.0.2.2'] },
        { ts: NEW_YEAR, name: site, kind: 'ns', servers: [server('ns1.dns.example')] },
        { ts: NEW_YEAR, name: site, kind: 'ns', servers: [server('ns2.dns.example')] },
        { ts: NEW_YEAR, name: site, kind: 'sender', ip: '203.0.113.9', helo: 'a' },
        { ts: NEW_YEAR, name: site, kind: 'sender', ip: '203.0.113.9', helo: 'b' },
        { ts: NEW_YEAR, name: site, kind: 'whois', createdTs: 5, expiresTs: null, registrar: null },
        { ts: NEW_YEAR, name: a, kind: 'rank', source: 'second', rank: 5 },
        { ts: NEW_YEAR, name: site, kind: 'rank', source: 'first', rank: 5 },
        { ts: NEW_YEAR, name: site, kind: 'rank', source: 'second', rank: 5 },
      ],
    );
  });

  test('an export of several pages is complete, and an abort ends it', async (t) => {
    const store = await open(t);
    const many = Array.from({ length: 1_100 }, (_, i) => i);
    await store.applyDomains(
      [...many.map((i) => named(`h${i}.site.example`)), ...many.map((i) => named(`d${i}.example`))],
      [
        ...many.map((i) => addresses('site.example', NEW_YEAR + i * DAY, '192.0.2.1')),
        addresses('www.site.example', NEW_YEAR + 5, '192.0.2.2', '192.0.2.1'),
        ...many.map((i) => rank(`d${i}.example`, NEW_YEAR, 'top', i + 1)),
      ],
    );
    equal(new Set(await exported(store)).size, 4 * many.length + 2);
    const newestTs = NEW_YEAR + 1_099 * DAY;
    const { id, addresses: known } = await stateOf(store, 'site.example');
    deepEqual(
      known.map(({ ip: key, lastTs }) => [formatIp(key), lastTs]),
      [
        ['192.0.2.1', newestTs],
        ['192.0.2.2', NEW_YEAR + 5],
      ],
    );
    deepEqual(
      (await store.domainAddresses(id, 10)).map(({ ip: key, lastTs, days }) => [formatIp(key), lastTs, days]),
      [
        ['192.0.2.1', newestTs, many.length],
        ['192.0.2.2', NEW_YEAR + 5, 1],
      ],
    );
    equal((await store.domainHostnames(id, 10_000)).length, many.length);
  });

  test('any order, batches and repetitions give the same states and the same export; so does importing the export', async (t) => {
    const [one, other, copy] = await Promise.all([open(t), open(t), open(t)]);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(anything, { minLength: 1, maxLength: 25 }),
        fc.infiniteStream(fc.nat()),
        async (made, numbers) => {
          run++;
          const items = made.map((item) => ofRun(item, run));
          const mixed = [...items, ...items.slice(0, 5)]
            .map((item) => ({ item, at: numbers.next().value as number }))
            .sort((a, b) => a.at - b.at)
            .map(({ item }) => item);
          await applyItems(one, items);
          for (let i = 0; i < mixed.length; i += 7) await applyItems(other, mixed.slice(i, i + 7));
          equal(await applyItems(other, items), 0);
          const lines = await exported(one);
          deepEqual(await exported(other), lines);
          for await (const page of one.exportDomains()) await applyItems(copy, page.toReversed());
          deepEqual(await exported(copy), lines);
          for (const domain of [`site${run}.example`, `dns${run}.example`]) {
            const state = await comparable(one, domain);
            deepEqual(await comparable(other, domain), state);
            deepEqual(await comparable(copy, domain), state);
          }
        },
      ),
      { numRuns: 15 },
    );
  });
}

type Item = DomainEvidence | DomainFact;

function isEvidence(item: Item): item is DomainEvidence {
  return (DOMAIN_KINDS as readonly string[]).includes(item.kind);
}

function applyItems(store: Intelligence, items: readonly Item[]): Promise<number> {
  return store.applyDomains(
    items.filter(isEvidence),
    items.filter((item) => !isEvidence(item)),
  );
}

/** The item with names that no other run of a property has. */
function ofRun(item: Item, run: number): Item {
  const renamed = ({ hostname }: { hostname: string }) => nameOf(hostname.replace('.example', `${run}.example`));
  const name = renamed(item.name);
  return item.kind === 'ns' ? { ...item, name, servers: item.servers.map(renamed) } : { ...item, name };
}

// Few values, so that items often meet in one row.
const anyHost = fc.constantFrom('site.example', 'a.site.example', 'b.site.example', 'ns.dns.example');
const anyTs = fc.integer({ min: 0, max: 8 }).map((n) => NEW_YEAR + n * 7 * DAY);
const anyAddress = fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1');
const anySource = fc.constantFrom('first', 'second');

const anything: fc.Arbitrary<Item> = fc.oneof(
  fc
    .tuple(anyHost, anySource, anyTs, fc.constantFrom(...DOMAIN_KINDS), fc.constantFrom(1, 25, 50, 100))
    .chain(([host, from, time, kind, confidence]) =>
      fc
        .record({ botname: fc.constantFrom(null, 'Mirai', 'x'), isAbused: fc.constantFrom(null, true, false) })
        .map((more) => named(host, { source: from, ts: time, kind, confidence, ...more })),
    ),
  fc.tuple(anyHost, anyTs, anyAddress).map(([host, time, text]) => addresses(host, time, text)),
  fc.tuple(anyHost, anyTs).map(([host, time]) => servers(host, time, 'ns.dns.example')),
  fc.tuple(anyHost, anyTs, anyAddress).map(([host, time, text]) => sender(host, time, text, '')),
  fc
    .tuple(anyHost, anyTs, fc.constantFrom(null, 'A', 'B'))
    .map(([host, time, registrar]) => whois(host, time, registrar)),
  fc
    .tuple(anyHost, anyTs, anySource, fc.integer({ min: 1, max: 9 }))
    .map(([host, time, from, value]) => rank(host, time, from, value)),
);
