import { lazy } from '../core/lazy.ts';
import { BUILT_IN_SOURCE, LISTS_OF } from '../reputation/abused.ts';
import { PATH_HOSTS } from '../reputation/path-hosts.ts';
import { PUBLIC_SUFFIXES } from '../reputation/public-suffixes.ts';
import type { NameListing, ReputationStore } from '../reputation/store.ts';
import { namesAround } from './exclusions.ts';
import type { Guard } from './guards.ts';

// Most formats block a name with all names below it. So a name above one that many share is not on a list of hosts either.

/** For a host name: a name below it that many share, of each rule that has one. */
export type SharedBelow = (host: string) => Promise<Guard[]>;

/** Reads the lists of names at the first call, once for a build. */
export function createSharedBelow(store: Pick<ReputationStore, 'nameListsBelowHosts'>): SharedBelow {
  const onLists = lazy(async () => {
    const lists = await store.nameListsBelowHosts();
    return { lists, above: namesAbove(lists.keys()) };
  });
  return async (host) => {
    const guards: Guard[] = [];
    const { suffixes, pathHosts } = builtIn();
    const suffix = suffixes.get(host);
    if (suffix !== undefined) guards.push(below(`the public suffix ${suffix} is below it`));
    const pathHost = pathHosts.get(host);
    if (pathHost !== undefined) {
      guards.push(below(`the path distinguishes the tenants of ${pathHost} (${BUILT_IN_SOURCE}) below it`));
    }
    const { lists, above } = await onLists();
    const name = above.get(host);
    if (name !== undefined) guards.push(below(`${name} below it is on ${listsText(lists.get(name) ?? [])}`));
    return guards;
  };
}

function below(text: string): Guard {
  return { reason: 'shared-site', text: `${text}, and most formats also block names below a name` };
}

function listsText(lists: readonly NameListing[]): string {
  return lists.map(({ kind, source }) => `a list of ${LISTS_OF[kind]} (${source})`).join(' and ');
}

const builtIn = lazy(() => ({ suffixes: namesAbove(suffixNames()), pathHosts: namesAbove(PATH_HOSTS) }));

/** Of `*.kobe.jp` the names below kobe.jp are suffixes, without the exception `!city.kobe.jp`. */
function suffixNames(): string[] {
  return PUBLIC_SUFFIXES.trim()
    .split('\n')
    .filter((rule) => !rule.startsWith('!'));
}

/** Every name above one of these names, with the first name that it is above. */
function namesAbove(names: Iterable<string>): Map<string, string> {
  const above = new Map<string, string>();
  for (const name of names) {
    for (const parent of namesAround(name).slice(1)) if (!above.has(parent)) above.set(parent, name);
  }
  return above;
}
