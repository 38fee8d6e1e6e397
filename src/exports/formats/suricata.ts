import { hash } from 'node:crypto';
import type { UrlEntry } from '../content.ts';
import { type Format, linesOf, TEXT_FORMAT } from './format.ts';
import { hostKey, listName, type UrlParts, urlParts } from './values.ts';

/**
 * Identifiers of rules are 1,000,000,000 to 1,999,999,999: above those of published rule sets, and below 2³¹, which some
 * databases of alerts take as the end. Four of them belong to one entry.
 */
const FIRST_SID = 1_000_000_000;
const ENTRY_SIDS = 4;
const SLOTS = 250_000_000;
/** 48 bits, which a number holds exactly. */
const HASH_BYTES = 6;

/** Suricata refuses longer rules (`DETECT_MAX_RULE_SIZE` of 8,192, with the end of the line). */
const RULE_MAX_LENGTH = 8_000;

const TAIL_LENGTH = ' priority:1; sid:1999999999; rev:1;)'.length;

export const SURICATA: Format = {
  ...TEXT_FORMAT,
  name: 'suricata',
  summary: 'Suricata 6 or newer: rules for DNS, HTTP and TLS (names) or HTTP (URLs)',
  hosts: { key: hostKey, coversSubdomains: true, lines: (keys, { name }) => rulesOf([...keys], name, hostRules) },
  urls: { key: urlKey, lines: (keys, { name }) => rulesOf([...keys], name, urlRules) },
};

/** Suricata compares whole names with it, so names below a name are not dropped. */
export const SURICATA_DATASET: Format = {
  ...TEXT_FORMAT,
  name: 'suricata-dataset',
  summary: 'Suricata: the file of a dataset of type string',
  comment: null,
  hosts: { key: hostKey, lines: (keys) => linesOf([], keys, (host) => Buffer.from(host).toString('base64')) },
};

type Rules = (key: string, list: string) => string[];

/** Rules without their identifiers. */
const hostRules: Rules = (host, list) => {
  const text = `dotprefix; content:".${host}";`;
  const tcp = 'flow:established,to_server;';
  return [
    rule('dns', list, `name ${host}`, `dns.query; ${text} nocase; endswith;`),
    rule('http', list, `host ${host}`, `${tcp} http.host; ${text} endswith;`),
    rule('tls', list, `server name ${host}`, `${tcp} tls.sni; ${text} nocase; endswith;`),
  ];
};

const urlRules: Rules = (url, list) => {
  const parts = urlParts(url);
  return parts === null ? [] : [urlRule(parts, list)];
};

function urlRule({ host, port, path }: UrlParts, list: string): string {
  // `http.host` has neither ports nor brackets.
  const isPlain = port === '' && !host.startsWith('[');
  const name = isPlain ? exactly('http.host', host) : `${exactly('http.host.raw', `${host}${port}`)} nocase;`;
  return rule('http', list, 'URL', `flow:established,to_server; ${name} ${exactly('http.uri.raw', path)}`);
}

/** FTP has no host in its requests. A URL with https is seen where TLS is decrypted before, as one with http: both are one rule. */
function urlKey({ url }: UrlEntry): string | null {
  const parts = urlParts(url);
  if (parts === null || parts.scheme === 'ftp') return null;
  return urlRule(parts, 'x'.repeat(64)).length + TAIL_LENGTH > RULE_MAX_LENGTH ? null : url.replace('https:', 'http:');
}

const rule = (protocol: string, list: string, what: string, match: string): string =>
  `alert ${protocol} any any -> any any (msg:"Urlwarden ${list} ${what}"; ${match}`;

const exactly = (buffer: string, text: string): string =>
  `${buffer}; content:"${text.replace(NOT_LITERAL, inHex)}"; bsize:${text.length};`;

/** `"`, `;`, `\`, `|` and `:` have a meaning in rules; few characters are certain to have none. */
const NOT_LITERAL = /[^A-Za-z0-9\-._~/?=&%+,]+/g;

const inHex = (text: string): string => `|${(Buffer.from(text).toString('hex').match(/../g) ?? []).join(' ')}|`;

function* rulesOf(keys: readonly string[], name: string, rules: Rules): Generator<string> {
  const list = listName(name);
  const slots = slotsOf(keys, list);
  for (const key of keys) {
    const sid = FIRST_SID + (slots.get(key) ?? 0) * ENTRY_SIDS;
    for (const [i, text] of rules(key, list).entries()) yield `${text} priority:1; sid:${sid + i}; rev:1;)`;
  }
}

/**
 * An entry keeps its identifiers while the list changes around it. Two lists have different ones for the same entry, because
 * Suricata refuses a rule whose identifier it knows; of two lists with 20,000 names, about ten are still the same. Of two
 * entries that want a slot, the first in the order of the alphabet gets it.
 */
function slotsOf(keys: readonly string[], list: string): Map<string, number> {
  const slots = new Map<string, number>();
  const taken = new Set<number>();
  for (const key of keys.toSorted()) {
    let slot = hash('sha256', `${list}\n${key}`, 'buffer').readUIntBE(0, HASH_BYTES) % SLOTS;
    while (taken.has(slot)) slot = (slot + 1) % SLOTS;
    taken.add(slot);
    slots.set(key, slot);
  }
  return slots;
}
