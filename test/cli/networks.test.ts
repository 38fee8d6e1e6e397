import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { mmdbOf } from '../ingest/mmdb.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

function open(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const table = join(dataDir, 'asn.mmdb');
  writeFileSync(table, mmdbOf({ '192.0.2.0/24': { autonomous_system_number: 64500 } }));
  return { dataDir, table };
}

describe('urlwarden networks', () => {
  it('lookup shows the network of each address', async (t) => {
    const { table } = open(t);
    const lookup = (...args: string[]) => urlwarden(['networks', 'lookup', ...args]);
    const { stdout } = await lookup('192[.]0[.]2[.]9', '2001:db8::1', '--asn-db', table);
    assert.equal(stdout, 'ADDRESS      NETWORK\n192.0.2.9    AS64500\n2001:db8::1  unknown\n');
    const json = await lookup('192.0.2.9', '--asn-db', table, '--json');
    assert.equal(json.stdout, '[{"ip":"192.0.2.9","asn":64500}]\n');
    for (const [args, code, reason] of [
      [['192.0.2.9'], 2, /^--asn-db FILE is missing/],
      [['--asn-db', table], 2, /^ADDRESS is missing/],
      [['a.example', '--asn-db', table], 2, /^"a\.example" is not an IP address\n/],
      [['192.0.2.9', '--asn-db', '/nowhere'], 1, /^The ASN table \/nowhere does not exist/],
      [
        ['192.0.2.9', '--asn-db', '/'],
        1,
        /^The folder \/ has no asn-ipv4-num\.csv: set --asn-db to an MMDB file, or .*\n$/,
      ],
    ] as const) {
      const refused = await lookup(...args);
      assert.equal(refused.code, code);
      assert.match(refused.stderr, reason);
    }
  });

  it('refill fills in the networks of addresses that were stored without a table', async (t) => {
    const { dataDir, table } = open(t);
    const list = 'http://192.0.2.1/a\nhttp://192.0.2.1/b\nhttp://198.51.100.1/\n';
    const imported = await urlwarden(['import', 'url-list', '-', '--data', dataDir], list);
    assert.equal(imported.code, 0, imported.stderr);
    const refill = (...args: string[]) => urlwarden(['networks', 'refill', ...args, '--data', dataDir]);
    const first = await refill('--asn-db', table, '--json');
    assert.deepEqual(JSON.parse(first.stdout), { addresses: 2, unknown: 1, resolutions: 2 });
    const second = await refill('--asn-db', table);
    const text = 'Looked up 1 address without a network: 1 not in the table, 0 resolutions changed.\n';
    assert.deepEqual(second, { code: 0, stdout: text, stderr: '' });
  });
});
