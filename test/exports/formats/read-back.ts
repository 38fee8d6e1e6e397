import assert from 'node:assert/strict';
import { splitRow } from '../../../src/core/csv.ts';

// Strict readers of the formats: a line that is not exactly as it should be is an error.

/** What any program takes for the end of a line, and all other control characters. */
const LINE_END = /\r\n|[\p{Cc}\u2028\u2029]/u;

type Kind = 'urls' | 'hosts' | 'addresses';
/** The URLs, names or networks of a line; URLs of some formats lack their scheme. */
type ReadLine = (line: string, kind: Kind) => readonly string[];

const match = (line: string, pattern: RegExp): string => {
  const found = pattern.exec(line);
  assert.ok(found !== null, `${JSON.stringify(line)} is not ${pattern}`);
  return found[1] ?? '';
};

const HEX = /\|([0-9a-f ]+)\|/g;
const NAME = '([a-z0-9._-]+)';

const READERS: Record<string, { comment: string | null; fixed?: readonly RegExp[]; read: ReadLine }> = {
  txt: { comment: '#', read: (line) => [match(line, /^([!-~]+)$/)] },
  hosts: { comment: '#', read: (line) => [match(line, new RegExp(`^0\\.0\\.0\\.0 ${NAME}$`))] },
  rpz: {
    comment: ';',
    fixed: [
      /^\$TTL 60$/,
      /^@ IN SOA localhost\. hostmaster\.localhost\. \d+ 300 60 604800 60$/,
      /^@ IN NS localhost\.$/,
    ],
    read: (line) => [match(line, new RegExp(`^(?:\\*\\.)?${NAME} IN CNAME \\.$`))],
  },
  unbound: {
    comment: '#',
    fixed: [/^server:$/],
    read: (line) => [match(line, new RegExp(`^    local-zone: "${NAME}\\." always_nxdomain$`))],
  },
  dnsmasq: { comment: '#', read: (line) => [match(line, new RegExp(`^local=/${NAME}/$`))] },
  squid: {
    comment: '#',
    fixed: [/^\.empty\.invalid$/, /^\^http:\/\/empty\\\.invalid\/\$$/],
    read: (line, kind) => (kind === 'hosts' ? [match(line, new RegExp(`^\\.${NAME}$`))] : squidUrls(line)),
  },
  suricata: { comment: '#', read: (line, kind) => [kind === 'hosts' ? suricataHost(line) : suricataUrl(line)] },
  'suricata-dataset': { comment: null, read: (line) => [Buffer.from(line, 'base64').toString()] },
  adblock: {
    comment: '!',
    read: (line, kind) => [match(line, kind === 'hosts' ? new RegExp(`^\\|\\|${NAME}\\^$`) : /^\|\|([!-~]+)\^\$all$/)],
  },
  csv: {
    comment: null,
    fixed: [/^(?:url|host|network),/],
    read: (line) => [splitRow(line)[0]?.replace(/^'(?=-)/, '') ?? ''],
  },
  ndjson: {
    comment: null,
    read: (line, kind) => [JSON.parse(line)[{ urls: 'url', hosts: 'host', addresses: 'network' }[kind]]],
  },
  nft: {
    comment: '#',
    fixed: [
      /^add table inet urlwarden$/,
      /^add set inet urlwarden ipv[46]_[a-z0-9_]+ \{ type ipv[46]_addr; flags interval; \}$/,
      /^flush set inet urlwarden ipv[46]_[a-z0-9_]+$/,
      /^add element inet urlwarden ipv[46]_[a-z0-9_]+ \{$/,
      /^\}$/,
    ],
    read: (line) => [match(line, /^ {4}([0-9a-f.:/]+),$/)],
  },
};

export const FORMAT_NAMES = Object.keys(READERS);

/** All values of a file, in their order. */
export function readBack(format: string, kind: Kind, text: string): string[] {
  const { comment, fixed = [], read } = READERS[format] ?? assert.fail(format);
  if (text === '') return [];
  const lines = text.split(LINE_END);
  assert.equal(lines.pop(), '', 'the last line has no end');
  return lines
    .filter((line) => comment === null || !line.startsWith(`${comment} `))
    .filter((line) => !fixed.some((pattern) => pattern.test(line)))
    .flatMap((line) => read(line, kind));
}

/** A URL as Squid compares it; what is no visible character there is a blank. */
export function decodedBySquid(url: string): string {
  return url.replace(/%(%|[0-9a-f]{2})/gi, (all, hex: string) => {
    if (hex === '%' || hex === '00') return hex === '%' ? '%' : all;
    return Buffer.from(hex, 'hex')
      .toString('latin1')
      .replace(/[^!-~]/, ' ');
  });
}

function squidUrls(line: string): string[] {
  const expressions = [...line.matchAll(/((?:\\.|[^|\\])+)(?:\||$)/gy)];
  assert.equal(expressions.map(([all]) => all).join(''), line);
  return expressions.map(([, expression = '']) => {
    const text = match(expression, /^\^([!-~]+)\$$/);
    const url = text.replace(/\[\^!-~\]\{(\d+)\}/g, (_, count) => ' '.repeat(count)).replace(/\\(.)/g, '$1');
    assert.ok(new RegExp(expression).test(url));
    return url;
  });
}

const SURICATA_END = 'priority:1; sid:1[0-9]{9}; rev:1;\\)$';

function suricataHost(line: string): string {
  const start = '^alert (?:dns|http|tls) any any -> any any \\(msg:"Urlwarden [a-z0-9-]+ [a-z ]+ [a-z0-9._-]+"; ';
  const flow = '(?:flow:established,to_server; )?(?:dns\\.query|http\\.host|tls\\.sni); dotprefix; ';
  return match(line, new RegExp(`${start}${flow}content:"\\.${NAME}";(?: nocase;)? endswith; ${SURICATA_END}`));
}

function suricataUrl(line: string): string {
  const content = 'content:"((?:[A-Za-z0-9._~/?=&%+,-]|\\|[0-9a-f ]+\\|)+)"; bsize:([0-9]+);';
  const pattern = new RegExp(
    `^alert http any any -> any any \\(msg:"Urlwarden [a-z0-9-]+ URL"; flow:established,to_server; ` +
      `http\\.host(?:\\.raw)?; ${content}(?: nocase;)? http\\.uri\\.raw; ${content} ${SURICATA_END}`,
  );
  const [, host = '', hostLength, path = '', pathLength] = pattern.exec(line) ?? assert.fail(line);
  const texts = [host, path].map((text) =>
    text.replace(HEX, (_, hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex').toString('latin1')),
  );
  assert.deepEqual(
    texts.map((text) => `${text.length}`),
    [hostLength, pathLength],
  );
  return texts.join('');
}
