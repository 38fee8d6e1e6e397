import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { listReader } from '../../needs.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { type Conversation, captureFile, tlsHello } from './capture.ts';
import { HOSTILE_HOSTS, HOSTILE_URLS, hostList, ODD_HOSTS, ODD_URLS, render, urlList } from './lists.ts';

/** Reads the capture with the rules. Returns the messages and identifiers of alerts, sorted; fails on any complaint about a rule. */
function alerts(t: TestContext, rules: string, conversations: readonly Conversation[]): string[] {
  const folder = temporaryFolder(t);
  const { path, root, env } = listReader('suricata');
  const etc = `${root}/etc/suricata`;
  const files = {
    rules: join(folder, 'list.rules'),
    capture: join(folder, 'pcap'),
    config: join(folder, 'config.yaml'),
  };
  writeFileSync(files.rules, rules);
  writeFileSync(files.capture, captureFile(conversations));
  writeFileSync(
    files.config,
    `%YAML 1.1
---
classification-file: ${etc}/classification.config
reference-config-file: ${etc}/reference.config
threshold-file: ${etc}/threshold.config
stats: { enabled: no }
outputs: [{ fast: { enabled: yes, filename: fast.log } }]
app-layer: { protocols: { http: { enabled: yes }, tls: { enabled: yes }, dns: { udp: { enabled: yes }, tcp: { enabled: yes } } } }
`,
  );
  const run = (...args: string[]) => {
    const all = ['-c', files.config, '-S', files.rules, '-l', folder, '-k', 'none', ...args];
    const { status, stdout, stderr } = spawnSync(path, all, { env, encoding: 'utf8' });
    const lines = `${stdout}${stderr}`.split('\n').filter((line) => /^(?:Error|Warning)/.test(line));
    assert.deepEqual({ status, lines }, { status: 0, lines: [] });
  };
  run('-T');
  run('-r', files.capture, '--runmode', 'single');
  const log = readFileSync(join(folder, 'fast.log'), 'utf8');
  return [...log.matchAll(/\[\*\*\] \[1:(\d+):1\] (.*?) \[\*\*\]/g)]
    .map(([, sid, message]) => `${sid} ${message}`)
    .sort();
}

const withoutSids = (found: readonly string[]) => found.map((line) => line.slice(line.indexOf(' ') + 1)).sort();

const get = (host: string, path: string): Conversation => ({
  port: 80,
  request: Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: x\r\n\r\n`, 'latin1'),
});

test('Suricata finds names of a list in DNS, HTTP and TLS', async (t) => {
  const { text } = render(hostList(['www.evil.example', 'evil.example', ...ODD_HOSTS, ...HOSTILE_HOSTS]), 'suricata');
  const found = alerts(t, text, [
    { dns: 'evil.example' },
    { dns: 'x.1.odd.example' },
    { dns: 'notevil.example' },
    { dns: 'odd.example' },
    get('www.evil.example', '/'),
    get('evil.example:8080', '/'),
    get('good.example', '/evil.example'),
    { port: 443, request: await tlsHello('deep.www.evil.example') },
    { port: 443, request: await tlsHello('good.example') },
  ]);
  assert.deepEqual(withoutSids(found), [
    'Urlwarden test-list host evil.example',
    'Urlwarden test-list host evil.example',
    'Urlwarden test-list name 1.odd.example',
    'Urlwarden test-list name evil.example',
    'Urlwarden test-list server name evil.example',
  ]);
});

/** A request alerts once. */
const BOTH = ['http://evil.example/bad.bin', 'https://evil.example/bad.bin'];

test('Suricata finds URLs of a list', (t) => {
  const { text } = render(urlList([...BOTH, ...ODD_URLS, ...HOSTILE_URLS]), 'suricata');
  const found = alerts(t, text, [
    get('evil.example', '/bad.bin'),
    get('EVIL.example', '/bad.bin'),
    get('evil.example', '/bad.bin2'),
    get('evil.example', '/x/bad.bin'),
    get('www.evil.example', '/bad.bin'),
    get('good.example', '/bad.bin'),
    get('odd.example', '/a?b=$c&d=|e|'),
    get('odd.example', '/"quotes";\\backslash:colon'),
    get('odd.example', '/%0d%0a%22%7C'),
    get('odd.example', '/(a|b)*[c]+{1,2}?^$'),
    get('odd.example:8080', '/x'),
    get('odd.example', '/x'),
    get('[2001:db8::1]:8443', '/x'),
    get('192.0.2.1', '/x'),
    get('odd.example', `/${'b'.repeat(1_980)}`),
  ]);
  assert.equal(found.length, 10, found.join('\n'));
});

test('Suricata finds names of a dataset', (t) => {
  const file = join(temporaryFolder(t), 'list');
  const rule = `alert dns any any -> any any (msg:"dataset"; dns.query; dataset:isset,list,type string,load ${file}; sid:1; rev:1;)\n`;
  writeFileSync(file, render(hostList([]), 'suricata-dataset').text);
  const asked: Conversation[] = [{ dns: 'evil.example' }, { dns: 'www.evil.example' }, { dns: 'good.example' }];
  assert.deepEqual(alerts(t, rule, asked), []);
  writeFileSync(file, render(hostList(['evil.example', ...HOSTILE_HOSTS, ...ODD_HOSTS]), 'suricata-dataset').text);
  assert.deepEqual(alerts(t, rule, asked), ['1 dataset']);
});

test('a rule keeps its identifier while the list changes, and two lists have different ones', () => {
  const sids = (hosts: string[], name = 'test-list') => {
    const { text } = render({ ...hostList(hosts), name }, 'suricata');
    return new Map([...text.matchAll(/content:"\.(.*?)".* sid:(\d+)/g)].map(([, host, sid]) => [host, Number(sid)]));
  };
  const many = Array.from({ length: 1_000 }, (_, i) => `h${i}.example`);
  const all = sids(many);
  assert.equal(new Set(all.values()).size, 1_000);
  for (const sid of all.values()) assert.ok(sid >= 1_000_000_000 && sid < 2_000_000_000);
  const some = sids(many.filter((_, i) => i % 3 === 0).toReversed());
  for (const [host, sid] of some) assert.equal(sid, all.get(host));
  assert.notEqual(sids(['h0.example'], 'other').get('h0.example'), all.get('h0.example'));
});
