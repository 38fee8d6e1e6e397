import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { listReader } from '../../needs.ts';
import { freePort, startChild, untilReady } from '../../servers/child.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { HOSTILE_HOSTS, hostList, ODD_HOSTS, render, SERIAL } from './lists.ts';

/** The parent comes after the name below it, and twice. */
const NAMES = ['www.evil.example', 'evil.example', 'evil.example', 'other.bad.example', ...ODD_HOSTS];
const LIST = hostList([...NAMES, ...HOSTILE_HOSTS]);
const RPZ_LIST = hostList([...NAMES, ...HOSTILE_HOSTS].map((host) => host.replace(/evil|bad|odd/, '$&-rpz')));

const blocked = (suffix = '') =>
  ['evil.example', 'www.evil.example', 'deep.www.evil.example', 'other.bad.example', ...ODD_HOSTS].map((host) =>
    host.replace(/evil|bad|odd/, `$&${suffix}`),
  );
/** The parent of a listed name, and names that only look similar. */
const FREE = ['bad.example', 'notevil.example', 'good.example', 'nul.example', 'quote.example'];

type Answer = (name: string) => Promise<string>;

/** The first address, or the code of the error. */
async function start(t: TestContext, program: 'dnsmasq' | 'unbound', args: string[], port: number): Promise<Answer> {
  const { path, env } = listReader(program);
  const child = startChild(path, args, { env });
  t.after(() => child.end('SIGTERM'));
  const resolver = new Resolver({ timeout: 5_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${port}`]);
  const answer = (name: string): Promise<string> =>
    resolver.resolve4(name).then(
      ([address]) => address ?? '',
      ({ code }) => code,
    );
  await untilReady(program, child, async () => (await answer('ready.example')) === '192.0.2.7');
  return answer;
}

async function startDnsmasq(t: TestContext, extra: string[]): Promise<Answer> {
  const port = await freePort();
  const own = ['--keep-in-foreground', '--user=root', '--pid-file=', '--no-resolv', '--no-hosts', `--port=${port}`];
  const place = ['--listen-address=127.0.0.1', '--bind-interfaces', '--host-record=ready.example,192.0.2.7'];
  return start(t, 'dnsmasq', [...own, ...place, ...extra], port);
}

/** A name server that has all names, and no record of them. */
async function startEmptyServer(t: TestContext): Promise<number> {
  const server = createSocket('udp4').bind(0, '127.0.0.1');
  t.after(() => server.close());
  server.on('message', (query, from) => {
    const IS_RESPONSE = 0x80;
    const RECURSION_AVAILABLE = 0x80;
    query[2] = (query[2] ?? 0) | IS_RESPONSE;
    query[3] = RECURSION_AVAILABLE;
    server.send(query, from.port, from.address);
  });
  await once(server, 'listening');
  return server.address().port;
}

function written(t: TestContext, name: string, text: string): string {
  const file = join(temporaryFolder(t), name);
  writeFileSync(file, text);
  return file;
}

test('dnsmasq blocks the names of the format dnsmasq and those below them', async (t) => {
  const list = written(t, 'list.conf', render(LIST, 'dnsmasq').text);
  const answer = await startDnsmasq(t, [`--conf-file=${list}`]);
  for (const name of blocked()) assert.equal(await answer(name), 'ENOTFOUND', name);
  for (const name of FREE) assert.equal(await answer(name), 'EREFUSED', name);
});

test('dnsmasq answers the names of a hosts file with 0.0.0.0', async (t) => {
  const list = written(t, 'hosts', render(LIST, 'hosts').text);
  const answer = await startDnsmasq(t, ['--conf-file=/dev/null', `--addn-hosts=${list}`]);
  for (const name of NAMES) assert.equal(await answer(name), '0.0.0.0', name);
  for (const name of [...FREE, 'deep.www.evil.example']) assert.equal(await answer(name), 'EREFUSED', name);
});

test('Unbound blocks the names of an included file and of a response policy zone', async (t) => {
  const port = await freePort();
  const list = written(t, 'list.conf', render(LIST, 'unbound').text);
  const zone = written(t, 'list.rpz', render(RPZ_LIST, 'rpz').text);
  const config = `
server:
    interface: 127.0.0.1
    port: ${port}
    username: ""
    chroot: ""
    directory: ""
    pidfile: ""
    use-syslog: no
    do-daemonize: no
    num-threads: 1
    do-not-query-localhost: no
    module-config: "respip iterator"
    local-zone: "ready.example." static
    local-data: "ready.example. A 192.0.2.7"
include: "${list}"
rpz:
    name: "rpz.test."
    zonefile: "${zone}"
forward-zone:
    name: "."
    forward-addr: 127.0.0.1@${await startEmptyServer(t)}
`;
  const answer = await start(t, 'unbound', ['-d', '-c', written(t, 'unbound.conf', config)], port);
  for (const name of [...blocked(), ...blocked('-rpz')]) assert.equal(await answer(name), 'ENOTFOUND', name);
  for (const name of [...FREE, 'bad-rpz.example']) assert.equal(await answer(name), 'ENODATA', name);
});

test('BIND loads a response policy zone under any name', (t) => {
  const longest = `${'n.'.repeat(90)}example`;
  assert.equal(longest.length, 187);
  const tooLong = `n${longest}`;
  const rules = ['32.1.2.0.192.rpz-ip', 'ns.example.rpz-nsdname'];
  const { text, inexpressible } = render(hostList([...NAMES, ...HOSTILE_HOSTS, longest, tooLong, ...rules]), 'rpz');
  assert.equal(inexpressible, HOSTILE_HOSTS.length + 1 + rules.length);
  const { path, env } = listReader('named-checkzone');
  for (const [origin, zone] of [
    ['rpz.test', text],
    [`${'z'.repeat(57)}.block`, text],
    ['empty.test', render(hostList([]), 'rpz').text],
  ] as const) {
    const { status, stdout } = spawnSync(path, [origin, written(t, 'zone', zone)], { env, encoding: 'utf8' });
    assert.equal(status, 0, stdout);
    assert.match(stdout, new RegExp(`^zone ${origin}/IN: loaded serial ${SERIAL}\nOK\n$`));
  }
});
