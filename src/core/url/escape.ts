/**
 * Escaping for paths and queries. Characters that are not allowed there (RFC 3986 sections 3.3 and 3.4) become escaped
 * UTF-8 in upper case, and a `%` that begins no escape becomes `%25`. Every client does this before it sends a request.
 * Each part is processed in one pass, so that decoded characters cannot form a new escape.
 */

/** A path contains no `?` after splitting, so paths and queries share one set of legal characters. */
const ILLEGAL_IN_PATH = /%(?![0-9A-Fa-f]{2})|[^!$%&'()*+,\-./0-9:;=?@A-Z_a-z~]/gu;
const ESCAPE_OR_ILLEGAL_IN_QUERY = /%[0-9A-Fa-f]{2}|[^!$&'()*+,\-./0-9:;=?@A-Z_a-z~]/gu;

const UNRESERVED = /^[A-Za-z0-9\-._~]$/;
const ESCAPE_LENGTH = 3;

/** Rule N12: existing escapes are not changed. `/a b%7e%2f100%` becomes `/a%20b%7e%2f100%25`. */
export function escapePath(path: string): string {
  return path.replace(ILLEGAL_IN_PATH, escapeCharacter);
}

/**
 * Rule N13, RFC 3986 section 6.2.2: escapes become upper case, and escaped unreserved characters are decoded.
 * `x=%7e%2f` becomes `x=~%2F`; `%%37%45` becomes `%257E`, because its first `%` begins no escape.
 */
export function normalizeQuery(query: string): string {
  return query.replace(ESCAPE_OR_ILLEGAL_IN_QUERY, (found) =>
    found.length === ESCAPE_LENGTH ? normalizeEscape(found) : escapeCharacter(found),
  );
}

/** Escapes every character that the expressions above match. Never throws: rule N2 has refused unpaired surrogates. */
function escapeCharacter(character: string): string {
  return encodeURIComponent(character);
}

function normalizeEscape(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
  return UNRESERVED.test(character) ? character : triplet.toUpperCase();
}
