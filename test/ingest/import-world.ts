import type { TestContext } from 'node:test';
import { type Control, type Intelligence, openControl, openIntelligence } from '../../src/app/stores.ts';
import { type ImportOptions, runImport } from '../../src/ingest/import.ts';
import { type Format, INPUT_LIMITS, type Item, type Source } from '../../src/ingest/sources/format.ts';
import { sourceOf } from '../../src/ingest/sources/source.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export const NOW_TS = 1_800_000_000;

export type World = {
  dataDir: string;
  store: Intelligence;
  control: Control;
  run(options: Pick<ImportOptions, 'format' | 'source'> & Partial<ImportOptions>): ReturnType<typeof runImport>;
};

/** Empty stores that are deleted after the test, and a function that imports into them. */
export async function importWorld(t: TestContext): Promise<World> {
  const dataDir = temporaryFolder(t);
  const [store, control] = [await openIntelligence({ dataDir }), await openControl({ dataDir })];
  t.after(() => Promise.all([store.close(), control.close()]));
  return {
    dataDir,
    store,
    control,
    run: (options) =>
      runImport({ into: { store, control }, feed: 'feed', limits: INPUT_LIMITS, nowTs: () => NOW_TS, ...options }),
  };
}

export function textSource(...texts: string[]): Source {
  const total = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return sourceOf('text', chunks(texts), total, () => null);
}

async function* chunks(texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

/** A format that ignores its source and returns these items. */
export function fakeFormat(read: () => AsyncIterable<Item[]>): Format {
  return { name: 'fake', summary: '', read };
}

export const NO_SOURCE = textSource();

/** A row with one observation of the URL for each time. */
export function row(line: number, url: string, ...seen: [ts: number, status: 'online' | 'offline'][]): Item {
  return { kind: 'observations', line, text: url, inputs: seen.map(([ts, status]) => ({ url, ts, status })) };
}

export async function exported({ store }: World): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const some of store.exportObservations({})) all.push(...some);
  return all;
}
