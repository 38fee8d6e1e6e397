import type { Awaitable } from '../core/awaitable.ts';
import { registrableDomain } from '../core/domain-name.ts';
import { DOMAIN_KINDS, type DomainEvidence, type DomainFact, type DomainKind } from '../core/evidence.ts';
import { compareTexts } from '../core/text.ts';
import { PAGE_ROWS, rowPages } from '../database/pages.ts';
import { type EvidenceValues, exportedEvidence, toEvidenceRow } from './domain-rules.ts';
import type { ReputationStore } from './store.ts';

// Each row begins with the key by which its pages are read.

type EvidenceKey = [sourceId: number, kind: number, hostId: number];
type AddressKey = [hostId: number, ip: Uint8Array, day: number];
type ServerKey = [hostId: number, day: number];
type SenderKey = [ip: Uint8Array, helo: string];
type RankKey = [name: string, sourceId: number];

export type EvidenceExportRow = [...EvidenceKey, source: string, hostname: string, ...EvidenceValues];
/** Of facts only: addresses from URLs are exported with the URLs. */
export type AddressExportRow = [...AddressKey, hostname: string, ts: number];
export type ServerExportRow = [...ServerKey, hostname: string, ts: number];
export type SenderExportRow = [...SenderKey, ts: number];
export type WhoisExportRow = [ts: number, createdTs: number | null, expiresTs: number | null, registrar: string | null];
export type RankExportRow = [...RankKey, source: string, rank: number, ts: number];

type ReadPage<Row, Key> = (domainId: number, after: Key) => Awaitable<Row[]>;

/** The rows of a domain, in pages by key: the next `PAGE_ROWS` after `after`. */
type DomainRows = {
  evidence: ReadPage<EvidenceExportRow, EvidenceKey>;
  addresses: ReadPage<AddressExportRow, AddressKey>;
  servers: ReadPage<ServerExportRow, ServerKey>;
  senders: ReadPage<SenderExportRow, SenderKey>;
  whois(domainId: number): Awaitable<WhoisExportRow | undefined>;
};

/** Keys before all others. */
export const FIRST_EVIDENCE: EvidenceKey = [-1, 0, 0];
export const FIRST_ADDRESS: AddressKey = [-1, new Uint8Array(0), 0];
export const FIRST_SERVER: ServerKey = [-1, 0];
export const FIRST_SENDER: SenderKey = [new Uint8Array(0), ''];
const FIRST_RANK: RankKey = ['', 0];

export type ExportedDomain = [name: string, id: number];

type DomainExportReads = {
  /** The next `PAGE_ROWS` domains in order of name. */
  domains(after: string): Awaitable<ExportedDomain[]>;
  /** `domains`: the next page, in its order. An engine may read for several of them at once. */
  rowsOf(domains: readonly ExportedDomain[]): Awaitable<DomainRows>;
  /** The next `PAGE_ROWS` ranks of all domains, in order of name and source id. */
  ranks(after: RankKey): Awaitable<RankExportRow[]>;
};

type Item = DomainEvidence | DomainFact;

/**
 * For each domain, in order of name: its evidence by host name, source and kind; its addresses by host name, address and
 * day; its name servers by name and day; its senders by address and name; its registration. Then the ranks of all domains
 * by name and source. Ids decide nothing, because they differ from store to store. At most the rows of one domain and one
 * table are in memory, where they are sorted.
 */
export function createDomainExport(reads: DomainExportReads): ReputationStore['exportDomains'] {
  return async function* exportDomains() {
    let page: Item[] = [];
    for await (const items of allItems(reads)) {
      for (const item of items) page.push(item);
      if (page.length < PAGE_ROWS) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  };
}

async function* allItems(reads: DomainExportReads): AsyncGenerator<Item[], void, void> {
  for await (const domains of rowPages(reads.domains, '', ([name]) => name)) {
    const rows = await reads.rowsOf(domains);
    for (const [name, id] of domains) yield* itemsOf(name, id, rows);
  }
  yield* rankItems(reads);
}

async function* itemsOf(domain: string, id: number, rows: DomainRows): AsyncGenerator<Item[], void, void> {
  yield await evidenceItems(domain, id, rows);
  yield await addressItems(domain, id, rows);
  yield await serverItems(domain, id, rows);
  yield await senderItems(domain, id, rows);
  yield await whoisItems(domain, id, rows);
}

async function evidenceItems(domain: string, id: number, { evidence }: DomainRows): Promise<Item[]> {
  const rows = await allRows((after) => evidence(id, after), FIRST_EVIDENCE);
  rows.sort((a, b) => compareTexts(a[4], b[4]) || compareTexts(a[3], b[3]) || a[1] - b[1]);
  return rows.flatMap(([, kind, , source, hostname, ...values]) =>
    exportedEvidence(
      { source, name: { hostname, domain }, kind: DOMAIN_KINDS[kind] as DomainKind },
      toEvidenceRow(values),
    ),
  );
}

async function addressItems(domain: string, id: number, { addresses }: DomainRows): Promise<Item[]> {
  const rows = await allRows((after) => addresses(id, after), FIRST_ADDRESS);
  rows.sort((a, b) => compareTexts(a[3], b[3]) || Buffer.compare(a[1], b[1]) || a[2] - b[2]);
  return rows.map(([, ip, , hostname, ts]) => ({ ts, name: { hostname, domain }, kind: 'a', ips: [ip] }));
}

async function serverItems(domain: string, id: number, { servers }: DomainRows): Promise<Item[]> {
  const rows = await allRows((after) => servers(id, after), FIRST_SERVER);
  rows.sort((a, b) => compareTexts(a[2], b[2]) || a[1] - b[1]);
  return rows.map(([, , server, ts]) => ({
    ts,
    name: { hostname: domain, domain },
    kind: 'ns',
    servers: [{ hostname: server, domain: registrableDomain(server) ?? server }],
  }));
}

async function senderItems(domain: string, id: number, { senders }: DomainRows): Promise<Item[]> {
  const rows = await allRows((after) => senders(id, after), FIRST_SENDER);
  rows.sort((a, b) => Buffer.compare(a[0], b[0]) || compareTexts(a[1], b[1]));
  return rows.map(([ip, helo, ts]) => ({ ts, name: { hostname: domain, domain }, kind: 'sender', ip, helo }));
}

async function whoisItems(domain: string, id: number, { whois }: DomainRows): Promise<Item[]> {
  const row = await whois(id);
  if (row === undefined) return [];
  const [ts, createdTs, expiresTs, registrar] = row;
  return [{ ts, name: { hostname: domain, domain }, kind: 'whois', createdTs, expiresTs, registrar }];
}

async function* rankItems({ ranks }: DomainExportReads): AsyncGenerator<Item[], void, void> {
  let ofLastName: RankExportRow[] = [];
  for await (const rows of rowPages(ranks, FIRST_RANK, ([name, sourceId]): RankKey => [name, sourceId])) {
    const last = rows.at(-1)?.[0];
    const all = [...ofLastName, ...rows];
    ofLastName = all.filter(([name]) => name === last);
    yield sortedRanks(all.filter(([name]) => name !== last));
  }
  yield sortedRanks(ofLastName);
}

function sortedRanks(rows: RankExportRow[]): Item[] {
  rows.sort((a, b) => compareTexts(a[0], b[0]) || compareTexts(a[2], b[2]));
  return rows.map(([domain, , source, rank, ts]) => ({
    ts,
    name: { hostname: domain, domain },
    kind: 'rank',
    source,
    rank,
  }));
}

/** A row begins with its key. */
async function allRows<Row extends unknown[], Key extends unknown[]>(
  read: (after: Key) => Awaitable<Row[]>,
  first: Key,
): Promise<Row[]> {
  const all: Row[] = [];
  const keyOf = (row: Row) => row.slice(0, first.length) as Key;
  for await (const rows of rowPages(read, first, keyOf)) for (const row of rows) all.push(row);
  return all;
}
