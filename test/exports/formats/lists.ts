import assert from 'node:assert/strict';
import { parseKeyNetwork } from '../../../src/core/ip/key-network.ts';
import type { AddressEntry, HostEntry, ListContent, UrlEntry } from '../../../src/exports/content.ts';
import { findFormat, type RenderedList, type RenderOptions, renderList } from '../../../src/exports/formats/formats.ts';

export const SERIAL = 1_790_000_000;

const ALL: RenderOptions = { max: null, profile: null };

export function render(
  content: ListContent,
  format: string,
  options: Partial<RenderOptions> = {},
): Omit<RenderedList, 'pieces'> & { text: string } {
  const found = findFormat(content.kind, format);
  assert.ok(found !== null, `${content.kind} as ${format}`);
  const { pieces, ...counts } = renderList(content, found, { ...ALL, ...options });
  return { ...counts, text: Buffer.concat(pieces).toString() };
}

const CONTENT = { name: 'test-list', serial: SERIAL, leftOut: {}, nextEndTs: null } as const;

export function hostList(hosts: readonly string[]): ListContent {
  return { ...CONTENT, kind: 'hosts', entries: hosts.map(hostEntry) };
}

function hostEntry(host: string): HostEntry {
  return {
    host,
    domain: host,
    score: -5,
    sinceTs: 1_788_000_000,
    seenTs: 1_789_000_000,
    families: ['Mirai', 'x,"y'],
    urls: 2,
  };
}

export function urlList(urls: readonly string[]): ListContent {
  return { ...CONTENT, kind: 'urls', entries: urls.map(urlEntry) };
}

function urlEntry(url: string): UrlEntry {
  const times = { sinceTs: 1_788_000_000, seenTs: 1_789_000_000 };
  const payload = { family: 'Mirai', sha256: 'ab'.repeat(32), tags: ['elf', 'x\r\n"y'] };
  return { url, id: 7, host: 'evil.example', status: 'online', ...times, reporter: '=1+1', ...payload };
}

export function addressList(networks: readonly string[]): ListContent {
  return { ...CONTENT, kind: 'addresses', entries: networks.map(addressEntry) };
}

export function addressEntry(text: string): AddressEntry {
  const network = parseKeyNetwork(text);
  assert.ok(network !== null, text);
  const times = { listedTs: 1_788_000_000, seenTs: 1_789_000_000, validUntilTs: 1_791_000_000 };
  return { network, dataset: 'BCL', ...times, family: 'Mirai', port: 443, sources: ['feodo', 'threatfox'] };
}

const LONG_LABEL = 'l'.repeat(300);

/** Names that no format may write: each would break a file, or mean something else there. */
export const HOSTILE_HOSTS = [
  '',
  '.',
  'a..example',
  '.evil.example',
  'evil.example.',
  'com',
  'localhost',
  'EVIL.example',
  'bücher.example',
  'evil.example\r\nlocal=/other.example/',
  'evil.example\u2028',
  'evil.example other.example',
  'evil.example#',
  'evil.example;x',
  'evil.example/x',
  'evil"quote.example',
  "evil'quote.example",
  'evil\\.example',
  'evil|pipe.example',
  'evil$dollar.example',
  'evil%percent.example',
  '*.example',
  '@',
  '$INCLUDE.example',
  'evil\u0000nul.example',
  '192.0.2.1',
  '0x7f.1',
  '[2001:db8::1]',
  `${LONG_LABEL}.example`,
  `${'a.'.repeat(130)}example`,
];

/** Names that look odd and are valid in the DNS. */
export const ODD_HOSTS = [
  '_dmarc.odd.example',
  '-x-.odd.example',
  'xn--bcher-kva.example',
  '1.odd.example',
  `${'l'.repeat(63)}.odd.example`,
  'in-addr.odd.example',
  'server.odd.example',
];

export const HOSTILE_URLS = [
  '',
  'evil.example/x',
  'javascript:alert(1)',
  'http://evil.example',
  'http://user:password@evil.example/x',
  'http://evil.example/a b',
  'http://evil.example/a\r\n.*',
  'http://evil.example/a\n||good.example^',
  'http://evil.example/a\u0000',
  'http://evil.example/a#fragment',
  'http://evil.example/bücher',
  'http://bücher.example/',
  'http://EVIL.example/',
  'http://evil"quote.example/',
  `http://evil.example/${'a'.repeat(9_000)}`,
];

/** Normalized, or nearly: formats write them or leave them out, and neither breaks a file. */
export const ODD_URLS = [
  'http://odd.example/a?b=$c&d=|e|',
  'http://odd.example/"quotes";\\backslash:colon',
  'http://odd.example/(a|b)*[c]+{1,2}?^$',
  'http://odd.example/$domain=good.example,third-party',
  'http://odd.example/%0d%0a%22%7C',
  "http://odd.example/it's,1;x=y!",
  'http://odd.example:8080/x',
  'https://[2001:db8::1]:8443/x',
  'ftp://odd.example/x',
  'http://192.0.2.1/x',
  'http://odd.example/##hidden'.replace('##', '%23%23'),
  `http://odd.example/${'b'.repeat(1_980)}`,
  `http://odd.example/${'.'.repeat(1_500)}`,
  `http://odd.example/${';'.repeat(3_000)}`,
  `http://odd.example/${'c'.repeat(8_000)}`,
];
