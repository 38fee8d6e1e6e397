import { parseIp } from './ip/address.ts';
import { textFault } from './text.ts';
import { URL_ERRORS } from './url/errors.ts';
import { type NormalizedUrl, normalizeUrl, type UrlRefusal } from './url/normalize.ts';

/** How a URL was seen; the order is the one that counts at equal times. */
export type ObservedStatus = 'online' | 'offline' | 'removed';

/** An address that the URL's host had, as sixteen sortable bytes (`core/ip.ts`), and its network where known. */
export type ObservedAddress = { ip: Uint8Array; asn: number | null };

export type ObservedPayload = FileDetails & { ts: number; sha256: string | null };

/** At `ts`, `reporter` saw `url` in a status, perhaps at some addresses, perhaps serving a file. All values are normal forms. */
export type Observation = {
  ts: number;
  url: string;
  host: string;
  /** null: the observation tells facts, but nothing about the status. */
  status: ObservedStatus | null;
  removal: string;
  reporter: string;
  addresses: ObservedAddress[];
  payload: ObservedPayload | null;
};

/** An observation as a reporter tells it: texts in any form, what is unknown left out. */
export type ObservationInput = {
  ts: number;
  url: string;
  /** Default: online. */
  status?: ObservedStatus | null;
  /** Only with `removed`. */
  removal?: string;
  reporter?: string;
  ip?: string | readonly string[];
  /** The network of `ip`, or of the address that is the URL's host; only where that is a single one. */
  asn?: number;
  /** `ts` defaults to the observation's. */
  payload?: Partial<ObservedPayload>;
};

export type ParsedObservation = { ok: true; observation: Observation } | { ok: false; reason: string };

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Brings every value to its normal form. A URL whose host is an address was seen at that address. Who has normalized
 * the same URL before may pass the result on.
 */
export function toObservation(
  input: ObservationInput,
  url: NormalizedUrl | UrlRefusal = normalizeUrl(input.url),
): ParsedObservation {
  const { ts, status = 'online', removal = '', reporter = '', asn = null, payload } = input;
  if (!url.ok) return refused(`url: ${URL_ERRORS[url.error]}`);
  if (removal !== '' && status !== 'removed') return refused('removal goes with the status "removed" only');
  const text =
    faultOf('removal', removal) ??
    faultOf('reporter', reporter) ??
    (payload === undefined ? null : faultOfFile(payload));
  if (text !== null) return refused(text);
  const sha256 = payload?.sha256?.toLowerCase() ?? null;
  if (sha256 !== null && !SHA256.test(sha256)) return refused('sha256: 64 hexadecimal digits are needed');
  const addresses = toAddresses(typeof input.ip === 'string' ? [input.ip] : (input.ip ?? []), url.ip, asn);
  if (typeof addresses === 'string') return refused(addresses);
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
      payload: payload === undefined ? null : { ...NO_DETAILS, ts, ...payload, sha256 },
    },
  };
}

const NO_DETAILS: FileDetails = {
  mimeType: null,
  fileType: null,
  fileExt: null,
  fileSize: null,
  fileName: null,
  family: null,
};

/** Why the details of a file cannot be kept; null when they can. */
export function faultOfFile(file: Partial<FileDetails>): string | null {
  const { mimeType, fileType, fileExt, fileName, family } = file;
  return (
    faultOf('mimeType', mimeType) ??
    faultOf('fileType', fileType) ??
    faultOf('fileExt', fileExt) ??
    faultOf('fileName', fileName) ??
    faultOf('family', family)
  );
}

function faultOf(name: string, text: string | null | undefined): string | null {
  const fault = text ? textFault(text) : null;
  return fault === null ? null : `${name}: ${fault}`;
}

/** The addresses told and the one that is the host, each once; or why they cannot be used. */
function toAddresses(told: readonly string[], host: Uint8Array | null, asn: number | null): ObservedAddress[] | string {
  if (told.length === 0 && host !== null) return [{ ip: host, asn }];
  const keys = new Map<string, Uint8Array>();
  for (const text of told) {
    const key = parseIp(text);
    if (key === null) return `ip: ${JSON.stringify(text)} is no IP address`;
    keys.set(key.join(), key);
  }
  const networked = [...keys.keys()].join(' ');
  if (host !== null) keys.set(host.join(), host);
  if (asn !== null && !keys.has(networked)) return 'asn needs exactly one address that it is the network of';
  return Array.from(keys, ([name, ip]) => ({ ip, asn: name === networked ? asn : null }));
}

function refused(reason: string): ParsedObservation {
  return { ok: false, reason };
}

/** What is known of a file; null where nobody has said. */
export type FileDetails = {
  mimeType: string | null;
  fileType: string | null;
  fileExt: string | null;
  fileSize: number | null;
  fileName: string | null;
  family: string | null;
};

/** What somebody knows of a file, whoever served it. */
export type FileReport = FileDetails & { sha256: string };

export type StatusObservation = { ts: number; status: ObservedStatus; removal: string; reporter: string };

/** At equal times online comes first and removed last. */
export const STATUS_ORDER: Record<ObservedStatus, number> = { online: 0, offline: 1, removed: 2 };

/** Orders observations as they count. */
export function byTime(a: StatusObservation, b: StatusObservation): number {
  return a.ts - b.ts || STATUS_ORDER[a.status] - STATUS_ORDER[b.status];
}
