import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { foldFamily } from '../../src/core/text.ts';
import { FAMILY_NAMES } from '../../src/ingest/family-names.ts';
import { urlhausCsv } from '../../src/ingest/formats/urlhaus.ts';
import { createFamiliesOfTags, readFamilies } from '../../src/ingest/tag-families.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { collect, find, hashOf, seen } from '../urls/contract/observations.ts';
import { historyOf } from '../urls/results.ts';
import { importWorld, textSource } from './import-world.ts';

const NO_NAMES = { stored: [], given: [] };

/** Words that tags of public dumps have, and that no source may make a family. */
const NEVER =
  'elf exe dll 32-bit 64-bit 32 arm mips x86 x86-64 sh js vbs doc zip pdf hta iso ps1 sparc m68k powerpc'.split(' ');
const ONLY_GIVEN = 'opendir ua-wget geofenced Italy trojan RAT stealer Loader botnet phishing CoinMiner USA'.split(' ');

test('names of the built-in list are recognized in any letter case, and have its spelling', () => {
  const familiesOf = createFamiliesOfTags(NO_NAMES);
  assert.deepEqual(familiesOf(['32-bit', 'elf', 'mozi', 'MOZI', 'mips', 'gafgyt']), ['Mozi', 'Gafgyt']);
  assert.deepEqual(familiesOf(['Cobalt Strike', 'cobaltstrike']), ['Cobalt Strike', 'CobaltStrike']);
  assert.deepEqual(familiesOf([...NEVER, ...ONLY_GIVEN, 'mozi2', 'mo zi', '']), []);
});

test('the built-in list has hundreds of different names, none of which is a type of file or an ordinary word', () => {
  assert.ok(FAMILY_NAMES.length > 500);
  assert.equal(new Set(FAMILY_NAMES.map(foldFamily)).size, FAMILY_NAMES.length);
  assert.deepEqual(
    FAMILY_NAMES.filter((name) => name !== name.trim() || name.length < 3 || /[\s]{2}|^\W/.test(name)),
    [],
  );
  const stored = createFamiliesOfTags({ stored: FAMILY_NAMES, given: [] });
  assert.deepEqual(stored([...NEVER, ...ONLY_GIVEN]), []);
});

test('stored families are recognized, except ordinary words and short names; the list has precedence', () => {
  const familiesOf = createFamiliesOfTags({ stored: ['NewBot', 'newbot', 'MOZI', ...NEVER, ...ONLY_GIVEN], given: [] });
  assert.deepEqual(familiesOf(['NEWBOT', 'mozi', ...NEVER, ...ONLY_GIVEN]), ['NewBot', 'Mozi']);
});

test('given families are recognized, also ordinary words, but no types of files', () => {
  const familiesOf = createFamiliesOfTags({
    stored: ['newbot', 'stealer'],
    given: ['NewBot', 'Stealer', 'Own', 'ELF'],
  });
  assert.deepEqual(familiesOf(['NEWBOT', 'STEALER', 'own', 'elf']), ['newbot', 'stealer', 'Own']);
});

test('a file of families has one name per line, comments and empty lines', (t) => {
  const path = join(temporaryFolder(t), 'families.txt');
  const read = (text: string | Buffer) => {
    writeFileSync(path, text);
    return readFamilies(path);
  };
  assert.deepEqual(readFamilies(null), []);
  assert.deepEqual(read('# ours\nOwn Bot # since May\r\n\n  Rat \n'), ['Own Bot', 'Rat']);
  assert.throws(() => read('Own\nelf\n'), /families\.txt, line 2: "elf": is a type of file or an architecture/);
  assert.throws(() => read(`${'x'.repeat(129)}\n`), /line 1: .*at most 128 characters/);
  assert.throws(() => read(Buffer.from([0xff, 0xfe, 0x41])), /cannot be read as UTF-8 text/);
  assert.throws(() => read('x\n'.repeat(600_000)), /more than \d+ bytes: check --families/);
  assert.throws(() => readFamilies(`${path}.missing`), /does not exist: check --families/);
  assert.throws(() => readFamilies(temporaryFolder(t)), /is not a file: check --families/);
});

const HEADER = 'id,dateadded,url,url_status,last_online,threat,tags,urlhaus_link,reporter\n';
const ADDED_TS = Date.UTC(2026, 0, 1) / 1000;

function dumpOf(...rows: [url: string, tags: string][]): string {
  const line = ([url, tags]: [string, string], i: number) =>
    `"${i}","2026-01-01 00:00:00","${url}","offline","2026-01-02 00:00:00","","${tags}","","ada"\n`;
  return HEADER + rows.map(line).join('');
}

const payloadsOf = async (store: Parameters<typeof historyOf>[0], url: string) =>
  ((await historyOf(store, url, 100))?.payloads ?? []).map(
    (payload) => `${payload.ts} ${payload['malware-family']} ${payload.sha256_hash}`,
  );

test('a tag that names a family becomes a payload at the time of the row; the same import again changes nothing', async (t) => {
  const { run, store } = await importWorld(t);
  const dump = dumpOf(['http://192.0.2.1:99/i', '32-bit,elf,mips,Mozi'], ['http://a.example/', 'mozi,Mirai,exe']);
  const first = await run({ format: urlhausCsv, source: textSource(dump) });
  assert.deepEqual([first.rejected, first.observations, first.payloadsAdded], [0, 6, 3]);
  assert.deepEqual(await payloadsOf(store, 'http://192.0.2.1:99/i'), [`${ADDED_TS} Mozi null`]);
  assert.deepEqual((await payloadsOf(store, 'http://a.example/')).sort(), [
    `${ADDED_TS} Mirai null`,
    `${ADDED_TS} Mozi null`,
  ]);
  assert.deepEqual(await find(store, 'malware_family', 'MOZI'), [
    `${ADDED_TS} http://192.0.2.1:99/i`,
    `${ADDED_TS} http://a.example/`,
  ]);
  assert.deepEqual(await find(store, 'malware_family', 'elf'), []);
  const again = await run({ format: urlhausCsv, source: textSource(dump) });
  assert.deepEqual([again.urlsAdded, again.eventsChanged, again.payloadsAdded, again.resolutionsChanged], [0, 0, 0, 0]);
});

test('families are those that were stored before the import, and those of --families', async (t) => {
  const { run, store } = await importWorld(t);
  await store.apply([seen({ ts: 1, url: 'http://s.example/', payload: { sha256: hashOf('a'), family: 'StoredBot' } })]);
  const dump = dumpOf(['http://a.example/', 'storedbot,ownbot,otherbot']);
  await run({ format: urlhausCsv, source: textSource(dump), families: ['OwnBot'] });
  assert.deepEqual((await payloadsOf(store, 'http://a.example/')).sort(), [
    `${ADDED_TS} OwnBot null`,
    `${ADDED_TS} StoredBot null`,
  ]);
  const [, tagged] = (await collect(store.exportUrls({}))).sort((a, b) => a.id - b.id);
  assert.deepEqual(tagged?.tags, ['otherbot', 'ownbot', 'storedbot']);
});
