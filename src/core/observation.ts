import { parseIp } from './ip/address.ts';
import { knownText, textFault } from './text.ts';
import { URL_ERRORS } from './url/errors.ts';
import { type NormalizedUrl, normalizeUrl, type UrlRefusal } from './url/normalize.ts';

/** The status in which a URL was seen. */
export type ObservedStatus = 'online' | 'offline' | 'removed';

/** An address of the URL's host, as sixteen sortable bytes (`core/ip/address.ts`), and its network if known. */
type ObservedAddress = { ip: Uint8Array; asn: number | null };

/** The details of a file; null: unknown. */
export type FileDetails = {
  mimeType: string | null;
  fileType: string | null;
  fileExt: string | null;
  fileSize: number | null;
  fileName: string | null;
  family: string | null;
};

export type ObservedPayload = FileDetails & { ts: number; sha256: string | null };

/** Details of a file, independent of any URL. */
export type FileReport = FileDetails & { sha256: string };

/** The part of an observation that changes a timeline. */
export type StatusObservation = { ts: number; status: ObservedStatus; removal: string; reporter: string };

/** At `ts`, `reporter` saw `url` in a status, and optionally its addresses and a file that it served. All values are normalized. */
export type Observation = {
  ts: number;
  url: string;
  host: string;
  /** null if only addresses or a payload were reported. */
  status: ObservedStatus | null;
  removal: string;
  reporter: string;
  addresses: ObservedAddress[];
  payload: ObservedPayload | null;
  /** Words about the URL, without a time; each spelling once. */
  tags: readonly string[];
};

/** An observation as a reporter gives it: texts are not normalized, unknown values are left out. */
export type ObservationInput = {
  ts: number;
  url: string;
  /** Default: online. */
  status?: ObservedStatus | null;
  /** Only with `removed`. */
  removal?: string;
  reporter?: string;
  ip?: string | readonly string[];
  /** The network of `ip`, or of the address that is the URL's host; only with exactly one address. */
  asn?: number;
  /** `ts` defaults to the observation's. */
  payload?: Partial<ObservedPayload>;
  tags?: readonly string[];
};

type ParsedObservation = { ok: true; observation: Observation } | { ok: false; reason: string };

/** The longest tag of a full dump of URLhaus has 60 characters; a longer text is no word. In code units. */
export const TAG_MAX_LENGTH = 128;

/** Rows of public dumps have up to 30 tags. Each one is a row in the database. */
export const MAX_TAGS = 64;

/** Most observations have no tags: they share this list. */
export const NO_TAGS: readonly string[] = [];

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Normalizes every value. A URL whose host is an address gets that address. A caller that has normalized the URL already
 * passes the result as `url`.
 */
export function toObservation(
  input: ObservationInput,
  url: NormalizedUrl | UrlRefusal = normalizeUrl(input.url),
): ParsedObservation {
  const { ts, status = 'online', removal = '', reporter = '', asn = null, payload } = input;
  if (!url.ok) return refused(`url: ${URL_ERRORS[url.error]}`);
  if (removal !== '' && status !== 'removed') return refused('removal is allowed only with status "removed"');
  const fault =
    textFaultOf('removal', removal) ??
    textFaultOf('reporter', reporter) ??
    (payload === undefined ? null : fileFaultOf(payload));
  if (fault !== null) return refused(fault);
  const sha256 = payload?.sha256?.toLowerCase() ?? null;
  if (sha256 !== null && !SHA256.test(sha256)) return refused('sha256: 64 hexadecimal digits are needed');
  const addresses = toAddresses(typeof input.ip === 'string' ? [input.ip] : (input.ip ?? []), url.ip, asn);
  if (typeof addresses === 'string') return refused(addresses);
  const tags = input.tags === undefined ? NO_TAGS : toTags(input.tags);
  if (typeof tags === 'string') return refused(tags);
  return {
    ok: true,
    observation: {
      ts,
      url: url.url,
      host: url.host,
      status,
      removal,
      reporter,
      addresses,
      payload: payload === undefined ? null : toPayload(payload, ts, sha256),
      tags,
    },
  };
}

/** null if every given value is empty. With a time alone it stays a payload: such payloads are stored and exported. */
function toPayload(given: Partial<ObservedPayload>, observedTs: number, sha256: string | null): ObservedPayload | null {
  const { ts = observedTs, mimeType, fileType, fileExt, fileSize = null, fileName, family } = given;
  const payload = {
    ts,
    mimeType: knownText(mimeType),
    fileType: knownText(fileType),
    fileExt: knownText(fileExt),
    fileSize,
    fileName: knownText(fileName),
    family: knownText(family),
    sha256,
  };
  const isEmpty = sha256 === null && Object.entries(payload).every(([key, value]) => key === 'ts' || value === null);
  return isEmpty && Object.keys(given).some((key) => key !== 'ts') ? null : payload;
}

/** Trimmed, without empty ones and duplicates; or the reason of a refusal. */
function toTags(given: readonly string[]): readonly string[] | string {
  const tags = distinctTags(given);
  for (const tag of tags) {
    const fault = tagFault(tag);
    if (fault !== null) return `tags: ${fault}`;
  }
  return tags.length > MAX_TAGS ? `tags: at most ${MAX_TAGS} tags` : tags;
}

/** Not more of them than are needed to say that they are too many. */
function distinctTags(given: readonly string[]): string[] {
  const tags: string[] = [];
  for (const text of given) {
    const tag = text.trim();
    if (tag === '' || tags.includes(tag)) continue;
    tags.push(tag);
    if (tags.length > MAX_TAGS) break;
  }
  return tags;
}

/** Why a tag cannot be stored; null if it can. */
export function tagFault(tag: string): string | null {
  return tag.length > TAG_MAX_LENGTH ? `at most ${TAG_MAX_LENGTH} characters each` : textFault(tag);
}

export const NO_DETAILS: FileDetails = {
  mimeType: null,
  fileType: null,
  fileExt: null,
  fileSize: null,
  fileName: null,
  family: null,
};

/** Why the details of a file cannot be stored; null when they can. */
function fileFaultOf(file: Partial<FileDetails>): string | null {
  const { mimeType, fileType, fileExt, fileName, family } = file;
  return (
    textFaultOf('mimeType', mimeType) ??
    textFaultOf('fileType', fileType) ??
    textFaultOf('fileExt', fileExt) ??
    textFaultOf('fileName', fileName) ??
    textFaultOf('family', family)
  );
}

function textFaultOf(name: string, text: string | null | undefined): string | null {
  const fault = text ? textFault(text) : null;
  return fault === null ? null : `${name}: ${fault}`;
}

/**
 * The given addresses and the one that is the host, without duplicates; or the reason of a refusal. `asn` is the network
 * of the only given address.
 */
function toAddresses(
  given: readonly string[],
  host: Uint8Array | null,
  asn: number | null,
): ObservedAddress[] | string {
  if (given.length === 0 && (host !== null || asn === null)) return host === null ? [] : [{ ip: host, asn }];
  const keys = new Map<string, Uint8Array>();
  for (const text of given) {
    const key = parseIp(text);
    if (key === null) return `ip: ${JSON.stringify(text)} is no IP address`;
    keys.set(key.join(), key);
  }
  const [onlyGiven] = keys.size === 1 ? keys.keys() : [];
  if (host !== null) keys.set(host.join(), host);
  if (asn !== null && onlyGiven === undefined) return 'asn is allowed only with exactly one address';
  return Array.from(keys, ([name, ip]) => ({ ip, asn: name === onlyGiven ? asn : null }));
}

function refused(reason: string): ParsedObservation {
  return { ok: false, reason };
}

/** The order at equal times. */
export const STATUS_ORDER: Record<ObservedStatus, number> = { online: 0, offline: 1, removed: 2 };

/** Oldest first; at equal times in `STATUS_ORDER`. */
export function byTime(a: StatusObservation, b: StatusObservation): number {
  return a.ts - b.ts || STATUS_ORDER[a.status] - STATUS_ORDER[b.status];
}
