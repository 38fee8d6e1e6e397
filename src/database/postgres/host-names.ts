import type { Scalar } from './array-literal.ts';
import type { Session } from './database.ts';
import { TransactionConflict } from './faults.ts';
import { inOrder } from './lock-order.ts';
import { asGiven, runRows, unnested } from './parameters.ts';
import { createReservedIds, type Reservation } from './reserved-ids.ts';

/** A host of a batch: the address that it is, or the name of its domain; both null for a public suffix. */
export type HostParts = { domain: string | null; ip: Uint8Array | null };

/** `domainId`: as it is stored, which differs from the rules in rows of an older program. */
export type StoredHost = { id: number; domainId: number | null };

/** The hosts of a batch and their domains, found or with reserved ids. */
export type HostNames = {
  hosts: Map<string, StoredHost>;
  domains: Map<string, number>;
  newHosts: string[];
  newDomains: string[];
};

/** The names that a transaction has added. */
export type AddedNames = { hosts: ReadonlySet<string>; domains: ReadonlySet<string> };

/** What running transactions of this process are going to add. */
export function createReservedNames() {
  const [hosts, domains] = [createReservedIds(), createReservedIds()];
  return {
    open() {
      const reservation = { hosts: hosts.open(), domains: domains.open() };
      const close = () => {
        reservation.hosts.close();
        reservation.domains.close();
      };
      return { ...reservation, close };
    },
  };
}

export type ReservedNames = Record<'hosts' | 'domains', Reservation>;

/** Waits for a rebuild, and lets the next one wait, which needs a stronger lock (reputation/postgres/rebuild.ts). */
export const HOLD_HOSTS = 'lock table hosts in row exclusive mode';

const FIND_HOSTS = 'select host, id, domain_id from hosts where host = any($1::text[])';
const FIND_DOMAINS = 'select name, id from domains where name = any($1::text[])';

export async function findNames(session: Session, parts: ReadonlyMap<string, HostParts>): Promise<HostNames> {
  const names = new Set<string>();
  for (const { domain } of parts.values()) if (domain !== null) names.add(domain);
  const [hostRows, domainRows] = await inOrder([
    () => session.query<[string, number, number | null]>(FIND_HOSTS, [[...parts.keys()]]),
    async () => (names.size === 0 ? [] : session.query<[string, number]>(FIND_DOMAINS, [[...names]])),
  ]);
  const hosts = new Map(hostRows.map(([host, id, domainId]) => [host, { id, domainId }]));
  const domains = new Map(domainRows);
  const newHosts = [...parts.keys()].filter((host) => !hosts.has(host));
  return { hosts, domains, newHosts, newDomains: [...names].filter((name) => !domains.has(name)) };
}

/** Reserves again what other transactions have reserved; returns how many ids are missing. */
export function countMissing({ newHosts, newDomains }: HostNames, reserved: ReservedNames) {
  return { hosts: reserveAgain(newHosts, reserved.hosts), domains: reserveAgain(newDomains, reserved.domains) };
}

function reserveAgain(texts: readonly string[], reservation: Reservation): number {
  let missing = 0;
  for (const text of texts) {
    const id = reservation.find(text);
    if (id === undefined) missing++;
    else reservation.reserve(text, id);
  }
  return missing;
}

/** Sets the ids of new names. `ids`: as many as were missing. */
export function setIds(
  { hosts, domains, newHosts, newDomains }: HostNames,
  parts: ReadonlyMap<string, HostParts>,
  reserved: ReservedNames,
  ids: { hosts: number[]; domains: number[] },
): void {
  const [domainIds, hostIds] = [ids.domains.values(), ids.hosts.values()];
  for (const name of newDomains.sort()) domains.set(name, reservedId(name, reserved.domains, domainIds));
  for (const host of newHosts.sort()) {
    const domain = parts.get(host)?.domain ?? null;
    const domainId = domain === null ? null : (domains.get(domain) ?? null);
    hosts.set(host, { id: reservedId(host, reserved.hosts, hostIds), domainId });
  }
}

/** Another transaction may have reserved one meanwhile. */
function reservedId(text: string, reservation: Reservation, ids: Iterator<number>): number {
  const id = reservation.find(text) ?? (ids.next().value as number);
  reservation.reserve(text, id);
  return id;
}

/**
 * Waits for earlier transactions of this process that add some of the same names, and removes what they have added from the new
 * names. Throws if anybody else has added one: rows with other ids were written then.
 */
export async function afterSameNames(session: Session, names: HostNames, reserved: ReservedNames): Promise<void> {
  const [hosts, domains] = await Promise.all([reserved.hosts.afterSame(), reserved.domains.afterSame()]);
  if (hosts.length + domains.length === 0) return;
  const [hostRows, domainRows] = await inOrder([
    () => session.query<[string, number, number | null]>(FIND_HOSTS, [hosts]),
    () => session.query<[string, number]>(FIND_DOMAINS, [domains]),
  ]);
  const isSame =
    hostRows.every(([host, id]) => names.hosts.get(host)?.id === id) &&
    domainRows.every(([name, id]) => names.domains.get(name) === id);
  if (!isSame) throw new TransactionConflict('Another transaction has added the same hosts');
  const addedHosts = new Set(hostRows.map(([host]) => host));
  const addedDomains = new Set(domainRows.map(([name]) => name));
  names.newHosts = names.newHosts.filter((host) => !addedHosts.has(host));
  names.newDomains = names.newDomains.filter((name) => !addedDomains.has(name));
}

// In order of name: `setIds` has sorted them, and they are ASCII. With `on conflict`, `order by` and `returning` a host takes 15 µs
// instead of 9. If another process, or evidence, adds the same name, the insert fails, and the transaction is repeated.
const ADD_DOMAINS = `insert into domains (id, name, first_url_ts) select ${unnested('bigint', 'text', 'bigint')}`;

/** `firstUrlTs`: when a URL of the domain was first seen online. */
export function addNewDomains(
  session: Session,
  { newDomains, domains }: HostNames,
  firstUrlTs: ReadonlyMap<string, number | null>,
): Promise<number> {
  const rows: Scalar[][] = [];
  for (const name of newDomains) rows.push([domains.get(name) as number, name, firstUrlTs.get(name) ?? null]);
  return runRows(session, ADD_DOMAINS, rows, asGiven);
}

const ADD_HOSTS = `insert into hosts (id, host, domain_id, ip) select ${unnested('bigint', 'text', 'bigint', 'bytea')}`;

export function addNewHosts(
  session: Session,
  { newHosts, hosts }: HostNames,
  parts: ReadonlyMap<string, HostParts>,
): Promise<number> {
  const rows: Scalar[][] = [];
  for (const host of newHosts) {
    const { id, domainId } = hosts.get(host) as StoredHost;
    rows.push([id, host, domainId, parts.get(host)?.ip ?? null]);
  }
  return runRows(session, ADD_HOSTS, rows, asGiven);
}
