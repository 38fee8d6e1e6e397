import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { ListKind } from '../../src/exports/content.ts';
import { DEVICES, deviceConfigurations } from '../../src/exports/devices.ts';
import { FORMATS, findFormat, kindsOf } from '../../src/exports/formats/formats.ts';
import { findProfile, PROFILES } from '../../src/exports/formats/profiles.ts';
import { listReader, needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { addressList, hostList, render } from './formats/lists.ts';

const DOCS = readFileSync(new URL('../../docs/lists.md', import.meta.url), 'utf8');
const NAMES = { hosts: 'hosts-malware', urls: 'urls-online', addresses: 'addresses-bcl' };

function textFor(device: string, kind: ListKind, baseUrl = 'https://urlwarden.example'): string {
  const list = { baseUrl, name: NAMES[kind], kind, key: 'uwk_KEY' };
  const found = deviceConfigurations(list).find((configuration) => configuration.device.name === device);
  return found?.text ?? assert.fail(device);
}

test('the formats, profiles and configurations in the documentation are those of the program', () => {
  for (const format of FORMATS) {
    assert.ok(
      DOCS.includes(`\n| \`${format.name}\` | ${kindsOf(format).join(', ')} | ${format.summary} |\n`),
      format.name,
    );
  }
  for (const { name, maxEntries } of PROFILES) {
    for (const max of Object.values(maxEntries)) {
      assert.ok(DOCS.includes(`\n| \`${name}\` | ${max.toLocaleString('en')} | `), name);
    }
  }
  for (const { name, title, note, formats } of DEVICES) {
    const kind = (['hosts', 'urls', 'addresses'] as const).find((candidate) => candidate in formats) ?? 'hosts';
    assert.ok(DOCS.includes(`\n### ${title}\n\n${note}\n\n\`\`\`\n${textFor(name, kind)}\n\`\`\`\n`), name);
  }
});

test('devices fetch formats and profiles that exist', () => {
  for (const { name, formats } of DEVICES) {
    for (const [kind, ending] of Object.entries(formats)) {
      const [format = '', query] = ending.split('?');
      const found = findFormat(kind as ListKind, format);
      assert.ok(found !== null, `${name}: ${ending}`);
      if (query === undefined) continue;
      const { profile, max, ...others } = Object.fromEntries(new URLSearchParams(query));
      assert.deepEqual(others, {});
      if (max !== undefined) assert.match(max, /^[1-9]\d*$/);
      if (profile === undefined) continue;
      assert.ok(found.takesProfile);
      assert.notEqual(findProfile(profile), null);
    }
  }
});

test('the configurations of BIND, Unbound and nftables are valid', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'configuration');
  const accepts = (program: 'named-checkconf' | 'unbound-checkconf', text: string) => {
    writeFileSync(file, text);
    const { path, env } = listReader(program);
    const { status, stdout, stderr } = spawnSync(path, [file], { env, encoding: 'utf8' });
    assert.equal(status, 0, `${program}: ${stdout}${stderr}`);
  };
  const withoutCron = (text: string) => text.slice(text.indexOf('\n\n'));
  accepts('named-checkconf', withoutCron(textFor('bind', 'hosts')));
  const unbound = textFor('unbound', 'hosts').replace('/etc/ssl/certs/ca-certificates.crt', file);
  accepts('unbound-checkconf', `${unbound}\nserver:\n    chroot: ""\n    username: ""\n    directory: ""\n`);

  const script = join(folder, 'addresses-bcl.nft');
  writeFileSync(script, render({ ...addressList(['192.0.2.1']), name: NAMES.addresses }, 'nft').text);
  writeFileSync(file, withoutCron(textFor('nftables', 'addresses')).replace(/"\/.*\.nft"/, `"${script}"`));
  const { path, env } = listReader('nft');
  const load = `"$1" -f ${file} && "$1" -f ${script} && "$1" list ruleset`;
  const args = ['--map-root-user', '--net', 'sh', '-c', load, 'sh', path];
  const { status, stdout, stderr } = spawnSync('unshare', args, { env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /elements = \{ 192\.0\.2\.1 \}[\s\S]*ip saddr @ipv4_addresses_bcl drop/);
});

test('the command for cron replaces the file only with a whole new one', async (t) => {
  needs('curl');
  const folder = temporaryFolder(t);
  let sent: { status: number; body: string; isCut?: boolean } = { status: 503, body: 'no' };
  const server = createServer((request, response) => {
    const etag = `"${sent.body.length}"`;
    const isKnown = sent.status === 200 && request.headers['if-none-match'] === etag;
    response.writeHead(isKnown ? 304 : sent.status, { etag, ...(sent.isCut ? { 'content-length': 1_000 } : {}) });
    if (sent.isCut) response.write(sent.body, () => response.destroy());
    else response.end(isKnown ? undefined : sent.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const [line = ''] = textFor('squid', 'hosts', `http://127.0.0.1:${(server.address() as AddressInfo).port}`).split(
    '\n',
  );
  const command = line.replace('*/5 * * * * root ', '').replaceAll('/etc/squid/', `${folder}/`);
  assert.ok(command.endsWith(' && squid -k reconfigure'));
  /** Whether the command would let the program read the file again. */
  const run = async () => {
    const { stdout } = await promisify(execFile)('sh', ['-c', `${command.replace('squid -k', 'echo')} || true`]);
    return stdout !== '';
  };
  const file = join(folder, 'hosts-malware.acl');
  assert.equal(await run(), false);
  assert.ok(!existsSync(file));

  const { text } = render(hostList(['evil.example']), 'squid');
  sent = { status: 200, body: text };
  assert.equal(await run(), true);
  assert.equal(readFileSync(file, 'utf8'), text);
  assert.equal(await run(), false);

  const longer = render(hostList(['evil.example', 'worse.example']), 'squid').text;
  for (const bad of [
    { status: 500, body: 'no' },
    { status: 200, body: longer, isCut: true },
  ]) {
    sent = bad;
    assert.equal(await run(), false);
    assert.equal(readFileSync(file, 'utf8'), text);
  }
  // The list is as before again, and half of the other one was left behind.
  sent = { status: 200, body: text };
  assert.equal(await run(), false);
  assert.equal(readFileSync(file, 'utf8'), text);
  sent = { status: 200, body: longer };
  assert.equal(await run(), true);
  assert.equal(readFileSync(file, 'utf8'), longer);
});
