import { AppError } from '../../core/errors.ts';
import type { ListContent, ListKind } from '../content.ts';
import { ADBLOCK } from './adblock.ts';
import { type Format, kindsOf, type Writer } from './format.ts';
import { NFT } from './nft.ts';
import { HOSTS, TXT } from './plain.ts';
import type { Profile } from './profiles.ts';
import { DNSMASQ, RPZ, UNBOUND } from './resolvers.ts';
import { SQUID } from './squid.ts';
import { SURICATA, SURICATA_DATASET } from './suricata.ts';
import { CSV, NDJSON } from './tables.ts';
import { listName } from './values.ts';

export { type Format, kindsOf };

/** In the order of the documentation. */
export const FORMATS: readonly Format[] = [
  TXT,
  HOSTS,
  RPZ,
  UNBOUND,
  DNSMASQ,
  SQUID,
  SURICATA,
  SURICATA_DATASET,
  ADBLOCK,
  CSV,
  NDJSON,
  NFT,
];

export const formatsOf = (kind: ListKind): Format[] => FORMATS.filter((format) => format[kind] !== undefined);

/** Null: there is no such format, or lists of this kind do not have it. */
export const findFormat = (kind: ListKind, name: string): Format | null =>
  formatsOf(kind).find((format) => format.name === name) ?? null;

export function requireFormat(kind: ListKind, name: string): Format {
  const format = findFormat(kind, name);
  if (format === null) throw new AppError('not_found', `A list of ${kind} has no format ${name}`);
  return format;
}

export type RenderOptions = {
  /** The greatest number of entries, of which the newest are kept; null: all. */
  max: number | null;
  /** Only for a format that takes one. */
  profile: Profile | null;
};

/** A list as formats read it. Its entries are read once, one after the other. */
export type ListToRender = Omit<ListContent, 'kind' | 'entries'> & { kind: ListKind; entries: Iterable<unknown> };

export type RenderedList = Counts & {
  /** The bytes of the file, one piece after the other: as one text, a large list would be in memory several times. */
  pieces: Uint8Array[];
};

type Counts = {
  /** How many entries were written. */
  entries: number;
  /** Entries that the format or the device cannot express. */
  inexpressible: number;
  /** Entries that another one covers: the same text, or a parent of the name. */
  covered: number;
  /** Entries after the last one that was taken. */
  cut: number;
};

/** Room for the comments in a file of limited size. */
const COMMENTS_MAX_BYTES = 2_000;

const LINES_PER_PIECE = 1_000;

/** The bytes follow from the arguments alone, so they are equal on all nodes. */
export function renderList(content: ListToRender, format: Format, options: RenderOptions): RenderedList {
  const writer = format[content.kind];
  if (writer === undefined) throw new RangeError(`No list of ${content.kind} has the format ${format.name}`);
  // The kind of the entries and of the writer is the same one.
  const counts: Counts = { entries: 0, inexpressible: 0, covered: 0, cut: 0 };
  const taken = take(content, writer as Writer<unknown>, options, counts);
  const keys = writer.coversSubdomains ? withoutSubdomains([...taken], counts) : taken;
  const pieces = piecesOf(writer.lines(keys, content), format.lineEnd);
  // After the lines, because their keys are counted when they are read.
  const comments = format.comment === null ? [] : commentsOf(content, format, options, counts);
  const lines = comments.map((comment) => `${format.comment} ${comment}`);
  return { pieces: [...piecesOf(lines, format.lineEnd), ...pieces], ...counts };
}

function piecesOf(lines: Iterable<string>, lineEnd: string): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let some: string[] = [];
  const flush = () => {
    if (some.length > 0) pieces.push(Buffer.from(some.join(lineEnd) + lineEnd));
    some = [];
  };
  for (const line of lines) if (some.push(line) === LINES_PER_PIECE) flush();
  flush();
  return pieces;
}

/** What cannot be written takes no place. Names below others are dropped afterwards: their parent could be cut off. */
function* take(
  { entries, kind }: ListToRender,
  writer: Writer<unknown>,
  { max, profile }: RenderOptions,
  counts: Counts,
): Generator<string> {
  const maxKeys = Math.min(max ?? Number.POSITIVE_INFINITY, profile?.maxEntries[kind] ?? Number.POSITIVE_INFINITY);
  const maxBytes = (profile?.maxBytes ?? Number.POSITIVE_INFINITY) - COMMENTS_MAX_BYTES;
  const isUnique = writer.isUnique?.(profile) ?? false;
  const known = new Set<string>();
  let bytes = 0;
  for (const entry of entries) {
    const key = writer.key(entry, profile);
    if (key === null) counts.inexpressible++;
    else if (!isUnique && known.has(key)) counts.covered++;
    else if (counts.entries >= maxKeys || bytes + key.length + 1 > maxBytes) counts.cut++;
    else {
      if (!isUnique) known.add(key);
      counts.entries++;
      bytes += key.length + 1;
      yield key;
    }
    if (counts.cut > 0) bytes = Number.POSITIVE_INFINITY;
  }
}

function withoutSubdomains(hosts: readonly string[], counts: Counts): string[] {
  const all = new Set(hosts);
  const left = hosts.filter((host) => {
    for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
      if (all.has(host.slice(dot + 1))) return false;
    }
    return true;
  });
  counts.covered += hosts.length - left.length;
  counts.entries = left.length;
  return left;
}

/** In the comments of a list of hosts. */
const LACKS_NAME_LISTS =
  'No list of popular sites, shared sites or URL shorteners is imported: names that many people share may be on this list';

function commentsOf(
  { name, serial, leftOut, lacksNameLists }: ListToRender,
  format: Format,
  { max, profile }: RenderOptions,
  { entries, inexpressible, covered, cut }: Counts,
): string[] {
  const reasons = Object.entries(leftOut).sort(([a], [b]) => (a < b ? -1 : 1));
  const limits = [max === null ? [] : `max=${max}`, profile === null ? [] : `profile=${profile.name}`].flat();
  return [
    `Title: Urlwarden list ${listName(name)}`,
    `Format: ${format.name}`,
    `Entries: ${entries}${entries === 0 ? ' (the list is empty)' : ''}`,
    `Serial: ${serial}`,
    reasons.map(([reason, count]) => `Left out, ${reason}: ${count}`),
    lacksNameLists ? LACKS_NAME_LISTS : [],
    inexpressible === 0 ? [] : `Left out, not possible in this format: ${inexpressible}`,
    covered === 0 ? [] : `Covered by another entry: ${covered}`,
    cut === 0 ? [] : `Cut by ${limits.join(', ')}: ${cut} older ${cut === 1 ? 'entry is' : 'entries are'} missing`,
  ].flat();
}
