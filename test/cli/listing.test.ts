import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { onTerminal } from './on-terminal.ts';
import { urlwarden } from './urlwarden.ts';

const DAY = 86_400;
const NOW = Math.floor(Date.now() / 1000);

function open(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const run = (...args: string[]) => urlwarden(['listing', ...args, '--data', dataDir]);
  const add = (...args: string[]) => run('add', ...args, '--allow-reserved');
  const show = async (network: string) => JSON.parse((await run('show', network, '--allow-reserved', '--json')).stdout);
  /** Network, dataset, source and state of each listing. */
  const states = async (network: string) =>
    (await show(network)).listings.map((one: Record<string, string>) => [
      one.network,
      one.dataset,
      one.source,
      one.state,
    ]);
  const feed = async (lines: readonly object[]) => {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const { stdout } = await urlwarden(['import', 'ndjson', '-', '--allow-reserved', '--data', dataDir], text);
    assert.match(stdout, /rejected +0\n/);
  };
  return { dataDir, run, add, show, states, feed };
}

describe('urlwarden listing', { concurrency: 2 }, () => {
  it('add lists a network; show has its times, family, port and reason', async (t) => {
    const { run, add, show } = open(t);
    const added = await add(
      '203.0.113.7',
      '--dataset',
      'bcl',
      '--botname',
      'Emotet',
      '--port',
      '443',
      '--reason',
      'C2',
    );
    assert.deepEqual([added.code, added.stderr], [0, '']);
    assert.match(added.stdout, /^203\.0\.113\.7 is listed in BCL until 20\S+Z\.\n$/);
    const { network, listings, lists } = await show('203.0.113.7');
    assert.deepEqual([network, lists, listings.length], ['203.0.113.7', [], 1]);
    const [{ listed, seen, valid_until, ...rest }] = listings;
    assert.deepEqual(rest, {
      network: '203.0.113.7',
      dataset: 'BCL',
      source: 'operator',
      botname: 'Emotet',
      dstport: 443,
      state: 'live',
      details: { detection: 'C2' },
    });
    assert.ok(listed >= NOW && seen === listed && valid_until === seen + 7 * DAY);
    const { stdout } = await run('show', '203.0.113.7', '--allow-reserved');
    assert.match(stdout, /^NETWORK +DATASET +SOURCE +STATE\n/);
    assert.match(
      stdout,
      /\n203\.0\.113\.7 +BCL +operator +live\n {2}Emotet, port 443\n {2}listed .*\n {2}valid until .*\n {2}\{"detection":"C2"\}\n$/,
    );
  });

  it('show has listings around and inside the network, ended ones, and the lists that apply', async (t) => {
    const { dataDir, run, add, show, states, feed } = open(t);
    await feed([
      { ts: NOW - 60, cidr: '203.0.113.0/24', dataset: 'DROP', feed: 'drop' },
      { ts: NOW - 30 * DAY, ip: '203.0.113.7', dataset: 'CSS', feed: 'spam' },
    ]);
    await urlwarden(['import', 'url-list', '-', '--data', dataDir, '--allow-reserved'], 'http://203.0.113.7/x\n');
    await add('203.0.113.9', '--dataset', 'XBL');
    await urlwarden(['allow', 'add', '203.0.113.8/31', '--reason', 'scanner', '--data', dataDir]);
    assert.deepEqual((await states('203.0.113.7')).toSorted(), [
      ['203.0.113.0/24', 'DROP', 'drop', 'live'],
      ['203.0.113.7', 'CSS', 'spam', 'expired'],
      ['203.0.113.7', 'XBL', 'URL data', 'live'],
    ]);
    assert.equal((await states('203.0.113.0/24')).length, 4);
    assert.deepEqual((await states('203.0.113.9')).toSorted()[1], ['203.0.113.9', 'XBL', 'operator', 'allowed']);
    const url = await show('203.0.113.7');
    assert.deepEqual(
      url.urls.map((one: { url: string }) => one.url),
      ['http://203.0.113.7/x'],
    );
    assert.match((await run('show', '203.0.113.7')).stdout, /\n20\S+Z +http:\/\/203\.0\.113\.7\/x\n/);
    const allowed = await run('show', '203.0.113.9');
    assert.match(allowed.stdout, /\nallow +203\.0\.113\.8\/31 +operator\n {2}since \S+: scanner\n/);
    assert.match(
      allowed.stdout,
      /\n203\.0\.113\.9 is on an allow list, so no response about it contains a listing\.\n$/,
    );
    await urlwarden(['allow', 'add', '203.0.113.10/31', '--data', dataDir]);
    assert.match((await run('show', '203.0.113.8/30')).stdout, /\n203\.0\.113\.8\/30 is on an allow list, so no /);
    const reserved = await run('show', '198.51.100.1');
    assert.match(
      reserved.stdout,
      /^198\.51\.100\.1 is not listed, and was not\.\n\n198\.51\.100\.1 is reserved, so no response/,
    );
    assert.equal((await run('show', '8.8.8.8')).stdout, '8.8.8.8 is not listed, and was not.\n');
    const { screen } = await onTerminal(['listing', 'show', '198.51.100.1', '--data', dataDir]);
    assert.match(screen, /is reserved, so no response/);
    for (const line of screen.split('\n')) assert.ok(line.length <= 80, line);
  });

  it('remove ends the listings of every source for a time, derived ones too', async (t) => {
    const { dataDir, run, add, show, states, feed } = open(t);
    await urlwarden(['import', 'url-list', '-', '--data', dataDir], 'http://203.0.113.7/x\n');
    await feed([
      { ts: NOW - 60, ip: '203.0.113.7', dataset: 'XBL', feed: 'a' },
      { ts: NOW - 60, ip: '203.0.113.7', dataset: 'XBL', feed: 'a', botname: 'Mirai' },
      { ts: NOW - 60, ip: '203.0.113.7', dataset: 'CSS', feed: 'b' },
      { ts: NOW - 60, cidr: '203.0.113.0/24', dataset: 'DROP', feed: 'drop' },
    ]);
    const first = await run(
      'remove',
      '203.0.113.7',
      '--dataset',
      'xbl',
      '--for',
      '2d',
      '--reason',
      'ticket 1',
      '--json',
    );
    const { removed, still_covered_by } = JSON.parse(first.stdout);
    assert.deepEqual(removed.map((one: Record<string, unknown>) => [one.dataset, one.source, one.reason]).toSorted(), [
      ['XBL', 'URL data', 'ticket 1'],
      ['XBL', 'a', 'ticket 1'],
    ]);
    assert.deepEqual(
      [removed[0].removed_until - removed[0].remove_timestamp, still_covered_by],
      [2 * DAY, ['203.0.113.0/24']],
    );
    const second = await run('remove', '203.0.113.7');
    assert.match(
      second.stdout,
      /^Removed 203\.0\.113\.7 \(CSS, b\)\. The same sources can list it again after 20\S+Z\.\n/,
    );
    assert.match(
      second.stdout,
      /is still inside 203\.0\.113\.0\/24 \(DROP, drop\)\. To exempt it: urlwarden allow add 203/,
    );
    await feed([{ ts: NOW + 60, ip: '203.0.113.7', dataset: 'CSS', feed: 'b' }]);
    await add('203.0.113.7', '--dataset', 'CSS');
    assert.deepEqual((await states('203.0.113.7')).toSorted(), [
      ['203.0.113.0/24', 'DROP', 'drop', 'live'],
      ['203.0.113.7', 'CSS', 'b', 'removed'],
      ['203.0.113.7', 'CSS', 'operator', 'live'],
      ['203.0.113.7', 'XBL', 'URL data', 'removed'],
      ['203.0.113.7', 'XBL', 'a', 'removed'],
      ['203.0.113.7', 'XBL', 'a', 'removed'],
    ]);
    const shown = (await show('203.0.113.7')).listings.find((one: { source: string }) => one.source === 'a');
    assert.deepEqual([shown.removal_reason, shown.removed_until - shown.remove_timestamp], ['ticket 1', 2 * DAY]);
  });

  it('add ends the removal of a listing that the operator added', async (t) => {
    const { run, add, states } = open(t);
    await add('203.0.113.7', '--dataset', 'XBL');
    assert.equal((await run('remove', '203.0.113.7')).code, 0);
    assert.deepEqual((await states('203.0.113.7'))[0].at(-1), 'removed');
    assert.equal((await add('203.0.113.7', '--dataset', 'XBL', '--botname', 'mirai')).code, 0);
    assert.deepEqual((await states('203.0.113.7'))[0].at(-1), 'live');
  });

  it('remove of a network without a listing of its own says what covers or contains it', async (t) => {
    const { run, add } = open(t);
    await add('203.0.113.0/28', '--dataset', 'DROP');
    const inside = await run('remove', '203.0.113.7');
    assert.equal(inside.code, 1);
    assert.match(
      inside.stderr,
      /^203\.0\.113\.7 has no live listing of its own\.\nIt is inside 203\.0\.113\.0\/28 \(DROP, operator\)\. To exempt it: urlwarden allow add 203\.0\.113\.7\n/,
    );
    const around = await run('remove', '203.0.113.0/24');
    assert.equal(around.code, 1);
    assert.match(
      around.stderr,
      /\nIt contains one live listing 203\.0\.113\.0\/28 \(DROP, operator\)\. .*allow add 203\.0\.113\.0\/24\n/,
    );
    const other = await run('remove', '203.0.113.0/28', '--dataset', 'XBL');
    assert.match(
      other.stderr,
      /^203\.0\.113\.0\/28 has no live listing in XBL\.\nIt is listed as 203\.0\.113\.0\/28 \(DROP, operator\)\.\n/,
    );
    const nothing = await run('remove', '198.51.100.1');
    assert.equal(
      nothing.stderr,
      '198.51.100.1 has no live listing of its own.\nFor its history: urlwarden listing show 198.51.100.1\n',
    );
  });

  it('mistakes are explained', async (t) => {
    const { dataDir, run, add } = open(t);
    const noData = {
      code: 1,
      stdout: '',
      stderr: `There is no data in ${dataDir}: set the data folder with --data, or import a file first: urlwarden import FORMAT FILE\n`,
    };
    assert.deepEqual(await run('show', '192.0.2.1'), noData);
    assert.deepEqual(await run('remove', '192.0.2.1'), noData);
    await urlwarden(['allow', 'add', '192.0.2.0/24', '--data', dataDir]);
    for (const [args, message] of [
      [['show', 'a.example'], /^NETWORK must be like 203\.0\.113\.7, .* "a\.example" is no IP address/],
      [['show', '0.0.0.0/0'], /^NETWORK must be like .* "0\.0\.0\.0\/0" is wider than \/8/],
      [['add', '203.0.113.7'], /^--dataset NAME is missing\n/],
      [['add', '203.0.113.7', '--dataset', 'PBL'], /^--dataset must be one of XBL, CSS, BCL, DROP, not "PBL"\n/],
      [
        ['add', '203.0.113.7', '--dataset', 'BCL', '--port', 'x'],
        /^--port must be a number from 0 to 65535, not "x"\n/,
      ],
      [['add', '203.0.113.7', '--dataset', 'BCL', '--port', '70000'], /^--port must be a number .* not "70000"\n/],
      [['add', '203.0.113.7', '--dataset', 'XBL'], /^a private, documentation, .* --allow-reserved\n/],
      [
        ['remove', '203.0.113.7', '--for', 'ever'],
        /^--for must be a number with s, m, h or d, such as 24h or 7d, not "ever"\n/,
      ],
    ] as const) {
      const outcome = await run(...args);
      assert.equal(outcome.code, 2, args.join(' '));
      assert.match(outcome.stderr, message);
    }
    assert.match((await add('192.0.2.1', '--dataset', 'XBL')).stderr, /^192\.0\.2\.1: on an allow list\. To list it/);
    assert.match(
      (await add('0.0.0.0/4', '--dataset', 'DROP')).stderr,
      /^NETWORK must be .* "0\.0\.0\.0\/4" is wider than \/8/,
    );
  });
});
