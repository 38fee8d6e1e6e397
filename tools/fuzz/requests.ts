import { METHODS } from 'node:http';
import type { Route } from '../../src/http/endpoint.ts';
import { ROUTES } from '../../test/http/build.ts';
import { damaged, randomBody } from './bodies.ts';
import { createRandom, type Random } from './random.ts';

/** A request that may be malformed. */
export type FuzzRequest = {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: Buffer | null;
  /** The route of the request; null when its path was altered. */
  route: Route | null;
  /** Sent over a socket, possibly malformed as HTTP. Null: the request is injected into the server. */
  bytes: Buffer | null;
};

/** One request in this many is sent over a real socket, which costs a thousand times as much. */
const ONE_RAW_IN = 50;

const SENDABLE = METHODS.filter((method) => method !== 'CONNECT');
const IDS = [
  '1',
  '2',
  '3',
  '999999',
  '9007199254740991',
  '9007199254740992',
  '0',
  '01',
  '-1',
  '+1',
  '1.0',
  '1e3',
  'x',
  '%31',
  '%zz',
  '%00',
  '',
  '1'.repeat(120),
  '%F0%9F%98%80',
];
/** Values for the parameters of paths. Some are valid and known to the server. */
const PARAMETERS: Record<string, readonly string[]> = {
  id: IDS,
  dataset: ['ALL', 'XBL', 'css', 'Bcl', 'DROP', 'URL', 'DOMAIN', 'x', '', '%00', 'ALL%20', '__proto__', 'constructor'],
  mode: ['listed', 'listed', 'listings', 'LISTED', 'x', ''],
  type: ['live', 'live', 'history', 'Live', '%6Cive', ''],
  ip: [
    '203.0.113.7',
    '203.0.113.9',
    '203.0.113.130',
    '192.0.2.53',
    '10.0.0.0%2F8',
    '1.2.3',
    'a.example',
    '203.0.113.7%2F24',
    '203.0.113.7%2F23',
    '203.0.113.7%2F',
    '%2F24',
    '203.0.113.7%2F24%2F24',
    '2001:db8::1',
    '2001%3Adb8%3A%3A1',
    '2001:db8::1%2F56',
    '2001:db8::1%2F127',
    '::ffff:203.0.113.7',
    '::ffff:203.0.113.7%2F120',
    '::',
    '::1%25eth0',
    '[::1]',
    '0x7f.1',
    '203.0.113.07',
    '203.0.113.256',
    '0.0.0.0',
    '255.255.255.255',
    '%F0%9F%98%80',
    '%zz',
    '1'.repeat(2_000),
    ':'.repeat(500),
    '',
  ],
  mask: ['24', '32', '23', '0', '33', '64', '56', '128', '129', '-1', '1e1', '024', '%32%34', 'x', '', '9'.repeat(400)],
  domain: [
    'a.example',
    'controller.example',
    'example.com',
    'example.org',
    'CONTROLLER.example.',
    'gate.controller.example',
    'xn--bcher-kva.example',
    'b%C3%BCcher.example',
    'b%FCcher.example',
    'xn--.example',
    'xn--a%C2%AD.example',
    'com',
    'co.uk',
    'github.io',
    'user.github.io',
    '203.0.113.7',
    '[::1]',
    '::1',
    '1.2',
    '0x7f.example',
    'a..example',
    '..',
    '-',
    '*.ck',
    '%00',
    '%2F',
    '%zz',
    `${'a'.repeat(64)}.example`,
    'a.'.repeat(1_000),
    '%E2%80%8D.example',
    '__proto__',
    '',
  ],
};
const NUMBERS = [
  '0',
  '1',
  '7',
  '1000',
  '1767225600',
  '9007199254740991',
  '9007199254740992',
  '-1',
  '+1',
  '01',
  '1.5',
  '1e3',
  '',
  '%',
  '%31',
  'x',
  '\u0661',
];
const NAMES = ['since', 'until', 'limit', 'Since', 'limit[]', 'unknown', '__proto__', 'constructor', '%6Cimit', ''];
const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  [
    'content-type',
    [
      'application/json',
      'text/plain',
      'application/x-www-form-urlencoded',
      '',
      ';',
      'a/b;c="',
      '*/*',
      'application/json; charset=utf-16',
    ],
  ],
  ['content-length', ['0', '1', '70000', '-1', 'x', '1e3', '99999999999999999999']],
  ['authorization', ['Bearer x', 'Bearer', 'Basic eDp5', '\u00ff']],
  ['accept', ['text/html', 'application/x-ndjson', ';']],
  ['accept-version', ['1.0.0', 'x']],
  ['content-encoding', ['gzip', 'br']],
  ['expect', ['100-continue', 'x']],
  ['connection', ['close', 'upgrade', 'keep-alive, x']],
  ['upgrade', ['websocket', 'h2c']],
  ['x-http-method-override', ['DELETE']],
  ['range', ['bytes=0-1']],
  ['if-none-match', ['*']],
  ['cookie', ['a=b; __proto__=x']],
];

export function fuzzRequest(seed: number, index: number): FuzzRequest {
  const random = createRandom(seed, index);
  const route = random.pick(ROUTES);
  const path = randomPath(random, route);
  const method = random.chance(8) ? random.pick(SENDABLE) : route.endpoint.method;
  const body = method === 'POST' || random.chance(10) ? randomBody(random) : null;
  const request: FuzzRequest = {
    method,
    url: path.url + randomQuery(random),
    headers: randomHeaders(random),
    body,
    route: path.isExact ? route : null,
    bytes: null,
  };
  if (random.chance(ONE_RAW_IN)) request.bytes = randomBytes(random, request);
  return request;
}

/** The request as text, for a person to repeat it. */
export function describe(request: FuzzRequest): string {
  const { bytes, body, route: _route, ...rest } = request;
  if (bytes) return JSON.stringify(bytes.toString('latin1'));
  return JSON.stringify({ ...rest, body: body?.toString('latin1') });
}

function randomPath(random: Random, route: Route): { url: string; isExact: boolean } {
  const url = route.endpoint.path.replace(/:(\w+)/g, (_all, name) => random.pick(PARAMETERS[name] ?? IDS));
  switch (random.int(20)) {
    case 0:
      return { url: `${url}/`, isExact: false };
    case 1:
      return {
        url: `${url}${random.pick(['x', '%', '/..', '%2F', ';x', '%00', '//', '.json', '%C0%AF'])}`,
        isExact: false,
      };
    case 2:
      return { url: url.slice(0, random.int(url.length)) || '/', isExact: false };
    case 3:
      return { url: `${random.pick(['/', '/.', '/%', '/x'])}${url}`, isExact: false };
    case 4:
      return {
        url: url.replace(/[a-z]/g, (c) => (random.chance(5) ? `%${c.charCodeAt(0).toString(16)}` : c)),
        isExact: false,
      };
    default:
      return { url, isExact: !url.includes('//') };
  }
}

function randomQuery(random: Random): string {
  if (random.chance(2)) return '';
  const pairs = Array.from({ length: 1 + random.int(3) }, () => {
    const name = random.chance(3) ? random.pick(NAMES) : random.pick(['since', 'until', 'limit']);
    return random.chance(12) ? name : `${name}=${encodeURI(random.pick(NUMBERS)).replaceAll('%25', '%')}`;
  });
  return `?${pairs.join(random.chance(20) ? ';' : '&')}`;
}

function randomHeaders(random: Random): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let count = random.int(3); count > 0; count -= 1) {
    const [name, values] = random.pick(HEADERS);
    headers[name] = random.pick(values);
  }
  return headers;
}

/** The request as bytes, possibly damaged. Not for HEAD: its responses cannot be parsed without knowing the request. */
function randomBytes(random: Random, { method, url, headers, body }: FuzzRequest): Buffer {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (!random.chance(10)) fields.push('host: a\r\n');
  if (!random.chance(20)) fields.push('connection: close\r\n');
  if (random.chance(20)) fields.push(`x: ${'y'.repeat(random.int(40_000))}\r\n`);
  if (body && !('content-length' in headers)) fields.push(framing(random, body.length));
  const version = random.chance(15) ? random.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', '']) : 'HTTP/1.1';
  const verb = method === 'HEAD' ? 'GET' : method;
  const head = `${random.chance(20) ? 'CONNECT' : verb} ${url} ${version}\r\n${fields.join('')}\r\n`;
  const whole = Buffer.concat([Buffer.from(head, 'latin1'), body ?? Buffer.alloc(0)]);
  switch (random.int(5)) {
    case 0:
      return damaged(random, whole);
    case 1:
      return whole.subarray(0, random.int(whole.length + 1));
    case 2:
      return Buffer.concat([whole, whole.subarray(0, random.int(whole.length + 1))]);
    default:
      return whole;
  }
}

function framing(random: Random, length: number): string {
  if (random.chance(4)) return 'transfer-encoding: chunked\r\n';
  return `content-length: ${random.chance(6) ? random.int(2 * length + 2) : length}\r\n`;
}
