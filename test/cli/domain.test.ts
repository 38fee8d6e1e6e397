import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { openIntelligence } from '../../src/app/stores.ts';
import { dataFiles } from '../../src/database/data-folder.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

const nowTs = () => Math.floor(Date.now() / 1000);

function open(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const run = (...args: string[]) => urlwarden(['domain', ...args, '--data', dataDir]);
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json');
    assert.deepEqual([code, stderr], [0, '']);
    return JSON.parse(stdout);
  };
  return { dataDir, run, json };
}

describe('urlwarden domain', { concurrency: 2 }, () => {
  it('set changes the given values and keeps the others; show prints them', async (t) => {
    const { run, json } = open(t);
    const first = await run('set', 'Bad.Example.', '--human', '-25', '--reason', 'phishing kit, ticket 1');
    const text = 'bad.example has -25 points by the operator; abused: decided by the data.\n';
    assert.deepEqual(first, { code: 0, stdout: text, stderr: '' });
    const second = await json('set', 'bad.example', '--abused', 'no');
    assert.deepEqual(
      { ...second, set_ts: 0 },
      { domain: 'bad.example', human: -25, abused: false, reason: 'phishing kit, ticket 1', set_ts: 0 },
    );
    const shown = await json('show', 'bad.example');
    assert.deepEqual(
      [shown.score, shown.is_listed, shown.abused, shown.settings],
      [-25, true, false, expected(second)],
    );
    assert.deepEqual(shown.dimensions, { human: -25, identity: 0, infra: 0, malware: 0, smtp: 0 });
    assert.ok(shown.listed_until > nowTs());
    assert.equal(
      shown.reasons.reduce((sum: number, { points }: { points: number }) => sum + points, 0),
      shown.score,
    );
    const unset = await json('set', 'bad.example', '--human', '+5', '--abused', 'unset', '--reason', 'cleaned');
    assert.deepEqual([unset.human, unset.abused, unset.reason], [5, undefined, 'cleaned']);
    const after = await json('show', 'bad.example');
    assert.deepEqual([after.score, after.is_listed, after.listed_until], [5, false, undefined]);
  });

  it('show explains the score of evidence, facts and lists', async (t) => {
    const { dataDir, run, json } = open(t);
    const ts = nowTs();
    const name = { hostname: 'cc.bad.example', domain: 'bad.example' };
    const store = await openIntelligence({ dataDir });
    await store.applyDomains(
      [{ source: 'feed', name, kind: 'botnetcc', ts, confidence: 100, botname: 'Mirai', isAbused: null, tags: [] }],
      [
        { ts, name, kind: 'whois', createdTs: 1_600_000_000, expiresTs: 1_900_000_000, registrar: 'Registrar A' },
        { ts, name, kind: 'rank', source: 'top', rank: 200_000 },
      ],
    );
    await store.close();
    const shown = await json('show', 'bad.example');
    assert.deepEqual(shown.whois, { created: 1_600_000_000, expires: 1_900_000_000, registrar: 'Registrar A' });
    assert.deepEqual(shown.lists, [{ kind: 'popular', source: 'top', rank: 200_000, ts }]);
    // All evidence is on one host name of an old domain, so it counts one fifth: 28.0 / 5.
    assert.deepEqual([shown.dimensions.malware, shown.abused, shown.is_listed], [-5.6, true, false]);
    const { stdout } = await run('show', 'bad.example');
    for (const line of [
      /^domain +bad\.example$/m,
      /^score +-5\.6$/m,
      /^listed +no$/m,
      /^ {2}malware +-5\.6$/m,
      /^abused +yes: it was registered on 2020-09-13, /m,
      /^tags +botnetcc, popular$/m,
      /^registered +2020-09-13T12:26:40Z, expires 2030-03-17T17:46:40Z, by Registrar A$/m,
      /^on lists +popular \(top, rank 200000\)$/m,
      /^malware +-5\.6 +feed +\S+ +feed: names cc\.bad\.example/m,
    ]) {
      assert.match(stdout, line);
    }
  });

  it('rebuild computes the domains of all hosts, and can be repeated', async (t) => {
    const { dataDir, run, json } = open(t);
    await urlwarden(['import', 'url-list', '-', '--data', dataDir], 'http://a.b.example/\nhttp://192.0.2.1/\n');
    // As a program wrote it that knew no domains.
    const db = new DatabaseSync(dataFiles(dataDir).intelligence);
    db.exec('update hosts set domain_id = null, ip = null; delete from url_sightings; delete from domains');
    db.close();
    assert.equal((await run('show', 'b.example')).code, 1);
    const first = await run('rebuild');
    const text = 'The domains of all hosts are up to date: 2 hosts and 1 URL changed.\n';
    assert.deepEqual(first, { code: 0, stdout: text, stderr: '' });
    assert.equal((await json('show', 'b.example')).dimensions.malware, -18.1);
    assert.deepEqual(await json('rebuild'), { isDone: true, hostsChanged: 0, urlsChanged: 0 });
  });

  it('mistakes are explained', async (t) => {
    const { dataDir, run } = open(t);
    const missing = await run('show', 'bad.example');
    assert.deepEqual(missing, {
      code: 1,
      stdout: '',
      stderr: `There is no data in ${dataDir}: set the data folder with --data, or import a file first: urlwarden import FORMAT FILE\n`,
    });
    await run('set', 'good.example', '--human', '10', '--reason', 'known');
    for (const [args, code, message] of [
      [['show', 'bad.example'], 1, /^bad\.example was never seen: there is no data about it\n/],
      [
        ['show', 'www.bad.example'],
        2,
        /^www\.bad\.example is a name below bad\.example: give the domain bad\.example\n/,
      ],
      [['show', 'co.uk'], 2, /^"co\.uk" is a public suffix/],
      [['show', '192.0.2.1'], 2, /^"192\.0\.2\.1" is an address, not a domain\. Use: urlwarden listing show ADDRESS\n/],
      [['show', 'a b'], 2, /^"a b" is not the name of a domain\n/],
      [['set', 'bad.example'], 2, /^--human POINTS or --abused yes\|no is missing\n/],
      [['set', 'bad.example', '--human', '5'], 2, /^--reason TEXT is missing/],
      [
        ['set', 'bad.example', '--human', '51', '--reason', 'x'],
        2,
        /^--human must be a whole number from -50 to \+50, not/,
      ],
      [['set', 'bad.example', '--human', '1.5', '--reason', 'x'], 2, /^--human must be a whole number/],
      [['set', 'bad.example', '--abused', 'maybe'], 2, /^--abused must be yes, no or unset, not "maybe"\n/],
      [['set', 'bad.example', '--abused', 'yes', '--reason', 'a\tb'], 2, /^--reason: control characters/],
    ] as const) {
      const outcome = await run(...args);
      assert.equal(outcome.code, code, args.join(' '));
      assert.match(outcome.stderr, message);
    }
  });
});

function expected({ human, abused, reason, set_ts }: Record<string, unknown>) {
  return { human, abused, reason, set_ts };
}
