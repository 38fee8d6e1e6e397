import { badRequest } from '../../core/errors.ts';
import { parseIp } from '../../core/ip/address.ts';
import { URL_ERRORS } from '../../core/url/errors.ts';
import { normalizeUrl } from '../../core/url/normalize.ts';
import { refangHost, refangUrl } from '../../core/url/refang.ts';
import type { Format, ParsedRow } from '../sources/format.ts';
import { readLineItems } from '../sources/lines.ts';
import { firstColumn } from './ip-list.ts';

export const domainList: Format = {
  name: 'domain-list',
  summary: 'one host name or URL per line, or a hosts file, for --kind malware, botnetcc or phishing',
  hasEvidence: true,
  hasNoTimes: true,
  choices: { evidenceKind: true, isRequired: true },
  read(source, limits, { evidenceKind: kind, asOfTs: ts }) {
    let isFirst = true;
    return readLineItems(source, limits, (line) => {
      if (kind == null) throw new Error('domain-list needs the kind of its evidence');
      if (isFirst && DOCUMENT.test(line))
        throw badRequest(`${source.name}: This is a page or JSON, not one name per line`);
      isFirst = false;
      const names = namesOf(line.trim());
      if (names === null || typeof names === 'string') return names;
      return { evidence: names.map((domain) => ({ type: 'domain', domain, kind, ts })) };
    });
  },
};

/** Refused as a whole: in a page `window.location`, in a MISP warning list `"example.com",` would be names. */
const DOCUMENT = /^\s*(?:<(?:[!?]|html\b)|\{|\[\s*(?:$|["[{]))/i;

/**
 * `0.0.0.0 www.example.com`: a hosts file blocks names by giving them these addresses. The blanks end at `\S`: 20,000 of them
 * before a carriage return inside the line took a second, and a line may have a megabyte.
 */
const HOSTS_FILE = /^(?:0\.0\.0\.0|127\.0\.0\.1|::1?)\s+(\S.*)$/;
/** Names in every hosts file. */
const LOCAL_NAMES = /^(?:localhost(?:\..*)?|local|broadcasthost|ip6-.*|0\.0\.0\.0)$/i;
/** Such names have other addresses too: `fe80::1%lo0 localhost`, `255.255.255.255 broadcasthost`. */
const LOCAL_LINE = /^[0-9a-f.:]+(?:%\w+)?\s+(\S.*)$/i;
const URL_START = /^[a-z][a-z0-9+.-]*(?::|\[:\])\/\/|^[a-z]+\[:\/\/\]/i;
/**
 * A port or a path after the host. With `s`, because a dot does not match U+2028: a line with many slashes before one took
 * time in the square of its length.
 */
const END_OF_HOST = /[/:?].*$/s;

/** The names of a line; null for a comment, a string for the reason of a reject. */
function namesOf(line: string): string[] | Extract<ParsedRow, string> | null {
  const [, blocked] = HOSTS_FILE.exec(line) ?? [];
  if (blocked !== undefined) {
    const own = siteNames(blocked);
    return own.length === 0 ? null : own;
  }
  const [, local] = LOCAL_LINE.exec(line) ?? [];
  if (local !== undefined && LOCAL_NAMES.test(local.split(/\s/)[0] ?? '') && siteNames(local).length === 0) return null;
  if (URL_START.test(line)) return hostOf(line);
  const name = firstColumn(line);
  if (name === null) return null;
  const host = refangHost(name).replace(/^\*?\./, '');
  return [parseIp(host) === null ? host.replace(END_OF_HOST, '') : host];
}

/** The names of a line of a hosts file, without those of the machine itself. */
function siteNames(text: string): string[] {
  const names = text.replace(/#.*$/, '').trim().split(/\s+/);
  return names.filter((name) => name !== '' && !LOCAL_NAMES.test(name));
}

function hostOf(text: string): string[] | string {
  const url = normalizeUrl(refangUrl(text));
  return url.ok ? [url.host] : `url: ${URL_ERRORS[url.error]}`;
}
