import { parseIp } from '../core/ip/address.ts';
import { parseNetwork } from '../core/ip/network.ts';
import { percentDecoded } from '../core/text.ts';

// Parsers for the texts of settings. Each returns null for an invalid text.

export function readHost(text: string): string | null {
  return text === 'localhost' || parseIp(text) !== null ? text : null;
}

export function readPath(text: string): string | null {
  return text || null;
}

/** A `#` or `?` before the path is a character of the password that is not percent-encoded. */
const POSTGRES_URL = /^postgres(?:ql)?:\/\/[^/?#\s]+\/[^/?#,\s]+(?:\?[^#\s]*)?$/;
/** The driver parses the URL with its first host only. */
const FURTHER_HOSTS = /,[^@/]*(?=\/)/;

/**
 * Refuses what the driver would misread, and what it cannot parse: its exception would show the password. The driver
 * reports other errors when it connects.
 */
export function readPostgresUrl(text: string): string | null {
  const canBeParsed = percentDecoded(text) !== null && URL.canParse(text.replace(FURTHER_HOSTS, ''));
  return POSTGRES_URL.test(text) && canBeParsed ? text : null;
}

/** A comma also separates the hosts of one URL. */
export function readPostgresUrls(text: string): string[] | null {
  const urls = text.split(/,(?=postgres)/);
  return urls.every((url) => readPostgresUrl(url) !== null) ? urls : null;
}

/** In canonical form. Null also for /0, which would trust every address. */
export function readNetworks(text: string): string[] | null {
  const networks = text.split(',').map((part) => parseNetwork(part.trim()));
  const canonical = networks.map((parsed) => (parsed.ok ? parsed.network.canonical : '/0'));
  return canonical.some((network) => network.endsWith('/0')) ? null : canonical;
}

/** A password belongs in a file, not in a URL that other users of the machine can read. */
export function readHttpUrl(text: string): string | null {
  const url = URL.parse(text);
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  return isHttp && url.username === '' && url.password === '' ? text : null;
}

/** A decimal number from 0 to 1. */
export function readShare(text: string): number | null {
  const value = /^\d(?:\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  return value <= 1 ? value : null;
}

export function integerBetween(least: number, greatest: number) {
  return (text: string): number | null => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= greatest ? value : null;
  };
}

export function readSwitch(text: string): boolean | null {
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : null;
}

/** 127.0.0.0/8, ::1 or localhost. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const key = parseIp(host);
  if (key === null) return false;
  return LOOPBACKS.some((prefix) => prefix.every((byte, i) => key[i] === byte));
}

const LOOPBACKS = [
  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127],
  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
];
