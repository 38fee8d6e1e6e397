import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ADDRESS_DATASETS } from '../../src/core/evidence.ts';
import { BUILT_IN_LISTS, DEFAULT_FILTER } from '../../src/exports/built-in.ts';
import type { ListKind } from '../../src/exports/content.ts';
import { datasetsOf } from '../../src/exports/datasets.ts';
import { exclude, readMatch } from '../../src/exports/exclude.ts';
import { isListKey, keyHash, MAX_KEYS_PER_ACCOUNT, makeListKey, revokeListKey } from '../../src/exports/keys.ts';
import { changeList, defineList, type ListValues, removeList } from '../../src/exports/manage.ts';
import type { Exclusion, ExclusionMatch, ListFilter } from '../../src/exports/store.ts';
import { jsonName } from '../../src/ingest/evidence-choices.ts';
import { ADA, BOB } from '../app/control-records.ts';
import { temporaryControl } from '../temporary-control.ts';

const NOW = 1_767_225_600;

describe('definitions of lists', () => {
  test('the built-in lists', () => {
    assert.deepEqual(
      BUILT_IN_LISTS.map((list) => [list.name, list.kind, datasetsOf(list)]),
      [
        ['urls-online', 'urls', ['URL']],
        ['hosts-malware', 'hosts', ['URL']],
        ['domains-listed', 'hosts', ['DOMAIN']],
        ['addresses-bcl', 'addresses', ['BCL']],
        ['addresses-xbl', 'addresses', ['XBL']],
      ],
    );
  });

  test('which datasets a list needs', () => {
    const needs = (kind: ListKind, filter: Partial<ListFilter> = {}) =>
      datasetsOf({ kind, filter: { ...DEFAULT_FILTER, ...filter } });
    assert.deepEqual(needs('hosts', { maxScore: -10 }), ['URL', 'DOMAIN']);
    assert.deepEqual(needs('hosts', { maxScore: -10, listedDomains: true }), ['DOMAIN']);
    assert.deepEqual(needs('addresses', { datasets: ['XBL', 'DROP'] }), ['XBL', 'DROP']);
  });

  test('are checked, defined, changed and removed', async (t) => {
    const store = await temporaryControl(t);
    const define = (name: string, kind: ListKind, values: ListValues = {}) =>
      defineList(store, { name, kind, ...values }, NOW, jsonName);
    const own = await define('own', 'hosts', { families: ['Mirai'], maxScore: -10 });
    assert.deepEqual(own, {
      name: 'own',
      kind: 'hosts',
      description: '',
      changedTs: NOW,
      filter: { ...DEFAULT_FILTER, families: ['Mirai'], maxScore: -10 },
    });
    assert.deepEqual((await define('all', 'addresses')).filter.datasets, ADDRESS_DATASETS);
    assert.equal((await define('names', 'hosts', { listedDomains: true })).filter.status, 'any');
    const wrong: [string, ListKind, ListValues, RegExp][] = [
      ['Own', 'urls', {}, /lower-case letters/],
      ['a_b', 'urls', {}, /lower-case letters/],
      ['-a', 'urls', {}, /lower-case letters/],
      ['a'.repeat(64), 'urls', {}, /1 to 63/],
      ['own', 'urls', {}, /already a list own/],
      ['urls-online', 'urls', {}, /already a list urls-online/],
      ['x', 'urls', { maxScore: 0 }, /^"max-score" means nothing for a list of urls/],
      ['x', 'urls', { listedDomains: true }, /^"listed-domains" means nothing/],
      ['x', 'urls', { datasets: ['XBL'] }, /^"datasets" means nothing for a list of urls/],
      ['x', 'addresses', { status: 'any' }, /^"status" means nothing for a list of addresses/],
      ['x', 'addresses', { reporters: ['a'] }, /^"reporters" means nothing/],
      ['x', 'addresses', { datasets: [] }, /^"datasets" must name one or more of XBL/],
      ['x', 'hosts', { listedDomains: true, status: 'any' }, /^"status" means nothing .* listed by their score/],
      ['x', 'hosts', { families: ['a\n'] }, /^"families": control characters/],
      ['x', 'hosts', { reporters: [' '] }, /^"reporters": a name is empty/],
      ['x', 'hosts', { families: Array(101).fill('a') }, /at most 100 names/],
      ['x', 'hosts', { description: 'a\0' }, /^"description": control characters/],
    ];
    for (const [name, kind, values, message] of wrong) {
      await assert.rejects(define(name, kind, values), { code: 'bad_request', message });
    }
    const change = (name: string, values: ListValues) => changeList(store, name, values, NOW + 1, jsonName);
    const { before, after } = await change('own', { maxScore: null, description: 'ours' });
    assert.deepEqual(before, own);
    const filter = { ...own.filter, maxScore: null };
    assert.deepEqual(after, { ...own, description: 'ours', filter, changedTs: NOW + 1 });
    await assert.rejects(change('own', {}), { message: /nothing to change/ });
    await assert.rejects(change('names', { status: 'any' }), { message: /means nothing/ });
    await assert.rejects(change('none', { status: 'any' }), { code: 'not_found' });
    await assert.rejects(change('urls-online', { status: 'any' }), { code: 'bad_request', message: /built in/ });
    await assert.rejects(removeList(store, 'urls-online'), { code: 'bad_request', message: /built in/ });
    assert.deepEqual(await removeList(store, 'own'), after);
    await assert.rejects(removeList(store, 'own'), { code: 'not_found' });
  });
});

describe('exclusions', () => {
  const url = (prefix: string) => ({ kind: 'url', prefix });
  const network = (text: string) => ({ kind: 'network', network: text });
  const host = (name: string, withSubdomains = false) => ({ kind: 'host', host: name, withSubdomains });

  test('what a value means', () => {
    for (const [value, match] of [
      ['shop.example', host('shop.example')],
      [' Shop[.]Example. ', host('shop.example')],
      ['münchen.example', host('xn--mnchen-3ya.example')],
      ['localhost', host('localhost')],
      ['https://Files.example', url('https://files.example/')],
      ['hxxp://files[.]example:80/a/?b#c', url('http://files.example/a/?b')],
      ['http://203.0.113.7/x', url('http://203.0.113.7/x')],
      ['203.0.113.7', network('203.0.113.7')],
      ['203[.]0[.]113[.]7/24', network('203.0.113.0/24')],
      ['2001:db8::1/32', network('2001:db8::/32')],
    ] as const) {
      assert.deepEqual(readMatch(value, false), match, value);
    }
    assert.deepEqual(readMatch('shop.example', true), host('shop.example', true));
  });

  test('what is refused', () => {
    for (const [value, withSubdomains, message] of [
      ['', false, /no host/],
      ['shop.example/path', false, /no URL with its scheme/],
      ['*.shop.example', false, /no host/],
      ['0.0.0.0/0', false, /wider than/],
      ['gopher://shop.example/', false, /"gopher:/],
      ['203.0.113.7', true, /Only a host has subdomains/],
      ['http://shop.example/', true, /Only a host has subdomains/],
      ['example', true, /top-level name/],
    ] as const) {
      assert.throws(() => readMatch(value, withSubdomains), { code: 'bad_request', message }, value);
    }
  });

  test('need a reason, a list that exists and an end in the future', async (t) => {
    const store = await temporaryControl(t);
    const given = { value: 'shop.example', withSubdomains: true, list: null, reason: 'ours', untilTs: NOW + 1 };
    const { before, exclusion } = await exclude(store, given, NOW);
    assert.equal(before, null);
    assert.deepEqual(await store.exclusions(), [exclusion]);
    const again = await exclude(
      store,
      { ...given, value: 'SHOP[.]example', withSubdomains: false, untilTs: null },
      NOW,
    );
    assert.deepEqual(again.before, exclusion);
    assert.deepEqual(await store.exclusions(), [again.exclusion]);
    const refusedFor = (change: Partial<typeof given>, message: RegExp, code = 'bad_request') =>
      assert.rejects(exclude(store, { ...given, ...change }, NOW), { code, message });
    await refusedFor({ reason: ' ' }, /reason is missing/);
    await refusedFor({ reason: 'a\nb' }, /control characters/);
    await refusedFor({ untilTs: NOW }, /in the past/);
    await refusedFor({ list: 'none' } as object, /no list "none"/, 'not_found');
  });

  test('are kept for 30 days after their end', async (t) => {
    const store = await temporaryControl(t);
    const given = { value: 'old.example', withSubdomains: false, list: null, reason: 'ours', untilTs: NOW + 1 };
    const { exclusion: old } = await exclude(store, given, NOW);
    const addAfter = (days: number) =>
      exclude(store, { ...given, value: 'new.example', untilTs: null }, NOW + 1 + days * 86_400);
    const { exclusion: added } = await addAfter(30);
    assert.deepEqual(await store.exclusions(), [added, old]);
    const { exclusion: again } = await addAfter(31);
    assert.deepEqual(await store.exclusions(), [again]);
  });

  test('a thousand that have not ended are the limit, and each of them can be renewed', async (t) => {
    const store = await temporaryControl(t);
    const given = { value: 'new.example', withSubdomains: false, list: null, reason: 'ours', untilTs: null };
    const many = Array.from({ length: 1_000 }, (_, id) => ({
      id,
      match: host(`a${id}.example`) as ExclusionMatch,
      list: null,
      reason: 'ours',
      setTs: NOW,
      untilTs: NOW + 1,
    }));
    const full = { ...store, exclusions: async () => many };
    const refusal = { code: 'bad_request', message: /1000 exclusions already/ };
    await assert.rejects(exclude(full, given, NOW), refusal);
    const renewed = await exclude(full, { ...given, value: 'a7.example' }, NOW);
    assert.deepEqual(renewed.before, many[7]);
    const ended = { ...many[7], id: 1_000, match: host('ended.example') as ExclusionMatch, untilTs: NOW } as Exclusion;
    const withEnded = { ...store, exclusions: async () => [ended, ...many] };
    await assert.rejects(exclude(withEnded, { ...given, value: 'ended.example' }, NOW), refusal);
    const added = await exclude(full, given, NOW + 1);
    assert.equal(added.before, null, 'all others have ended');
  });
});

test('a key is shown once, only its hash is stored, and only its account can revoke it', async (t) => {
  const store = await temporaryControl(t);
  await store.addAccount(ADA);
  const given = { list: 'urls-online', device: 'proxy', sub: ADA.sub };
  const { key, made } = await makeListKey(store, given, NOW);
  assert.match(key, /^uwk_[0-9a-f]{40}$/);
  assert.ok(isListKey(key) && !isListKey(key.toUpperCase()) && !isListKey(`${key}0`));
  assert.deepEqual(await store.findListKey(keyHash(key)), made);
  assert.notEqual((await makeListKey(store, given, NOW)).key, key);
  const refusedFor = (change: Partial<typeof given>, expected: object) =>
    assert.rejects(makeListKey(store, { ...given, ...change }, NOW), expected);
  await refusedFor({ device: ' ' }, { code: 'bad_request', message: /name of the device is missing/ });
  await refusedFor({ device: 'a\x1b' }, { code: 'bad_request', message: /control characters/ });
  await refusedFor({ list: 'none' }, { code: 'not_found' });
  await refusedFor({ sub: BOB.sub }, { code: 'not_found' });
  await assert.rejects(
    makeListKey(store, given, NOW, ({ name }) => assert.fail(name)),
    { message: 'urls-online' },
  );
  await assert.rejects(revokeListKey(store, made.id, BOB.sub), { code: 'not_found' });
  assert.deepEqual(await revokeListKey(store, made.id, ADA.sub), made);
  await assert.rejects(revokeListKey(store, made.id), { code: 'not_found' });

  const many = Array.from({ length: MAX_KEYS_PER_ACCOUNT }, () => ({ id: 1, ...given, createdTs: 1, lastFetch: null }));
  const full = { ...store, listKeys: async () => many };
  await assert.rejects(makeListKey(full, given, NOW), { code: 'bad_request', message: /1000 keys already/ });
});
