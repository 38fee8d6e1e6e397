import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LIST_KINDS, type ListContent } from '../../../src/exports/content.ts';
import { FORMATS, findFormat, formatsOf, kindsOf } from '../../../src/exports/formats/formats.ts';
import { findProfile, PROFILES } from '../../../src/exports/formats/profiles.ts';
import {
  addressEntry,
  addressList,
  HOSTILE_HOSTS,
  HOSTILE_URLS,
  hostList,
  ODD_HOSTS,
  ODD_URLS,
  render,
  SERIAL,
  urlList,
} from './lists.ts';
import { decodedBySquid, FORMAT_NAMES, readBack } from './read-back.ts';

test('which kind of list has which format', () => {
  const names = Object.fromEntries(
    LIST_KINDS.map((kind) => [
      kind,
      formatsOf(kind)
        .map(({ name }) => name)
        .join(' '),
    ]),
  );
  assert.deepEqual(names, {
    urls: 'txt squid suricata adblock csv ndjson',
    hosts: 'txt hosts rpz unbound dnsmasq squid suricata suricata-dataset adblock csv ndjson',
    addresses: 'txt csv ndjson nft',
  });
  const namesWith = (key: 'hasAllFields' | 'takesProfile') => FORMATS.filter((one) => one[key]).map(({ name }) => name);
  assert.deepEqual([namesWith('hasAllFields'), namesWith('takesProfile')], [['csv', 'ndjson'], ['txt']]);
  assert.equal(findFormat('urls', 'rpz'), null);
  assert.equal(findFormat('hosts', 'nft'), null);
  assert.equal(findFormat('hosts', 'constructor'), null);
  assert.deepEqual(FORMAT_NAMES.toSorted(), FORMATS.map(({ name }) => name).sort());
});

const HOSTS = hostList(['www.evil.example', 'evil.example']);
const URLS = urlList(['http://evil.example/a?b=c', 'https://evil.example:8443/x;y']);
const NETWORKS = addressList(['192.0.2.0/24', '2001:db8::1']);
const comments = (format: string, mark: string, entries: number) =>
  `${mark} Title: Urlwarden list test-list\n${mark} Format: ${format}\n${mark} Entries: ${entries}\n${mark} Serial: ${SERIAL}\n`;
const COVERED = 'Covered by another entry: 1\n';

const GOLDEN: readonly (readonly [ListContent, format: string, text: string])[] = [
  [URLS, 'txt', `${comments('txt', '#', 2)}http://evil.example/a?b=c\nhttps://evil.example:8443/x;y\n`],
  [HOSTS, 'txt', `${comments('txt', '#', 2)}www.evil.example\nevil.example\n`],
  [NETWORKS, 'txt', `${comments('txt', '#', 2)}192.0.2.0/24\n2001:db8::1\n`],
  [HOSTS, 'hosts', `${comments('hosts', '#', 2)}0.0.0.0 www.evil.example\n0.0.0.0 evil.example\n`],
  [
    HOSTS,
    'rpz',
    `${comments('rpz', ';', 1)}; ${COVERED}$TTL 60
@ IN SOA localhost. hostmaster.localhost. ${SERIAL} 300 60 604800 60
@ IN NS localhost.
evil.example IN CNAME .
*.evil.example IN CNAME .
`,
  ],
  [
    HOSTS,
    'unbound',
    `${comments('unbound', '#', 1)}# ${COVERED}server:\n    local-zone: "evil.example." always_nxdomain\n`,
  ],
  [HOSTS, 'dnsmasq', `${comments('dnsmasq', '#', 1)}# ${COVERED}local=/evil.example/\n`],
  [HOSTS, 'squid', `${comments('squid', '#', 1)}# ${COVERED}.evil.example\n`],
  [URLS, 'squid', `${comments('squid', '#', 2)}^http://evil\\.example/a\\?b=c$|^https://evil\\.example:8443/x;y$\n`],
  [
    URLS,
    'suricata',
    `${comments('suricata', '#', 2)}${[
      'http.host; content:"evil.example"; bsize:12; http.uri.raw; content:"/a?b=c"; bsize:6; priority:1; sid:1256972192',
      'http.host.raw; content:"evil.example|3a|8443"; bsize:17; nocase; http.uri.raw; content:"/x|3b|y"; bsize:4; priority:1; sid:1673899576',
    ]
      .map(
        (rule) =>
          `alert http any any -> any any (msg:"Urlwarden test-list URL"; flow:established,to_server; ${rule}; rev:1;)\n`,
      )
      .join('')}`,
  ],
  [HOSTS, 'suricata-dataset', 'd3d3LmV2aWwuZXhhbXBsZQ==\nZXZpbC5leGFtcGxl\n'],
  [HOSTS, 'adblock', `${comments('adblock', '!', 1)}! ${COVERED}! Expires: 1 hours\n||evil.example^\n`],
  [
    URLS,
    'adblock',
    `${comments('adblock', '!', 2)}! Expires: 1 hours\n||evil.example/a?b=c^$all\n||evil.example:8443/x;y^$all\n`,
  ],
  [
    URLS,
    'csv',
    `url,id,host,status,since,seen,reporter,malware_family,sha256_hash,tags\r\n${[
      'http://evil.example/a?b=c',
      'https://evil.example:8443/x;y',
    ]
      .map((url) => `${url},7,evil.example,online,1788000000,1789000000,'=1+1,Mirai,${'ab'.repeat(32)},"elf,x ""y"\r\n`)
      .join('')}`,
  ],
  [
    HOSTS,
    'ndjson',
    ['www.evil.example', 'evil.example']
      .map(
        (host) =>
          `{"host":"${host}","domain":"${host}","score":-5,"seen":1789000000,"malware_families":["Mirai","x,\\"y"],"urls":2,"since":1788000000}\n`,
      )
      .join(''),
  ],
  [
    NETWORKS,
    'csv',
    `network,dataset,listed,seen,valid_until,malware_family,port,sources\r\n${['192.0.2.0/24', '2001:db8::1']
      .map((network) => `${network},BCL,1788000000,1789000000,1791000000,Mirai,443,"feodo,threatfox"\r\n`)
      .join('')}`,
  ],
  [
    NETWORKS,
    'nft',
    `${comments('nft', '#', 2)}add table inet urlwarden
add set inet urlwarden ipv4_test_list { type ipv4_addr; flags interval; }
flush set inet urlwarden ipv4_test_list
add element inet urlwarden ipv4_test_list {
    192.0.2.0/24,
}
add set inet urlwarden ipv6_test_list { type ipv6_addr; flags interval; }
flush set inet urlwarden ipv6_test_list
add element inet urlwarden ipv6_test_list {
    2001:db8::1,
}
`,
  ],
];

for (const [content, format, text] of GOLDEN) {
  test(`${content.kind} as ${format}`, () => assert.equal(render(content, format).text, text));
}

test('an empty list is a file with a comment, if the format has comments', () => {
  for (const format of FORMATS) {
    for (const kind of kindsOf(format)) {
      const list = { ...{ urls: URLS, hosts: HOSTS, addresses: NETWORKS }[kind], entries: [] } as ListContent;
      const { text, entries } = render(list, format.name);
      assert.equal(entries, 0);
      assert.deepEqual(readBack(format.name, kind, text), []);
      assert.equal(text.includes(`${format.comment} Entries: 0 (the list is empty)\n`), format.comment !== null);
    }
  }
});

test('the comments count what is missing', () => {
  const content = { ...hostList(['a.example', 'b.example', 'c.example', 'x.a.example', 'a b.example', 'd.example']) };
  const list: ListContent = { ...content, name: 'x\ny', leftOut: { 'shared-site': 3, allowed: 1, excluded: 2 } };
  const { text, ...counts } = render(list, 'dnsmasq', { max: 4 });
  assert.deepEqual(counts, { entries: 3, inexpressible: 1, covered: 1, cut: 1 });
  const [, ...lines] = text.split('\n# ');
  assert.deepEqual(lines.slice(2, -1), [
    `Serial: ${SERIAL}`,
    'Left out, allowed: 1',
    'Left out, excluded: 2',
    'Left out, shared-site: 3',
    'Left out, not possible in this format: 1',
    'Covered by another entry: 1',
  ]);
  assert.match(lines.at(-1) ?? '', /^Cut by max=4: 1 older entry is missing\nlocal=\/a\.example\/\n/);
  assert.match(text, /^# Title: Urlwarden list xy\n/);
});

test('a name stays if its parent is cut off', () => {
  const { text } = render(hostList(['www.evil.example', 'other.example', 'evil.example']), 'squid', { max: 2 });
  assert.deepEqual(readBack('squid', 'hosts', text), ['www.evil.example', 'other.example']);
});

test('profiles of devices', () => {
  const profile = findProfile('pan-os');
  const longest = `http://evil.example/${'a'.repeat(242)}`;
  const urls = [
    longest,
    `${longest}a`,
    'https://evil.example:8443/x',
    'http://evil.example:8443/x',
    'http://evil.example/*',
    'http://[2001:db8::1]/',
  ];
  const { text, inexpressible, covered } = render(urlList(urls), 'txt', { profile });
  assert.deepEqual([inexpressible, covered], [2, 1]);
  const lines = readBack('txt', 'urls', text);
  assert.deepEqual(lines, [longest.slice(7), 'evil.example:8443/x', '[2001:db8::1]/']);
  assert.equal(lines[0]?.length, 255);

  const many = addressList(['192.0.2.1']);
  const entries = Array.from({ length: 50_002 }, (_, i) => addressEntry(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`));
  const cut = render({ ...many, entries } as ListContent, 'txt', { profile, max: 60_000 });
  assert.deepEqual([cut.entries, cut.cut], [50_000, 2]);
  assert.match(cut.text, /\n# Cut by max=60000, profile=pan-os: 2 older entries are missing\n/);
});

test('a profile with a limit of bytes keeps the newest entries that fit', () => {
  const profile = findProfile('fortigate');
  const urls = Array.from({ length: 1_300 }, (_, i) => `http://h${i}.example/${'x'.repeat(8_000)}`);
  const { text, entries, cut } = render(urlList([...urls, 'http://short.example/']), 'txt', { profile });
  assert.ok(text.length <= 10_000_000 && text.length > 9_980_000, `${text.length}`);
  assert.equal(entries + cut, 1_301);
  assert.deepEqual(readBack('txt', 'urls', text), urls.slice(0, entries));
  assert.match(text, /\n# Cut by profile=fortigate: /);
  const oneMore = render(urlList([...urls.slice(0, entries + 1), 'http://short.example/']), 'txt', { profile });
  assert.deepEqual([oneMore.entries, oneMore.cut], [entries, 2], 'none after the first that does not fit');
  assert.equal(PROFILES.length, 2);
});

test('adblock has no rule for FTP and for IPv6 addresses', () => {
  const urls = ['ftp://evil.example/a', 'http://[2001:db8::1]/', 'http://evil.example/'];
  const { text, inexpressible } = render(urlList(urls), 'adblock');
  assert.equal(inexpressible, 2);
  assert.match(text, /hours\n\|\|evil\.example\/\^\$all\n$/);
});

test('the serial of a zone has 32 bits', () => {
  assert.match(render({ ...HOSTS, serial: 2 ** 32 + 5 }, 'rpz').text, / hostmaster\.localhost\. 5 300 /);
});

test('characters that end a line in some programs are escaped in NDJSON', () => {
  const { text } = render(withTexts(URLS, 'a\u007f\u0085\u2028b'), 'ndjson');
  assert.match(text, /"reporter":"a\\u007f\\u0085\\u2028b"/);
});

test('hostile entries are on no list, odd ones come back as they are', () => {
  for (const { name } of formatsOf('hosts')) {
    const { text, inexpressible } = render(hostList([...HOSTILE_HOSTS, ...ODD_HOSTS]), name);
    assert.equal(inexpressible, HOSTILE_HOSTS.length, name);
    assert.deepEqual([...new Set(readBack(name, 'hosts', text))], ODD_HOSTS, name);
  }
  for (const { name } of formatsOf('urls')) {
    const { text, entries } = render(urlList([...HOSTILE_URLS, ...ODD_URLS]), name);
    const read = readBack(name, 'urls', text);
    assert.equal(read.length, entries);
    for (const url of read)
      assert.ok(
        ODD_URLS.some((odd) => [odd, odd.replace(/^\w+:\/\//, ''), decodedBySquid(odd)].includes(url)),
        url,
      );
    assert.ok(entries >= ODD_URLS.length - 8, `${name}: ${entries}`);
  }
});

const character = fc.oneof(
  fc.constantFrom(...'"\';:|\\$%^*#!@&/?.,()[]{}<>=+-_~` \t\r\n\0\v\f'),
  fc.constantFrom('\u0085', '\u2028', '\u2029', 'ü', '\ud800', '\u202e'),
  fc.constantFrom(...'aZ09'),
);
const piece = fc.string({ unit: character, maxLength: 12 });
const host = fc.oneof(
  fc.tuple(fc.constantFrom('evil', 'www.evil', 'a.b', 'x-1'), piece).map(([name, text]) => `${name}${text}.example`),
  fc.constantFrom('evil.example', 'www.evil.example', ...ODD_HOSTS, ...HOSTILE_HOSTS),
  piece,
);
const url = fc.oneof(
  fc
    .tuple(fc.constantFrom('http', 'https', 'ftp'), host, piece)
    .map(([scheme, name, path]) => `${scheme}://${name}/${path}`),
  fc.constantFrom(...ODD_URLS, ...HOSTILE_URLS),
  piece,
);

/** Fields beside the key are hostile too. */
function withTexts(content: ListContent, text: string): ListContent {
  const texts = { reporter: text, family: text, tags: [text], families: [text], domain: text, sources: [text] };
  return { ...content, name: text, entries: content.entries.map((entry) => ({ ...entry, ...texts })) } as ListContent;
}

for (const { name } of FORMATS) {
  test(`every line of ${name} is a comment or an entry of the list`, () => {
    const some = fc.tuple(fc.array(host, { maxLength: 8 }), fc.array(url, { maxLength: 8 }), piece);
    fc.assert(
      fc.property(some, ([hosts, urls, text]) => {
        for (const list of [hostList(hosts), urlList(urls), NETWORKS]) {
          if (findFormat(list.kind, name) === null) continue;
          const { text: file } = render(withTexts(list, text), name);
          const allowed = {
            hosts,
            urls: [...urls, ...urls.map(name === 'squid' ? decodedBySquid : withoutScheme)],
            addresses: ['192.0.2.0/24', '2001:db8::1'],
          };
          for (const value of readBack(name, list.kind, file)) assert.ok(allowed[list.kind].includes(value), value);
        }
      }),
      { numRuns: 200 },
    );
  });
}

const withoutScheme = (text: string) => text.replace(/^\w+:\/\//, '');
