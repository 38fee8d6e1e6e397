import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../../src/core/errors.ts';
import { DEFAULT_FETCH_LIMITS, type Download, type FetchOptions, openUrl } from '../../../src/ingest/sources/fetch.ts';
import { createGuard } from '../../../src/ingest/sources/fetch-guard.ts';
import { parseHeaderLine, shownUrl } from '../../../src/ingest/sources/fetch-url.ts';
import { INPUT_LIMITS } from '../../../src/ingest/sources/format.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { makeTlsPair } from '../../tls-pair.ts';

/** Allows the loopback network and resolves every host name to it. */
const GUARD = createGuard(['127.0.0.0/8'], async () => ['127.0.0.1']);

type Seen = { method: string | undefined; url: string | undefined; headers: IncomingMessage['headers'] };

async function serve(t: TestContext, answer: RequestListener) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    seen.push({ method: request.method, url: request.url, headers: request.headers });
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { seen, port, at: (host: string, path: string) => `http://${host}:${port}${path}` };
}

async function textOf(download: Download | 'not_modified'): Promise<string> {
  assert.ok(download !== 'not_modified');
  const chunks: Buffer[] = [];
  for await (const chunk of download.bytes()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const fetchText = async (url: string, options: Partial<FetchOptions> = {}) =>
  textOf(await openUrl(url, { guard: GUARD, ...options }));

describe('openUrl', () => {
  test('returns the bytes, the validators and the progress', async (t) => {
    const { at, seen } = await serve(t, (_request, response) => {
      response.writeHead(200, { etag: '"v1"', 'last-modified': 'Sat, 01 Nov 2025 00:00:00 GMT', 'content-length': 4 });
      response.end('rows');
    });
    const download = await openUrl(at('feeds.test', '/a.csv?x=1'), { guard: GUARD });
    assert.ok(download !== 'not_modified');
    assert.deepEqual(download.progress(), { readBytes: 0, totalBytes: 4 });
    assert.equal(await textOf(download), 'rows');
    assert.deepEqual(download.progress(), { readBytes: 4, totalBytes: 4 });
    assert.deepEqual([download.etag, download.lastModified], ['"v1"', 'Sat, 01 Nov 2025 00:00:00 GMT']);
    assert.deepEqual([seen[0]?.method, seen[0]?.url], ['GET', '/a.csv?x=1']);
    assert.equal(seen[0]?.headers['accept-encoding'], 'identity');
    assert.equal(seen[0]?.headers['user-agent'], 'urlwarden');
  });

  test('sends a conditional request and returns not_modified for a 304', async (t) => {
    const { at, seen } = await serve(t, (request, response) => {
      response.writeHead(request.headers['if-none-match'] === '"v1"' ? 304 : 200);
      response.end();
    });
    const lastModified = 'Sat, 01 Nov 2025 00:00:00 GMT';
    const open = (etag: string) => openUrl(at('a.test', '/'), { guard: GUARD, validators: { etag, lastModified } });
    assert.equal(await open('"v1"'), 'not_modified');
    assert.equal(seen[0]?.headers['if-modified-since'], lastModified);
    assert.equal(await textOf(await open('"v2"')), '');
  });

  test('a 304 without a conditional request is an error', async (t) => {
    const { at } = await serve(t, (_request, response) => response.writeHead(304).end());
    for (const options of [{}, { validators: { etag: null, lastModified: null } }])
      await assert.rejects(fetchText(at('a.test', '/'), options), /a\.test:\d+ responded with 304/);
  });

  test('an error status has a message with a hint, and Retry-After', async (t) => {
    const { at } = await serve(t, ({ url }, response) => {
      response.writeHead(Number(url?.slice(1)), { 'retry-after': '120' }).end();
    });
    for (const [status, message] of [
      [403, /responded with 403 Forbidden: check the key/],
      [404, /responded with 404 Not Found: check the URL$/],
      [503, /responded with 503 Service Unavailable: try again later$/],
      [206, /responded with 206 Partial Content$/],
    ] as const) {
      await assert.rejects(fetchText(at('a.test', `/${status}`)), (error) => {
        assert.ok(error instanceof AppError);
        assert.match(error.message, message);
        assert.equal(error.retryAfterSeconds, 120);
        return true;
      });
    }
  });

  test('accepts only http and https, and no password in the URL', async () => {
    for (const url of ['ftp://a.test/', 'file:///etc/passwd', 'data:,x', 'a.test', '', 'http://', 'javascript:1']) {
      await assert.rejects(fetchText(url), /is not an http or https URL/, url);
    }
    await assert.rejects(fetchText('http://user:secret@a.test/'), {
      message:
        'The URL contains a user name or a password: leave it out. ' +
        'A feed can send a password: urlwarden feed add NAME … --header Authorization',
    });
  });
});

describe('openUrl and hostile targets', () => {
  const strictGuard = createGuard([], async () => ['127.0.0.1']);

  test('an address of this machine is refused in every notation, unless allowed', async (t) => {
    const { port, seen } = await serve(t, (_request, response) => response.end('inside'));
    const hosts = ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '%31%32%37.0.0.1', '１２７.0.0.1'];
    for (const host of [...hosts, '[::1]', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]', '0', 'localhost.', 'a.test']) {
      const text = fetchText(`http://${host}:${port}/`, { guard: strictGuard });
      await assert.rejects(text, /is a blocked address/, host);
    }
    assert.equal(seen.length, 0);
    for (const host of hosts) assert.equal(await fetchText(`http://${host}:${port}/`), 'inside', host);
  });

  test('the checked address is the one that is connected to, whatever DNS answers next (DNS rebinding)', async (t) => {
    const inside = await serve(t, (_request, response) => response.end('inside'));
    const outside = createServer(({ url }, response) => {
      if (url === '/moved') response.writeHead(302, { location: '/' });
      response.end('outside');
    }).listen(inside.port, '127.0.0.2');
    await once(outside, 'listening');
    t.after(() => outside.close());
    const dns = await startDns(t);
    const guard = createGuard(['127.0.0.2'], dns.resolve);
    const at = (path: string) => inside.at('a.test', path);

    dns.answers.push(['127.0.0.2'], ['127.0.0.1']);
    assert.equal(await fetchText(at('/'), { guard }), 'outside');
    assert.equal(dns.answers.length, 1, 'one lookup for one connection');
    await assert.rejects(fetchText(at('/'), { guard }), /127\.0\.0\.1.*loopback/);
    dns.answers.push(['127.0.0.2'], ['127.0.0.1']);
    await assert.rejects(fetchText(at('/moved'), { guard }), /127\.0\.0\.1.*loopback/, 'after a redirect');
    dns.answers.push(['127.0.0.2', '127.0.0.1']);
    await assert.rejects(fetchText(at('/'), { guard }), /127\.0\.0\.1.*loopback/, 'as one of several addresses');
    assert.deepEqual([dns.answers, inside.seen], [[], []]);
  });

  test('a redirect to a blocked address or scheme is not followed', async (t) => {
    const targets = [
      'http://10.0.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'http://[fd00:ec2::254]/',
      'http://0xa9fea9fe/',
      '//[::ffff:10.0.0.1]/',
      'file:///etc/passwd',
      'ftp://a.test/',
      'http://inside.test/',
    ];
    const { at, seen } = await serve(t, ({ url }, response) => {
      response.writeHead(302, { location: targets[Number(url?.slice(1))] }).end();
    });
    const resolve = async (host: string) => [host === 'inside.test' ? '192.168.0.1' : '127.0.0.1'];
    for (const [i, target] of targets.entries()) {
      const text = fetchText(at('a.test', `/${i}`), { guard: { ...GUARD, resolve } });
      await assert.rejects(text, /is a blocked address|not followed/, target);
    }
    assert.equal(seen.length, targets.length);
  });

  test('up to five redirects are followed', async (t) => {
    const { at, seen } = await serve(t, ({ url }, response) => {
      const left = Number(url?.slice(1));
      if (left === 0) response.end('there');
      else response.writeHead(307, { location: `${left - 1}` }).end();
    });
    assert.equal(await fetchText(at('a.test', '/5')), 'there');
    seen.length = 0;
    await assert.rejects(fetchText(at('a.test', '/6')), /redirects more than 5 times/);
    assert.equal(seen.length, 6);
  });

  test('a key is sent only to the origin of the URL, and not after a redirect through another origin', async (t) => {
    const { at, seen } = await serve(t, ({ url }, response) => {
      const next = { '/1': '/2', '/2': at('b.test', '/3'), '/3': at('a.test', '/4') }[url ?? ''];
      if (next === undefined) response.end('there');
      else response.writeHead(301, { location: next }).end();
    });
    assert.equal(await fetchText(at('a.test', '/1'), { headers: { 'Auth-Key': 's3cret' } }), 'there');
    const keys = seen.map(({ headers }) => [headers.host?.split(':')[0], headers['auth-key']]);
    const expected = [
      ['a.test', 's3cret'],
      ['a.test', 's3cret'],
      ['b.test', undefined],
      ['a.test', undefined],
    ];
    assert.deepEqual(keys, expected);
  });

  test('a key is not sent to another port', async (t) => {
    const other = await serve(t, (_request, response) => response.end('there'));
    const { at } = await serve(t, (_request, response) => {
      response.writeHead(308, { location: other.at('a.test', '/') }).end();
    });
    await fetchText(at('a.test', '/'), { headers: { Authorization: 'Bearer x' } });
    assert.equal(other.seen[0]?.headers.authorization, undefined);
  });

  test('a redirect from HTTPS to HTTP is not followed', async (t) => {
    const plain = await serve(t, (_request, response) => response.end('read by anyone'));
    const pair = makeTlsPair(temporaryFolder(t), 'a');
    const server = createTlsServer(pair, ({ url }, response) => {
      if (url === '/there') response.end('there');
      else response.writeHead(302, { location: url === '/' ? plain.at('localhost', '/') : '/there' }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const authorities = getCACertificates();
    setDefaultCACertificates([pair.cert]);
    t.after(() => {
      setDefaultCACertificates(authorities);
      server.closeAllConnections();
      server.close();
    });
    const at = (path: string) => `https://localhost:${(server.address() as AddressInfo).port}${path}`;
    assert.equal(await fetchText(at('/same')), 'there');
    await assert.rejects(fetchText(at('/')), /redirects from https to http, which is not followed/);
    assert.equal(plain.seen.length, 0);
  });

  test('each request has its own connection, which is closed when the response is not used', async (t) => {
    const closed = new Map<Socket, Promise<unknown>>();
    const { at } = await serve(t, ({ url, socket }, response) => {
      closed.set(socket, once(socket, 'close'));
      if (url === '/whole') response.end('whole');
      else response.writeHead(url === '/moved' ? 302 : 404, { location: '/whole' }).write('x'); // and never an end
    });
    for (const path of ['/whole', '/moved']) assert.equal(await fetchText(at('a.test', path)), 'whole');
    await assert.rejects(fetchText(at('a.test', '/lost')), /responded with 404/);
    assert.equal(closed.size, 4);
    await Promise.all(closed.values());
  });

  test('a password in a redirect is not sent', async (t) => {
    const { at, seen } = await serve(t, ({ url }, response) => {
      if (url === '/there') response.end('there');
      else response.writeHead(302, { location: at('user:pw@b.test', '/there') }).end();
    });
    assert.equal(await fetchText(at('a.test', '/')), 'there');
    assert.equal(seen[1]?.headers.authorization, undefined);
  });
});

describe('openUrl and hostile responses', () => {
  test('the size is limited, with and without Content-Length', async (t) => {
    const { at } = await serve(t, ({ url }, response) => {
      if (url === '/announced') response.writeHead(200, { 'content-length': 101 });
      response.end('x'.repeat(101));
    });
    const { at: chunked } = await serve(t, (_request, response) => {
      response.write('x'.repeat(60));
      response.end('x'.repeat(41));
    });
    await assert.rejects(
      fetchText(at('a.test', '/announced'), { limits: { maxBytes: 100 } }),
      /has 101 bytes, more than the limit of 100/,
    );
    await assert.rejects(fetchText(chunked('a.test', '/'), { limits: { maxBytes: 100 } }), /more than 100 bytes/);
    assert.equal((await fetchText(chunked('a.test', '/'), { limits: { maxBytes: 101 } })).length, 101);
  });

  test('a truncated response is an error, and a response without a known length is refused', async (t) => {
    const port = await listenRaw(t, (socket, path) => {
      const head = { '/short': 'Content-Length: 9\r\n', '/chunked': 'Transfer-Encoding: chunked\r\n' }[path] ?? '';
      const body = path === '/chunked' ? '3\r\nabc\r\n' : 'abc';
      socket.end(`HTTP/1.1 200 OK\r\n${head}\r\n${body}`);
    });
    for (const path of ['/short', '/chunked']) {
      await assert.rejects(fetchText(`http://a.test:${port}${path}`), /closed the connection before the end/, path);
    }
    await assert.rejects(fetchText(`http://a.test:${port}/open`), /neither Content-Length nor chunks/);
  });

  test('a packed response is unpacked, within the limits', async (t) => {
    const { at } = await serve(t, ({ url }, response) => {
      if (url === '/said') response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync('a'.repeat(4_000_000)));
    });
    for (const path of ['/said', '/unsaid']) {
      const inputLimits = { ...INPUT_LIMITS, maxRatio: 10_000 };
      assert.equal((await fetchText(at('a.test', path), { inputLimits })).length, 4_000_000);
      await assert.rejects(fetchText(at('a.test', path)), /200 times their size/);
    }
  });

  test('an invalid response is an error without waiting for the timeout', async (t) => {
    const port = await listenRaw(t, (socket, path) => {
      if (path === '/nothing') socket.end();
      else if (path === '/noise') socket.end('SSH-2.0-x\r\n');
      else socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    });
    for (const path of ['/nothing', '/noise', '/upgrade']) {
      await assert.rejects(fetchText(`http://a.test:${port}${path}`), { code: 'unavailable' }, path);
    }
  });

  test('an unsupported Content-Encoding is refused', async (t) => {
    const { at } = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'br', 'content-length': 1 }).end('x');
    });
    await assert.rejects(fetchText(at('a.test', '/')), /Content-Encoding that is not supported/);
  });

  for (const [what, limits, path, message] of [
    ['no response headers', { idleTimeoutMs: 20 }, '/silent', /did not respond in time/],
    ['no next chunk', { idleTimeoutMs: 20 }, '/stalled', /stopped in the middle of its response/],
    ['single bytes', { idleTimeoutMs: 100 }, '/dripping', /sends it too slowly/],
    ['total time', { totalTimeoutMs: 20 }, '/stalled', /did not send the whole response within the time limit/],
  ] as const) {
    test(`timeout: ${what}`, async (t) => {
      const { at } = await serve(t, ({ url }, response) => {
        if (url === '/stalled') response.writeHead(200, { 'content-length': 9 }).write('abc');
        if (url === '/dripping') drip(response);
      });
      await assert.rejects(fetchText(at('a.test', path), { limits }), message);
    });
  }

  test('a response is not too slow if each piece comes in time', async (t) => {
    const { at } = await serve(t, (_request, response) => {
      drip(response);
      setTimeout(() => response.end(), 1_000);
    });
    const text = await fetchText(at('a.test', '/'), { limits: { idleTimeoutMs: 500, pieceBytes: 2 } });
    assert.match(text, /^x+$/);
  });

  test('timeout: DNS does not respond', async () => {
    const guard = { ...GUARD, resolve: () => new Promise<string[]>(() => {}) };
    await assert.rejects(
      fetchText('http://a.test/', { guard, limits: { connectTimeoutMs: 20 } }),
      /did not accept a connection in time/,
    );
  });

  test('the time of the reader does not count as idle', async (t) => {
    let finish = () => {};
    const { at } = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-length': 6 }).write('abcde');
      finish = () => response.end('f');
    });
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const download = await openUrl(at('a.test', '/'), { guard: GUARD });
    assert.ok(download !== 'not_modified');
    let text = '';
    for await (const chunk of download.bytes()) {
      text += chunk;
      t.mock.timers.tick(DEFAULT_FETCH_LIMITS.idleTimeoutMs);
      finish();
    }
    assert.equal(text, 'abcdef');
  });

  test('can be aborted during the download', async (t) => {
    const { at } = await serve(t, (_request, response) => {
      response.writeHead(200, { 'content-length': 9 }).write('abc');
    });
    const stop = new AbortController();
    const download = await openUrl(at('a.test', '/'), { guard: GUARD, signal: stop.signal });
    assert.ok(download !== 'not_modified');
    const reading = textOf(download);
    stop.abort(new Error('the server stops'));
    await assert.rejects(reading, /the server stops/);
  });

  test('a connection error has a message without the text of the system error', async () => {
    const failing = (code: string) => async () => {
      throw Object.assign(new Error(`getaddrinfo ${code} secret`), { code });
    };
    const fetchWith = (code: string) =>
      fetchText('http://a.test/?k=secret', { guard: { ...GUARD, resolve: failing(code) } });
    await assert.rejects(fetchWith('ENOTFOUND'), { message: /^a\.test has no address/ });
    await assert.rejects(fetchWith('ESOMETHING'), {
      message: 'a.test could not be fetched (ESOMETHING): try again later',
    });
  });

  test('a port that does not have the protocol of the URL', async (t) => {
    const { port } = await serve(t, (_request, response) => response.end());
    await assert.rejects(fetchText(`https://a.test:${port}/`), /did not complete a TLS handshake: .* begin with http:/);
    const server = createTcpServer((socket) => socket.on('error', () => {}).end('SSH-2.0-x\r\n')).listen(
      0,
      '127.0.0.1',
    );
    t.after(() => server.close());
    await once(server, 'listening');
    const other = (server.address() as AddressInfo).port;
    await assert.rejects(fetchText(`http://a.test:${other}/`), /sent something that is not HTTP: check the port/);
  });
});

describe('keys in URLs', () => {
  test('a placeholder is replaced by the value of a header, and names show neither it nor the query', async (t) => {
    const { at, seen } = await serve(t, (_request, response) => response.end('x'));
    const headers = { 'Auth-Key': 'a/b?c' };
    const download = await openUrl(at('a.test', '/{auth-key}/x.csv?k={Auth-Key}'), { guard: GUARD, headers });
    assert.ok(download !== 'not_modified');
    assert.equal(seen[0]?.url, '/a%2Fb%3Fc/x.csv?k=a%2Fb%3Fc');
    assert.equal(download.name, at('a.test', '/{auth-key}/x.csv?…'));
    await assert.rejects(fetchText(at('a.test', '/{Nope}')), /\{Nope\}/);
    const resolved: string[] = [];
    const resolve = async (host: string): Promise<string[]> => {
      resolved.push(host);
      return [];
    };
    await assert.rejects(fetchText('http://{auth-key}.test/', { headers, guard: { ...GUARD, resolve } }));
    assert.ok(
      resolved.every((host) => host.startsWith('{')),
      'a key is never part of a resolved host name',
    );
    assert.equal(shownUrl('https://u:p@h.test/x?auth-key=1#y'), 'https://…@h.test/x?…');
  });

  test('a header line is parsed, or refused without showing its value', () => {
    assert.deepEqual(parseHeaderLine(' Auth-Key : a: b '), ['Auth-Key', 'a: b']);
    for (const line of [
      's3cret',
      ': s3cret',
      'A B: s3cret',
      'A: s3cret\r\nB: c',
      'Host: s3cret',
      'A:',
      'range: s3cret',
    ]) {
      assert.throws(
        () => parseHeaderLine(line),
        (error: Error) => error instanceof AppError && !error.message.includes('s3cret'),
      );
    }
  });
});

describe('siblings of a download', () => {
  test('are fetched with the same key, only from the same folder or below', async (t) => {
    const { at, seen } = await serve(t, ({ url }, response) => response.end(url));
    const headers = { 'Auth-Key': 'k' };
    const validators = { etag: '"of the manifest"', lastModified: null };
    const manifest = await openUrl(at('a.test', '/feed/manifest.json'), { guard: GUARD, headers, validators });
    assert.ok(manifest !== 'not_modified');
    await textOf(manifest);
    const event = manifest.sibling('1234.json');
    assert.ok(event);
    assert.equal(await textOf(event as Download), '/feed/1234.json');
    assert.equal(seen[1]?.headers['auth-key'], 'k');
    assert.deepEqual(
      seen.map(({ headers }) => headers['if-none-match']),
      [validators.etag, undefined],
    );
    assert.deepEqual(event.progress(), { readBytes: 15, totalBytes: 15 });
    for (const path of ['../x', '/x', '//b.test/feed/x', 'http://b.test/feed/x', '%2e%2e/x', '..\\x', 'http://a b/']) {
      assert.equal(manifest.sibling(path), null, path);
    }
  });

  test('have one time limit together with the first file', async (t) => {
    const { at } = await serve(t, (_request, response) => response.end('x'));
    const limits = { totalTimeoutMs: 1_000 };
    const manifest = await openUrl(at('a.test', '/feed/manifest.json'), { guard: GUARD, limits });
    assert.ok(manifest !== 'not_modified');
    assert.equal(await textOf(manifest), 'x');
    await new Promise((resolve) => setTimeout(resolve, 1_010));
    await assert.rejects(textOf(manifest.sibling('1234.json') as Download), /within the time limit/);
  });
});

/** A DNS server with the addresses of its next answers, and a resolver that queries it. */
async function startDns(t: TestContext) {
  const answers: string[][] = [];
  const server = createSocket('udp4', (query, { port }) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const addresses = answers.shift() ?? [];
    const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, addresses.length, 0, 0, 0, 0]);
    // RFC 1035 §4.1.3: the name of the question, type A, class IN, a TTL of 0, four bytes.
    const records = addresses.flatMap((ip) => [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...ip.split('.').map(Number)]);
    server.send(Buffer.concat([header, question, Buffer.from(records)]), port);
  }).bind(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${server.address().port}`]);
  return { answers, resolve: (host: string) => resolver.resolve4(host) };
}

/** Sends a byte every few milliseconds. */
function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write('x'), 5);
  response.on('close', () => clearInterval(timer));
}

/** A TCP server, for responses that Node's HTTP server cannot send. */
async function listenRaw(t: TestContext, answer: (socket: Socket, path: string) => void): Promise<number> {
  const server = createTcpServer((socket) => {
    socket.once('data', (data) => answer(socket, `${data}`.split(' ')[1] ?? ''));
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}
