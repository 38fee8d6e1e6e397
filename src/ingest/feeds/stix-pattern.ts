/** `file:hashes.'SHA-256' = '…'`, `url:value = '…'`: one comparison of equality with a string. */
const COMPARISON = /\s*([a-z0-9-]+:(?:'[^']*'|[^\s='])+)\s*=\s*'([^'\\]*(?:\\.[^'\\]*)*)'\s*/sy;
const URL_VALUE = 'url:value';
/** Each may be related to many files: a bound on what a single indicator can become. */
export const MAX_PATTERN_URLS = 1_000;

/**
 * The URLs of a STIX pattern that is one equality, or several joined by OR (STIX 2.1 section 9.2):
 * `[url:value = 'http://a.example/' OR url:value = 'http://b.example/']`, each also in brackets of its own. Alternatives
 * that are no URLs do not disturb. null for a pattern about URLs that says more than that.
 */
export function urlsOfPattern(pattern: string): string[] | null {
  if (!pattern.includes(URL_VALUE)) return [];
  const urls: string[] = [];
  let at = 0;
  let isOpen = false;
  const skip = (token: RegExp): boolean => {
    token.lastIndex = at;
    const isThere = token.test(pattern);
    if (isThere) at = token.lastIndex;
    return isThere;
  };
  do {
    if (!isOpen) isOpen = skip(/\s*\[/y);
    COMPARISON.lastIndex = at;
    const comparison = isOpen ? COMPARISON.exec(pattern) : null;
    if (comparison === null) return null;
    at = COMPARISON.lastIndex;
    const [, path, literal = ''] = comparison;
    if (path === URL_VALUE) urls.push(literal.replace(/\\(.)/gs, '$1'));
    if (skip(/\]\s*/y)) isOpen = false;
  } while (skip(/OR\b/y));
  return at === pattern.length && !isOpen && urls.length <= MAX_PATTERN_URLS ? urls : null;
}
