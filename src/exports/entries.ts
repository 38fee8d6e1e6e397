import { addressEntries } from './address-entries.ts';
import { type Build, type BuildOptions, createNewest, type ListReads, prepareBuild } from './build.ts';
import type { ListContent, ListEntries, UrlEntry } from './content.ts';
import { urlFits } from './filter.ts';
import { hostEntries } from './host-entries.ts';
import type { Exclusion, ListDefinition } from './store.ts';

export type ListWithoutSerial = ListEntries & Omit<ListContent, 'serial' | 'kind' | 'entries'>;

/**
 * What is on a list at a time:
 *
 *     const content = await buildEntries(store, definition, await lists.exclusions(), nowTs, { allowReserved });
 *
 * It reads more at once than the answering thread may, so it runs on a thread of its own, or in a command.
 */
export async function buildEntries(
  store: ListReads,
  definition: ListDefinition,
  exclusions: readonly Exclusion[],
  nowTs: number,
  options: BuildOptions,
): Promise<ListWithoutSerial> {
  const build = prepareBuild(store, definition, exclusions, nowTs, options);
  build.end.at(build.exclusions.firstEndTs);
  const entries = await entriesOf(build);
  const list = { ...entries, name: definition.name, leftOut: build.leftOut, nextEndTs: build.end.earliest() };
  const lacksNameLists = definition.kind === 'hosts' && !(await store.hasNameLists());
  return lacksNameLists ? { ...list, lacksNameLists } : list;
}

async function entriesOf(build: Build): Promise<ListEntries> {
  const { kind } = build.definition;
  switch (kind) {
    case 'urls':
      return { kind, entries: await urlEntries(build) };
    case 'hosts':
      return { kind, entries: await hostEntries(build) };
    case 'addresses':
      return { kind, entries: await addressEntries(build) };
  }
}

async function urlEntries(build: Build): Promise<UrlEntry[]> {
  const { store, definition, filter, exclusions, end } = build;
  const { seenSinceTs } = filter;
  const newest = createNewest<UrlEntry>(build, {
    tsOf: ({ sinceTs }) => sinceTs,
    compareKeys: (a, b) => (a.url < b.url ? -1 : 1),
  });
  for await (const page of store.urlsForList({ status: definition.filter.status, seenSinceTs })) {
    for (const entry of page) {
      if (!urlFits(entry, filter)) continue;
      if (exclusions.ofUrl(entry.url, entry.host).length > 0) build.leaveOut('excluded');
      else newest.add(entry);
    }
  }
  const entries = newest.sorted();
  for (const { seenTs } of entries) end.at(filter.tooOldTs(seenTs));
  return entries;
}
