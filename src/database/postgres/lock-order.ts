/**
 * Every transaction locks in this order, and the rows of one kind in order of key, so that no two transactions wait for
 * each other. `host_table`: a transaction that adds hosts, or reads their domains in order to write, holds the table so that
 * a rebuild waits for it. `feed`: the row of a feed in `reporters`, which must exist by then. `new_urls`, `hosts`, `domains`,
 * `removals`, `families` and `tags` are locked only by adding them. `domains` and `hosts` come late: two batches of a feed
 * often add the same ones, and the second one waits for the end of the first. In one process it waits before it adds any
 * (`Reservation.afterSame`): a place in this order, between `new_urls` and `domains`.
 * `episodes`: with the lists of networks and, after these, their version.
 * `names`: rows of domains and lists of names, in the order url_sightings, domains, domain_evidence, domain_whois,
 * name_addresses, name_servers, senders, name_lists.
 */
export const LOCK_ORDER = [
  'host_table',
  'sources',
  'reporters',
  'feed',
  'removals',
  'families',
  'tags',
  'urls',
  'files',
  'new_urls',
  'domains',
  'hosts',
  'episodes',
  'names',
] as const;

type LockName = (typeof LOCK_ORDER)[number];
type Step = () => Promise<unknown>;
type Steps = { [Name in LockName]?: Step | undefined };
type ResultOf<S> = S extends () => Promise<infer Result> ? Result : undefined;

export type Lock = <Given extends Steps>(steps: Given) => Promise<{ [Name in keyof Given]: ResultOf<Given[Name]> }>;

/** For one transaction: runs the given steps in `LOCK_ORDER`, together, and throws if one of them comes too late. */
export function createLock(): Lock {
  let lastPlace = -1;
  return async (steps) => {
    const names = LOCK_ORDER.filter((name) => steps[name] !== undefined);
    for (const name of names) {
      const place = LOCK_ORDER.indexOf(name);
      if (place <= lastPlace) throw new Error(`${name} must be locked before ${LOCK_ORDER[lastPlace]}`);
      lastPlace = place;
    }
    const results = await inOrder(names.map((name) => steps[name] as Step));
    return Object.fromEntries(names.map((name, i) => [name, results[i]])) as never;
  };
}

type Results<Given extends readonly Step[]> = { -readonly [I in keyof Given]: Awaited<ReturnType<Given[I]>> };

/**
 * Sends statements in this order without waiting for their results: one round trip. The server runs the statements of a
 * connection in the order in which they were sent. Each step must send all of its statements before its first `await`.
 */
export function inOrder<const Given extends readonly Step[]>(steps: Given): Promise<Results<Given>> {
  return Promise.all(steps.map((step) => step())) as Promise<Results<Given>>;
}
