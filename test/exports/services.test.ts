import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHECK_MS, type ListCopies, type ListCopy } from '../../src/exports/copies.ts';
import { createListServices } from '../../src/exports/services.ts';
import type { ListDefinition, ListStore } from '../../src/exports/store.ts';

const TXT = { format: 'txt', profile: null, max: null };

function definedBy(families: string[]): ListDefinition {
  const filter = {
    status: 'any' as const,
    maxAgeSeconds: 86_400,
    families,
    reporters: [],
    datasets: [],
    maxScore: null,
  };
  return { name: 'own', kind: 'urls', description: '', changedTs: 0, filter: { ...filter, listedDomains: false } };
}

/** Copies whose only text is the families of their definition; `bytes` long, if given. */
function setUp(bytes?: number) {
  const asked: string[] = [];
  const copies: ListCopies = {
    async copy({ filter }, { max }) {
      const text = [...filter.families, ...(max === null ? [] : [max])].join();
      asked.push(text);
      const etags = { identity: '"1"', gzip: '"2"', zstd: '"3"' };
      return {
        bytes: bytes ? new Uint8Array(bytes) : Buffer.from(text),
        etags,
        serial: 1,
        count: 1,
        leftOut: {},
        staleSinceTs: null,
      };
    },
    keptCopy: async () => null,
    known: () => [],
    explain: async () => null,
  };
  const store = {} as ListStore; // nothing is read from it
  return { asked, services: createListServices({ store, copies, callerOfAccount: async () => null, now: () => 0 }) };
}

const text = ({ bytes }: ListCopy) => Buffer.from(bytes).toString();

test('a definition that changes twice in one second is used as it is', async () => {
  const { services } = setUp();
  assert.equal(text(await services.copy(definedBy(['Mirai']), TXT, 'identity')), 'Mirai');
  assert.equal(text(await services.copy(definedBy(['Emotet']), TXT, 'identity')), 'Emotet');
});

test('the bytes to which a thread refers are bounded', async () => {
  const { asked, services } = setUp(2 ** 26);
  for (const max of [1, 2, 3, 3, 1]) await services.copy(definedBy([]), { ...TXT, max }, 'identity');
  assert.deepEqual(asked, ['1', '2', '3', '1']);
});

test('a copy that is the same as before has the same bytes, not a further reference to them', async (t) => {
  const { asked, services } = setUp();
  const first = await services.copy(definedBy(['Mirai']), TXT, 'identity');
  const { now } = performance;
  t.mock.method(performance, 'now', () => now.call(performance) + CHECK_MS);
  const second = await services.copy(definedBy(['Mirai']), TXT, 'identity');
  assert.deepEqual([asked.length, second.bytes === first.bytes], [2, true]);
});
