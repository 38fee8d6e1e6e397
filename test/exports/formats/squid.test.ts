import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ListContent } from '../../../src/exports/content.ts';
import { DEVICES } from '../../../src/exports/devices.ts';
import { listReader } from '../../needs.ts';
import { freePort, startChild, untilReady } from '../../servers/child.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { HOSTILE_HOSTS, HOSTILE_URLS, hostList, ODD_HOSTS, ODD_URLS, render, urlList } from './lists.ts';

/** A configuration that denies both lists and allows everything else. */
function configured(t: TestContext, hosts: ListContent, urls: ListContent, port = 3128): string {
  const folder = temporaryFolder(t);
  // Squid does not stay root.
  chmodSync(folder, 0o777);
  const { root } = listReader('squid');
  writeFileSync(join(folder, 'hosts'), render(hosts, 'squid').text);
  writeFileSync(join(folder, 'urls'), render(urls, 'squid').text);
  const file = join(folder, 'squid.conf');
  writeFileSync(
    file,
    `http_port 127.0.0.1:${port}
pid_filename none
cache_effective_user ${process.getuid?.() === 0 ? 'nobody' : ''}
cache_log ${folder}/cache.log
access_log none
netdb_filename none
pinger_enable off
shutdown_lifetime 0 seconds
cache deny all
coredump_dir ${folder}
visible_hostname proxy.test
dns_nameservers 127.0.0.1
mime_table ${root}/usr/share/squid/mime.conf
icon_directory ${root}/usr/share/squid/icons
error_directory ${root}/usr/share/squid/errors/templates
unlinkd_program ${root}/usr/lib/squid/unlinkd
acl hosts dstdomain -n "${folder}/hosts"
acl urls url_regex "${folder}/urls"
http_access deny hosts
http_access deny urls
http_access allow all
`.replace('cache_effective_user \n', ''),
  );
  return file;
}

/** What Squid says about its configuration, without the configuration itself. */
function complaints(file: string): string[] {
  const { path, env } = listReader('squid');
  const { status, stdout, stderr } = spawnSync(path, ['-k', 'parse', '-f', file], { env, encoding: 'utf8' });
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => !line.includes('| Processing: '));
  return [...lines.filter((line) => /error|warning|fatal/i.test(line)), ...(status === 0 ? [] : [`status ${status}`])];
}

const manyHosts = Array.from({ length: 2_000 }, (_, i) => `${'abc'.slice(i % 3)}${i}.example`);
const manyUrls = Array.from({ length: 2_000 }, (_, i) => `http://h${i}.example/${'path'.repeat(i % 7)}?x=${i}`);

test('Squid reads lists without a warning', (t) => {
  const withChildren = [...manyHosts, ...manyHosts.map((host) => `www.${host}`)];
  assert.deepEqual(complaints(configured(t, hostList(withChildren), urlList(manyUrls))), []);
  assert.deepEqual(complaints(configured(t, hostList([]), urlList([]))), []);
  const hosts = hostList([...HOSTILE_HOSTS, ...ODD_HOSTS]);
  assert.deepEqual(complaints(configured(t, hosts, urlList([...HOSTILE_URLS, ...ODD_URLS]))), []);
  // A list of one URL whose expression has 1,000, 1,024, 1,025, … characters.
  for (const length of [980, 1_004, 1_005, 1_006, 1_900]) {
    const url = `http://h/${'a'.repeat(length + 9)}`;
    assert.deepEqual(complaints(configured(t, hostList([]), urlList([url]))), [], `${length}`);
  }
});

test('Squid reads as many URLs as its configuration takes without a warning', (t) => {
  const squid = DEVICES.find(({ name }) => name === 'squid');
  const max = Number(squid?.formats.urls?.match(/max=(\d+)$/)?.[1]);
  // Their expressions have 59 characters on average, as those of real feeds.
  const urls = (count: number) =>
    Array.from(
      { length: count },
      (_, i) => `http://files-${100_000 + i}.example.com/payload-1/${'dir'.repeat(i % 4)}/bin.sh`,
    );
  const warnings = (count: number) => complaints(configured(t, hostList([]), urlList(urls(count)))).length;
  assert.equal(warnings(max), 0);
  assert.equal(warnings(2 * max), 1, 'the bound is needed');
});

test('Squid denies what is on a list, and nothing else', async (t) => {
  const origin = createServer((_, response) => response.end('origin')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  t.after(() => origin.close());
  const { port: originPort } = origin.address() as AddressInfo;
  const base = `http://127.0.0.1:${originPort}`;
  const odd = ['/a?b=$c&d=e', "/it's,1;x=y!", '/(a|b)*[c]+{1,2}?^$', '/"quotes";\\backslash:colon'];
  const encoded = ['/a%20b%0Ac', '/%E4%BD%A0%FF.zip', '/%7Cx%25%2e%2520', '/%00%%41%zz%'];
  const urls = [
    `${base}/bad.bin`,
    ...[...odd, ...encoded].map((path) => `${base}${path}`),
    ...ODD_URLS,
    ...HOSTILE_URLS,
  ];
  const port = await freePort();
  const hosts = hostList(['evil.example', ...ODD_HOSTS, ...HOSTILE_HOSTS]);
  const file = configured(t, hosts, urlList(urls), port);
  const { path, env } = listReader('squid');
  // Its name is part of the names of its shared memory, which a clean shutdown removes.
  const child = startChild(path, ['-N', '-n', `test${process.pid}`, '-d', '1', '-f', file], { env });
  t.after(() => child.end('SIGTERM'));
  await untilReady('squid', child, async () => (await statusOf(port, `${base}/good`).catch(() => 0)) === 200);

  for (const host of ['evil.example', 'www.evil.example', 'deep.1.odd.example']) {
    assert.equal(await statusOf(port, `http://${host}/`), 403, host);
  }
  for (const path of ['/bad.bin', ...odd, ...encoded]) assert.equal(await statusOf(port, `${base}${path}`), 403, path);
  for (const path of ['/badxbin', '/bad.bin2', '/x/bad.bin', '/bad.bin?', '/a', '/aaac1', '/', '/axbxc', '/xxxx.zip']) {
    assert.equal(await statusOf(port, `${base}${path}`), 200, path);
  }
});

async function statusOf(port: number, url: string): Promise<number> {
  const { host } = new URL(url);
  const sent = request({ host: '127.0.0.1', port, path: url, headers: { host }, agent: false }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}
