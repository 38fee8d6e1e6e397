import { PAGE_ROWS } from '../database/pages.ts';
import type { NamesAt } from './store.ts';

export type NameAtRow = [ts: number, domain: string, hostname: string];

/** Each name once, with its newest time. A name has one row for each day. */
export function namesOf(pages: readonly NameAtRow[][]): NamesAt {
  const names = new Map<string, NamesAt['names'][number]>();
  for (const [lastTs, domain, hostname] of pages.flat()) {
    if (lastTs > (names.get(hostname)?.lastTs ?? -1)) names.set(hostname, { domain, hostname, lastTs });
  }
  return { names: [...names.values()], isComplete: pages.every((rows) => rows.length < PAGE_ROWS) };
}
