import type { Random } from './random.ts';

/** Valid, unusual and invalid URLs. */
const URLS = [
  'http://a.example/a.sh',
  'HTTP://user:pw@A.example:80/a.sh#top',
  'http://203.0.113.7/a',
  'https://b\u00fccher.example/?q=%7e',
  'http://nobody.example/',
  'hxxp://a.example/',
  'a.example',
  '//a.example/',
  'http://',
  'http:///x',
  'http://[::1',
  'http://a.example:99999/',
  'http://\ud800.example/',
  'http://a\\@b/',
  'http://0x7f.1/',
  `http://a.example/${'x'.repeat(8_180)}`,
  `http://a.example/${'\u00e9'.repeat(4_000)}`,
  '',
  '\0',
];
const KEYS: readonly (readonly [string, readonly unknown[]])[] = [
  ['url', URLS],
  [
    'ip',
    ['203.0.113.7', '203.0.113.0/24', '0.0.0.0/0', '::/0', '2001:db8::1', '::ffff:0:0/96', '1.2.3', '::1%eth0', '/8'],
  ],
  [
    'host',
    ['a.example', 'A.EXAMPLE.', '203.0.113.7', '[::1]', 'http://a.example', 'b\u00fccher.example', '..', 'a:80'],
  ],
  ['asn', [64500, '64500', 'AS64500', 'as0', 4294967295, 4294967296, -1, -0, 1.5, 1e300, '', 'AS', ' 1']],
  ['malware_family', ['Mirai', 'mIRAI', '', '\ud83d\ude00', '\udc00', 'x'.repeat(128), 'x'.repeat(129)]],
  ['sha256', ['ab'.repeat(32), 'AB'.repeat(32), 'ab', 'zz'.repeat(32)]],
  ['malware-family', ['Mirai']],
  ['__proto__', [{ url: 'http://a.example/a.sh' }]],
  ['constructor', [1]],
  ['toString', ['x']],
  ['code', [200]],
];
const STRANGE: readonly unknown[] = [
  null,
  true,
  0,
  1e308,
  '',
  [],
  {},
  [[]],
  [1],
  { url: 'x' },
  '\ud800',
  Number.MAX_SAFE_INTEGER + 2,
];
const BROKEN = [
  '',
  ' ',
  '{',
  '}',
  '[',
  '{"url"',
  '{"url":',
  '{"url":"',
  '{"url":"\\u12"}',
  '{"url":"a",}',
  'nul',
  '01',
  '1e999',
  '+1',
  'NaN',
  '"\t"',
  '{}{}',
  '\ufeff{}',
  '{"a":1}\0',
];

/** The bytes of a body. Half of the bodies are almost valid, because these reach the most code. */
export function randomBody(random: Random): Buffer {
  switch (random.int(12)) {
    case 0:
      return Buffer.from(random.pick(BROKEN));
    case 1:
      return randomBytes(random, random.int(64));
    case 2:
      return Buffer.from(nested(random));
    case 3:
      return Buffer.from(JSON.stringify(random.pick(STRANGE)));
    case 4:
      return damaged(random, Buffer.from(randomObject(random)));
    case 5:
      return Buffer.from(padded(random));
    default:
      return Buffer.from(randomObject(random));
  }
}

/** Not by JSON.stringify, so that a key can occur twice. */
function randomObject(random: Random): string {
  const count = random.chance(4) ? random.int(4) : 1;
  const members = Array.from({ length: count }, () => {
    const [key, values] = random.pick(KEYS);
    const value = random.chance(6) ? random.pick(STRANGE) : random.pick(values);
    return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
  });
  return `{${members.join(',')}}`;
}

function nested(random: Random): string {
  const depth = Math.min(10 ** random.int(5), 9_000); // within 64 KiB
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"url":', '}'],
  ] as const);
  const end = random.chance(2) ? `1${close.repeat(depth)}` : '';
  return open.repeat(depth) + end;
}

/** Sizes near the limit of 64 KiB. */
function padded(random: Random): string {
  if (!random.chance(8)) return randomObject(random);
  return randomObject(random).padEnd(65_530 + random.int(12), ' ');
}

export function damaged(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let times = 1 + random.int(3); times > 0 && copy.length > 0; times -= 1)
    copy[random.int(copy.length)] = random.int(256);
  return random.chance(3) ? copy.subarray(0, random.int(copy.length + 1)) : copy;
}

function randomBytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.int(256)));
}
