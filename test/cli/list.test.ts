import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAccount } from '../../src/accounts/manage.ts';
import { openControl } from '../../src/app/stores.ts';
import { keyHash } from '../../src/exports/keys.ts';
import { GOLD } from '../app/control-records.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { urlwarden } from './urlwarden.ts';

test('urlwarden list: definitions, exclusions and keys', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const run = (...args: string[]) => urlwarden(['list', ...args, '--data', dataDir]);
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
  const refuses = async (args: string[], code: number, message: RegExp) => {
    const outcome = await run(...args);
    assert.equal(outcome.code, code, args.join(' '));
    assert.match(outcome.stderr, message);
  };

  const added = await run('add', 'mirai', '--kind', 'hosts', '--families', 'Mirai, Mozi', '--max-score', '-10');
  assert.deepEqual([added.code, added.stderr], [0, `Created the data folder ${dataDir}\n`]);
  assert.match(added.stdout, /^Defined the list mirai\. A key for a device: urlwarden list key add mirai DEVICE/);
  const change = '--age 7d --max-score none --reporters nick'.split(' ');
  const mirai = await json('set', 'mirai', ...change, '--description', 'for us');
  const { families, max_score, age_seconds, description } = mirai;
  assert.deepEqual([families, max_score, age_seconds, description], [['Mirai', 'Mozi'], null, 604_800, 'for us']);
  assert.deepEqual((await json('show')).at(-1), mirai);
  assert.deepEqual(await json('show', 'mirai'), mirai);
  const { stdout: all } = await run('show');
  assert.match(all, /^NAME +KIND +BUILT IN +FILTER\nurls-online +urls +yes +online, 30 d\n/);
  assert.match(all, /\nmirai +hosts +no +online, 7 d, 2 families, 1 reporter\n {2}for us\n$/);
  assert.match((await run('show', 'addresses-bcl')).stdout, /\ndatasets of an account +BCL\n/);
  await refuses(['add', 'x', '--kind', 'files'], 2, /^--kind must be one of urls, hosts, addresses/);
  await refuses(['add', 'x', '--kind', 'urls', '--max-score', '1'], 2, /^--max-score means nothing for a list of urls/);
  await refuses(['add', 'x', '--kind', 'addresses', '--datasets', 'XBL,ABC'], 2, /^--datasets must be some of XBL/);
  await refuses(['set', 'mirai', '--age', '10'], 2, /^--age must be a time from 1h/);
  await refuses(['set', 'urls-online', '--age', '7d'], 2, /built in/);
  await refuses(['show', 'none'], 1, /^There is no list "none"/);

  const shop = ['exclude', 'shop[.]example', '--subdomains', '--reason', 'a customer'];
  const excluded = await run(...shop);
  assert.equal(excluded.stdout, 'Excluded from all lists: shop.example and its subdomains. Its id is 1.\n');
  const files = ['exclude', 'hxxps://files[.]example/shared', '--list', 'mirai', '--reason', 'ours'];
  const until = await json(...files, '--until', '2099-01-31');
  assert.deepEqual([until.value, until.list, until.until_ts], ['https://files.example/shared', 'mirai', 4_073_500_800]);
  const network = await json('exclude', '203.0.113.7/24', '--reason', 'ours', '--for', '7d');
  assert.deepEqual([network.value, network.until_ts - network.set_ts], ['203.0.113.0/24', 604_800]);
  await refuses(['exclude', 'shop.example'], 2, /^--reason TEXT is missing/);
  await refuses([...shop, '--for', '7d', '--until', '2099-01-31'], 2, /not both/);
  await refuses([...shop, '--until', '2001-01-31'], 2, /in the past/);
  for (const wrong of ['2026-13-45', '30d'])
    await refuses([...shop, '--until', wrong], 2, /^--until must be Unix seconds or a time (?!.* ago).*--for 30d\n/);
  assert.deepEqual((await json('exclusions', '--list', 'urls-online')).length, 2);
  const { stdout: exclusions } = await run('exclusions');
  assert.match(exclusions, /^ID +LIST +UNTIL +EXCLUDED\n 3 +all +20\S+Z +203\.0\.113\.0\/24\n {2}ours\n/);
  assert.match(exclusions, / 1 +all +no end +shop\.example and its subdomains\n {2}a customer\n$/);
  assert.equal((await run('unexclude', '3')).stdout, 'No longer excluded: 203.0.113.0/24.\n');
  await refuses(['unexclude', '3'], 1, /no exclusion with the id 3/);
  await refuses(['unexclude', 'x'], 2, /^ID must be a number/);

  const control = await openControl({ dataDir });
  t.after(() => control.close());
  await createAccount(control, { username: 'ada', password: 'a password of length', tier: 'standard' }, 1);
  const { key, ...made } = await json('key', 'add', 'mirai', 'proxy', '--account', 'ADA');
  assert.equal((await control.findListKey(keyHash(key)))?.id, made.id);
  assert.deepEqual([made.list, made.device, made.username], ['mirai', 'proxy', 'ada']);
  const again = await run('key', 'add', 'urls-online', 'firewall', '--account', 'ada');
  assert.match(
    again.stdout,
    /^uwk_[0-9a-f]{40}\nThe key of firewall for the list urls-online, id \d+\. It is not shown/,
  );
  assert.deepEqual(await json('key', 'list', 'mirai'), [made]);
  const { stdout: keys } = await run('key', 'list');
  assert.match(keys, /^ID +LIST +DEVICE +ACCOUNT +LAST FETCH\n \d +urls-online +firewall +ada +never\n/);
  assert.ok(!keys.includes(key.slice(4)));
  await refuses(['key', 'add', 'mirai', 'proxy', '--account', 'nobody'], 1, /no account "nobody"/);
  await refuses(['key', 'add', 'none', 'proxy', '--account', 'ada'], 1, /no list "none"/);
  await control.putTier({ ...GOLD, ads: ['URL', 'BCL'] });
  await createAccount(control, { username: 'bob', password: 'a password of length', tier: 'gold' }, 1);
  const lacks = /The tier gold of bob lacks the dataset XBL, which the list addresses-xbl needs: change the tier/;
  await refuses(['key', 'add', 'addresses-xbl', 'proxy', '--account', 'bob'], 1, lacks);
  await refuses(['key', 'add', 'domains-listed', 'proxy', '--account', 'bob'], 1, /lacks the dataset DOMAIN/);
  assert.equal((await run('key', 'remove', `${made.id}`)).stdout, 'Revoked the key of proxy for the list mirai.\n');
  await refuses(['key', 'remove', `${made.id}`], 1, /no key with the id/);

  assert.equal((await run('remove', 'mirai', '--yes')).stdout, 'Removed the list mirai.\n');
  assert.deepEqual(await json('exclusions', '--list', 'urls-online'), await json('exclusions'));
  const audit = JSON.parse((await urlwarden(['audit', '--json', '--data', dataDir])).stdout);
  assert.deepEqual(
    audit.reverse().map(({ action, subject }: Record<string, string>) => `${action} ${subject}`),
    [
      'list.add mirai',
      'list.set mirai',
      'exclusion.add shop.example',
      'exclusion.add https://files.example/shared',
      'exclusion.add 203.0.113.0/24',
      'exclusion.remove 203.0.113.0/24',
      'list-key.add mirai',
      'list-key.add urls-online',
      'list-key.remove mirai',
      'list.remove mirai',
    ],
  );
  assert.ok(!JSON.stringify(audit).includes(key.slice(4)), 'the key is in no log');
});
