import fc from 'fast-check';

/** Parts of URLs near the limits of the rules. Random characters alone almost never form a URL. */
const schemes = ['http://', 'HTTPS://', 'ftp://', ' http://', 'h\tttp://', 'http:/', 'hxxp://', ''];
const credentials = ['', '', '', 'u@', 'u:p@', '@', 'a@b@', '%40@', '[@', '\\@'];
const hosts = [
  'a.test',
  'A.TEST.',
  'a..test',
  '_x.a-b',
  'xn--a',
  'xn--9ca',
  'é.test',
  '日本。',
  'a\u00adb',
  'אב',
  '％41',
  '192.0.2.1',
  '127.1',
  '0x7f.1',
  '0x',
  '1.2.3.4.5',
  '09',
  '256.1',
  '%31',
  '%C3%A9',
  '%E9',
  '%2e',
  'a%2ftest',
  '[::1]',
  '[2001:DB8::]',
  '[::ffff:192.0.2.1]',
  '[1:0:0:2:0:0:0:3]',
  '[::1',
  '[::1]x',
  '[fe80::1%25e]',
  '',
];
const ports = ['', '', '', ':', ':80', ':443', ':21', ':0', ':08080', ':65535', ':65536', ':x'];
const atoms = [
  'a',
  'Z',
  '/',
  '//',
  '.',
  '..',
  '%',
  '%4',
  '%41',
  '%7e',
  '%2F',
  '%c3%a9',
  '%zz',
  ' ',
  '\t',
  '\\',
  '[',
  ']',
];
const rest = [
  ...atoms,
  '"',
  '<',
  '^',
  '`',
  '{',
  '|',
  '\u007f',
  '\u0001',
  'é',
  '日',
  '💩',
  '?',
  '#',
  '+',
  '&',
  '=',
  ';',
  '@',
];

const piece = (pieces: readonly string[]) => fc.constantFrom(...pieces);
const tail = fc
  .tuple(fc.constantFrom('', '/', '?', '#'), fc.array(piece(rest), { maxLength: 12 }))
  .map(([first, parts]) => first + parts.join(''));

/** A text similar to a URL. */
export const nearlyUrl = fc
  .tuple(piece(schemes), piece(credentials), piece(hosts), piece(ports), tail)
  .map((parts) => parts.join(''));

/** The same with random characters inserted at a random position. */
export const spliced = fc
  .tuple(nearlyUrl, fc.nat(), fc.string({ unit: 'binary', maxLength: 3 }))
  .map(([url, at, text]) => url.slice(0, at % (url.length + 1)) + text + url.slice(at % (url.length + 1)));

/** Mostly accepted URLs. */
const likelyUrl = fc
  .tuple(fc.constantFrom('http://', 'https://', 'FTP://'), piece(hosts.slice(0, 14)), piece(ports.slice(0, 10)), tail)
  .map((parts) => parts.join(''));

export const anyUrlText = fc.oneof(likelyUrl, nearlyUrl, spliced);
