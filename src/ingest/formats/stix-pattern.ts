/** One equality comparison with a string: `file:hashes.'SHA-256' = '…'`, `url:value = '…'`. */
const COMPARISON = /\s*([a-z0-9-]+:(?:'[^']*'|[^\s='])+)\s*=\s*'([^'\\]*(?:\\.[^'\\]*)*)'\s*/sy;
/** Properties whose values are used. */
const USED = ['url:value', 'domain-name:value', 'ipv4-addr:value', 'ipv6-addr:value'] as const;
/** Each value may be related to many objects: this bounds the output of one indicator. */
export const MAX_PATTERN_VALUES = 1_000;

type PatternValue = { property: (typeof USED)[number]; value: string };

/**
 * Extracts the values of a STIX pattern of equality comparisons joined by OR (STIX 2.1 section 9.2):
 * `[url:value = 'http://a.example/' OR domain-name:value = 'b.example']`, in one pair of brackets or in several.
 * Comparisons of other properties are ignored. Returns null if a pattern with a used property has any other operator.
 */
export function valuesOfPattern(pattern: string): PatternValue[] | null {
  if (!USED.some((property) => pattern.includes(property))) return [];
  const values: PatternValue[] = [];
  let at = 0;
  let isOpen = false;
  const skip = (token: RegExp): boolean => {
    token.lastIndex = at;
    const isFound = token.test(pattern);
    if (isFound) at = token.lastIndex;
    return isFound;
  };
  do {
    if (!isOpen) isOpen = skip(/\s*\[/y);
    COMPARISON.lastIndex = at;
    const comparison = isOpen ? COMPARISON.exec(pattern) : null;
    if (comparison === null) return null;
    at = COMPARISON.lastIndex;
    const [, path, literal = ''] = comparison;
    const property = USED.find((name) => name === path);
    if (property !== undefined) values.push({ property, value: literal.replace(/\\(.)/gs, '$1') });
    if (skip(/\]\s*/y)) isOpen = false;
  } while (skip(/OR\b/y));
  return at === pattern.length && !isOpen && values.length <= MAX_PATTERN_VALUES ? values : null;
}
