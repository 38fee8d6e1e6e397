import type { UrlEntry } from '../content.ts';
import { type Format, TEXT_FORMAT } from './format.ts';
import { hostKey, urlParts } from './values.ts';

/** Squid splits longer lines (`CONFIG_LINE_LIMIT` of 2,048), and the second half would be an expression of its own. */
const LINE_MAX_LENGTH = 2_000;
/**
 * Squid joins expressions until they have more characters than this, and then starts again. If nothing is left to join at the
 * end, it warns, and compares with each expression separately.
 */
const JOINED_MAX_LENGTH = 1_024;

/** Squid warns about an empty file. RFC 2606: nobody has such a name. */
const NO_HOST = '.empty.invalid';
const NO_URL = '^http://empty\\.invalid/$';

const SPECIAL = /[\\^$.*+?()[\]{}|]/g;
const ENCODED = /%(?:%|(?!00)([0-9a-f]{2}))/gi;
const NOT_VISIBLE = /[^!-~]+/g;

export const SQUID: Format = {
  ...TEXT_FORMAT,
  name: 'squid',
  summary: 'Squid: the file of an acl of dstdomain (names) or url_regex (URLs)',
  hosts: {
    key: hostKey,
    // Squid refuses a name together with a parent of it.
    coversSubdomains: true,
    lines(keys) {
      const lines = [...keys].map((host) => `.${host}`);
      return lines.length === 0 ? [NO_HOST] : lines;
    },
  },
  urls: { key: urlExpression, lines: joinExpressions },
};

function urlExpression({ url }: UrlEntry): string | null {
  if (urlParts(url) === null) return null;
  const text = unescaped(url).replace(SPECIAL, '\\$&');
  // Blanks end an expression, and other bytes may be no text.
  const expression = `^${text.replace(NOT_VISIBLE, ({ length }) => `[^!-~]{${length}}`)}$`;
  return expression.length > LINE_MAX_LENGTH ? null : expression;
}

/** Squid compares with the URL after its `rfc1738_unescape`: `%20` is a blank there, `%%` is one percent sign, `%00` stays. */
function unescaped(url: string): string {
  return url.replace(ENCODED, (_, hex?: string) => (hex === undefined ? '%' : String.fromCharCode(parseInt(hex, 16))));
}

/** As many expressions on a line as fit: `squid -k parse` warns about more than a hundred lines. */
function joinExpressions(keys: Iterable<string>): string[] {
  const lines: string[] = [];
  let line = '';
  for (const key of keys) {
    if (line !== '' && line.length + 1 + key.length > LINE_MAX_LENGTH) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? key : `|${key}`;
  }
  if (line !== '') lines.push(line);
  if (leftToJoin(lines) === 0) lines.push(NO_URL);
  return lines;
}

function leftToJoin(lines: readonly string[]): number {
  let length = 0;
  for (const line of lines) length = length + line.length > JOINED_MAX_LENGTH ? 0 : length + line.length;
  return length;
}
