import type { Caller } from '../http/endpoint.ts';
import { allLists } from './built-in.ts';
import { CHECK_MS, type ListCopies, type ListCopy } from './copies.ts';
import { createDeviceKeys } from './device-keys.ts';
import { dropOldest } from './drop-oldest.ts';
import type { ListServices } from './routes.ts';
import { countShared } from './shared-bytes.ts';
import type { ListDefinition, ListStore } from './store.ts';

type ListServicesOptions = {
  store: ListStore;
  /** Of the process; on other threads than its first one, a call of that. */
  copies: ListCopies;
  callerOfAccount(sub: string): Promise<Caller | null>;
  /** Unix seconds. */
  now(): number;
};

/** What one thread needs to serve lists. */
export function createListServices(options: ListServicesOptions): ListServices {
  const { store, copies, callerOfAccount, now } = options;
  const definitions = briefly(async (): Promise<Map<string, ListDefinition>> => {
    return new Map((await allLists(store)).map((definition) => [definition.name, definition]));
  });
  const copyOf = new Map<string, RememberedCopy<ListCopy | null>>();

  function remembered<Copy extends ListCopy | null>(key: string, ask: () => Promise<Copy>): Copy | Promise<Copy> {
    const known = copyOf.get(key) as RememberedCopy<Copy> | undefined;
    if (known !== undefined) return known.read();
    const read = briefly(async () => {
      const copy = await ask();
      if (copy === null) copyOf.delete(key);
      else useKnownBytes(copy, started.latest);
      started.latest = copy;
      started.size = copy?.bytes.byteLength ?? 0;
      dropOldest(copyOf, MAX_COPIES, MAX_COPY_BYTES);
      return copy;
    });
    const started: RememberedCopy<Copy> = { size: 0, latest: null, read };
    copyOf.set(key, started);
    dropOldest(copyOf, MAX_COPIES, MAX_COPY_BYTES);
    return read();
  }

  return {
    definition: async (name) => (await definitions()).get(name) ?? null,
    copy: (definition, variant, encoding) =>
      remembered(JSON.stringify([definition, variant, encoding]), () => copies.copy(definition, variant, encoding)),
    keptCopy: (definition, variant) =>
      remembered(JSON.stringify([definition, variant]), () => copies.keptCopy(definition, variant)),
    callerOfKey: createDeviceKeys({ store, callerOfAccount }),
    all: () => allLists(store),
    known: copies.known,
    explain: copies.explain,
    fetched: (keyId, fetch) => void store.recordFetch(keyId, fetch),
    now,
  };
}

type RememberedCopy<Copy> = { size: number; latest: ListCopy | null; read(): Copy | Promise<Copy> };

/** Each message of another thread is a new reference to the same shared memory. Only the first is kept and counted. */
function useKnownBytes(copy: ListCopy, known: ListCopy | null): void {
  if (known?.etags.identity === copy.etags.identity) copy.bytes = known.bytes;
  countShared(copy.bytes);
}

/** References to shared memory, which stays while there is one. A copy that was dropped is asked for again. */
const MAX_COPIES = 200;
const MAX_COPY_BYTES = 2 ** 27;

/** Reads at most twice a second. A result is used meanwhile, an error is not. */
function briefly<Value>(read: () => Promise<Value>): () => Value | Promise<Value> {
  let known: { value: Value; readMs: number } | null = null;
  let reading: Promise<Value> | null = null;
  return () => {
    if (known !== null && performance.now() - known.readMs < CHECK_MS) return known.value;
    const readMs = performance.now();
    reading ??= read()
      .then((value) => {
        known = { value, readMs };
        return value;
      })
      .finally(() => {
        reading = null;
      });
    return reading;
  };
}
