import { parseNetwork } from '../src/core/ip/network.ts';
import { refangHost } from '../src/core/url/refang.ts';
import { DAY, dateText } from './format.ts';
import { encoded, type SearchName, withoutBrackets } from './query.ts';

// A search as the address of its page has it: one key and a window.

/** `since` and `until` in Unix seconds; null: what the server takes, twelve months before now and now. */
export type Search = { name: SearchName; value: string; since: number | null; until: number | null };

/** `typed`: what a search that is refused has in its form. */
type ReadSearch =
  | { search: Search; cost: number; problem: null }
  | { search: null; problem: string | null; typed: Search | null };

export const SEARCH_NAMES: Record<SearchName, { title: string; example: string; hint: string }> = {
  ip: {
    title: 'Address or network',
    example: '198.51.100.0/24',
    hint: 'URLs that were seen at an address, or anywhere in a network. A network counts as more than one query.',
  },
  host: { title: 'Host', example: 'bad.example', hint: 'URLs on exactly this host, without its subdomains.' },
  asn: { title: 'AS number', example: 'AS64500', hint: 'URLs that were seen at addresses of this operator.' },
  malware_family: { title: 'Malware family', example: 'Mirai', hint: 'URLs that served a file of this family.' },
  sha256: { title: 'SHA-256 of a file', example: '64 hexadecimal digits', hint: 'URLs that served exactly this file.' },
};

const NAMES = Object.keys(SEARCH_NAMES) as SearchName[];
/** Twelve digits are a date of the browser, whatever they are. */
const TS = /^\d{1,12}$/;
const ASN = /^(?:as)?(\d{1,10})$/i;
const SHA256 = /^[0-9a-f]{64}$/i;
const FAMILY_MAX_LENGTH = 128;

/** Without any key there is neither a search nor a problem: the page then shows the form. */
export function readSearch(query: URLSearchParams): ReadSearch {
  const names = NAMES.filter((name) => query.has(name));
  const [name] = names;
  if (name === undefined) return { search: null, problem: null, typed: null };
  if (names.length > 1 || query.getAll(name).length > 1)
    return {
      search: null,
      problem: 'This address names more than one thing. A search looks for exactly one.',
      typed: null,
    };
  const [since, until] = [readTs(query, 'since'), readTs(query, 'until')];
  const typed = { name, value: query.get(name) ?? '', since: since ?? null, until: until ?? null };
  if (since === undefined || until === undefined)
    return { search: null, problem: 'since and until in this address must be Unix seconds.', typed };
  return checkedSearch(typed);
}

function readTs(query: URLSearchParams, name: string): number | null | undefined {
  const text = query.get(name);
  if (text === null) return null;
  return TS.test(text) ? Number(text) : undefined;
}

/** The value in the form that the server takes. Hosts and family names are checked further by the server. */
export function checkedSearch(typed: Search): ReadSearch {
  const text = typed.value.trim();
  const found = (value: string, cost = 1): ReadSearch => ({ search: { ...typed, value }, cost, problem: null });
  const refused = (problem: string): ReadSearch => ({ search: null, problem, typed });
  if (text === '') return refused('Type what to search for.');
  if (typed.since !== null && typed.until !== null && typed.since > typed.until)
    return refused('The first day is after the last day.');
  switch (typed.name) {
    case 'ip': {
      const parsed = parseNetwork(withoutBrackets(refangHost(text)));
      return parsed.ok ? found(parsed.network.canonical, parsed.network.cost) : refused(NOT_A_NETWORK);
    }
    case 'asn': {
      const asn = ASN.exec(text)?.[1];
      return asn === undefined ? refused('An AS number is written as AS64500 or 64500.') : found(String(Number(asn)));
    }
    case 'sha256':
      return SHA256.test(text) ? found(text.toLowerCase()) : refused('A SHA-256 has 64 hexadecimal digits.');
    case 'host':
      return found(refangHost(text));
    case 'malware_family':
      return text.length <= FAMILY_MAX_LENGTH
        ? found(text)
        : refused(`The name of a family has at most ${FAMILY_MAX_LENGTH} characters.`);
  }
}

const NOT_A_NETWORK =
  'This is no address and no network. They are written as 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32.';

/** The address of the page, which can be shared. */
export function pathOf(search: Search): string {
  return `/search?${search.name}=${encoded(search.value)}${windowQuery(search)}`;
}

/** `&since=1762732800&until=1762819199`; a side that the server chooses is missing. */
export function windowQuery({ since, until }: Pick<Search, 'since' | 'until'>): string {
  return (since === null ? '' : `&since=${since}`) + (until === null ? '' : `&until=${until}`);
}

/** `URLs in 198.51.100.0/24`: the words before the value, and the value. */
export function titleOf({ name, value }: Search): [words: string, value: string] {
  switch (name) {
    case 'ip':
      return [value.includes('/') ? 'URLs in' : 'URLs at', value];
    case 'host':
      return ['URLs on', value];
    case 'asn':
      return ['URLs in', `AS${value}`];
    case 'malware_family':
      return ['URLs with the family', value];
    case 'sha256':
      return ['URLs with the file', value];
  }
}

/** The windows that have a button. `custom` is any other one. */
export type WindowName = '30-days' | '12-months' | 'all' | 'custom';

/** From the beginning of a day, so that the address stays the same for a day. */
const thirtyDaysBefore = (now: number): number => (Math.floor(now / DAY) - 30) * DAY;

export function windowName(since: number | null, until: number | null, now: number): WindowName {
  if (until !== null) return 'custom';
  if (since === null) return '12-months';
  if (since === 0) return 'all';
  return since === thirtyDaysBefore(now) ? '30-days' : 'custom';
}

export function windowOf(name: Exclude<WindowName, 'custom'>, now: number): Pick<Search, 'since' | 'until'> {
  return { since: { '30-days': thirtyDaysBefore(now), '12-months': null, all: 0 }[name], until: null };
}

/** `in the last 12 months`, `from 1 Oct 2026 to 31 Oct 2026`. */
export function windowText(since: number | null, until: number | null, now: number): string {
  switch (windowName(since, until, now)) {
    case '30-days':
      return 'in the last 30 days';
    case '12-months':
      return 'in the last 12 months';
    case 'all':
      return 'at any time';
    case 'custom':
      return `${since === null ? 'from 12 months ago' : `from ${dateText(since)}`} to ${until === null ? 'now' : dateText(until)}`;
  }
}

/** `2026-11-10` of a date field as its first or last second; null for an empty field. */
export function dayStart(day: string): number | null {
  const ms = Date.parse(day);
  return Number.isNaN(ms) ? null : ms / 1_000;
}

export function dayEnd(day: string): number | null {
  const start = dayStart(day);
  return start === null ? null : start + DAY - 1;
}
