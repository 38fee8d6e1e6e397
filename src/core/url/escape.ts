/**
 * Escaping for paths and queries. In both, what no URI may contain (RFC 3986 section 3.3 and 3.4) is written as
 * escaped UTF-8 in upper case, and a `%` that begins no escape is written `%25`: every client must do so before sending.
 * Each part is done in one pass, so that nothing decoded can ever build a new escape.
 */

/** `?` never reaches a path, so one set of legal characters serves both. Everything else is escaped. */
const ILLEGAL_IN_PATH = /%(?![0-9A-Fa-f]{2})|[^!$%&'()*+,\-./0-9:;=?@A-Z_a-z~]/gu;
const ESCAPE_OR_ILLEGAL_IN_QUERY = /%[0-9A-Fa-f]{2}|[^!$&'()*+,\-./0-9:;=?@A-Z_a-z~]/gu;

const UNRESERVED = /^[A-Za-z0-9\-._~]$/;
const ESCAPE_LENGTH = 3;

/** Rule N12: escapes that are there stay as they are. `/a b%7e%2f100%` is `/a%20b%7e%2f100%25`. */
export function escapePath(path: string): string {
  return path.replace(ILLEGAL_IN_PATH, escapeCharacter);
}

/**
 * Rule N13, RFC 3986 section 6.2.2: escapes in upper case, those of unreserved characters decoded.
 * `x=%7e%2f` is `x=~%2F`; `%%37%45` is `%257E`, because its first `%` is a stray one.
 */
export function normalizeQuery(query: string): string {
  return query.replace(ESCAPE_OR_ILLEGAL_IN_QUERY, (found) =>
    found.length === ESCAPE_LENGTH ? normalizeEscape(found) : escapeCharacter(found),
  );
}

/** Leaves none of the characters alone that the expressions above find. Never throws: lone surrogates are refused before. */
function escapeCharacter(character: string): string {
  return encodeURIComponent(character);
}

function normalizeEscape(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
  return UNRESERVED.test(character) ? character : triplet.toUpperCase();
}
