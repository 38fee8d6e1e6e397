import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  containsNetwork,
  formatKeyNetwork,
  type KeyNetwork,
  networkAt,
  parseKeyNetwork,
} from '../../../src/core/ip/key-network.ts';
import type { ListContent } from '../../../src/exports/content.ts';
import { coalesced } from '../../../src/exports/formats/nft.ts';
import { listReader } from '../../needs.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { addressList, render } from './lists.ts';

const NETWORKS = [
  '198.51.100.7',
  '192.0.2.128/25',
  '192.0.2.0/25',
  '192.0.2.77',
  '203.0.113.4/30',
  '203.0.113.0/30',
  '2001:db8::/33',
  '2001:db8:8000::/33',
  '2001:db8::1',
];

test('nftables loads a script again and again, and finds what is in its sets', (t) => {
  const folder = temporaryFolder(t);
  const file = (name: string, list: ListContent) => {
    writeFileSync(join(folder, name), render(list, 'nft').text);
    return join(folder, name);
  };
  const hostile = [
    { ip: new Uint8Array(4), prefix: 32 },
    { ip: new Uint8Array(16), prefix: 0 },
    { ip: new Uint8Array(16), prefix: 4.5 },
    { ip: new Uint8Array(16), prefix: 129 },
  ].map((network) => ({ ...addressList(['192.0.2.1']).entries[0], network }));
  const content = addressList([...NETWORKS, '0.0.0.0/0']);
  const list = { ...content, entries: [...content.entries, ...hostile] } as ListContent;
  assert.equal(render(list, 'nft').inexpressible, 5);
  const { path, env } = listReader('nft');
  const element = (set: string, text: string) => `"$nft" get element inet urlwarden ${set}_test_list "{ ${text} }"`;
  // A network namespace of its own: nothing of the machine is changed, and nobody needs to be root.
  const script = `
    set -eu
    nft=$1
    "$nft" -c -f ${file('full', list)}
    "$nft" -f ${file('empty', addressList([]))}
    "$nft" -f ${file('other', addressList(['198.51.100.200', '192.0.2.0/24', '2001:db8::/16']))}
    "$nft" add chain inet urlwarden input '{ type filter hook input priority 0; }'
    "$nft" add rule inet urlwarden input ip saddr @ipv4_test_list drop
    for i in 1 2; do "$nft" -f ${file('full', list)}; done
    ${element('ipv4', '192.0.2.200')}
    ${element('ipv6', '2001:db8:ffff::1')}
    ! ${element('ipv4', '198.51.100.200')} 2>/dev/null
    "$nft" list ruleset`;
  const args = ['--map-root-user', '--net', 'sh', '-c', script, 'sh', path];
  const { status, stdout, stderr } = spawnSync('unshare', args, { env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const ruleset = stdout.slice(stdout.lastIndexOf('table inet')).replace(/\s+/g, ' ');
  assert.match(ruleset, /elements = \{ 192\.0\.2\.0\/24, 198\.51\.100\.7, 203\.0\.113\.0\/29 \}/);
  assert.match(ruleset, /elements = \{ 2001:db8::\/32 \}/);
  assert.match(ruleset, /ip saddr @ipv4_test_list drop/);
});

const network = fc
  .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 121, max: 128 }))
  .map(([last, prefix]) => networkAt(parseKeyNetwork(`192.0.2.${last}`)?.ip ?? new Uint8Array(16), prefix));

test('coalesced networks have the same addresses, do not overlap, and no two are halves of one', () => {
  const covers = (networks: readonly KeyNetwork[], address: KeyNetwork) =>
    networks.filter((outer) => containsNetwork(outer, address)).length;
  fc.assert(
    fc.property(fc.array(network, { maxLength: 40 }), (networks) => {
      const result = coalesced(networks);
      for (let last = 0; last < 256; last++) {
        const address = parseKeyNetwork(`192.0.2.${last}`) as KeyNetwork;
        assert.equal(covers(result, address), Math.min(1, covers(networks, address)), formatKeyNetwork(address));
      }
      assert.deepEqual(coalesced(result), result);
    }),
    { numRuns: 50 },
  );
  const halves = ['0.0.0.0/1', '128.0.0.0/1'].map((text) => parseKeyNetwork(text) as KeyNetwork);
  assert.deepEqual(coalesced(halves).map(formatKeyNetwork), ['0.0.0.0/1', '128.0.0.0/1']);
});
