/** Long names allow two typing errors, short ones only one: two errors turn `ad` into any word of four letters. */
const SHORT_NAME_LENGTH = 5;

/** A shorter beginning or end fits too many names. */
const PART_MIN_LENGTH = 3;

/**
 * ` Did you mean "urlhaus"?` if a candidate differs from the text by one or two characters, or is the only one that
 * begins with it, or the only one that ends with it (`json`: `ndjson`), otherwise ``. Names are compared as `fold` returns them.
 */
export function suggestion(typed: string, candidates: readonly string[], fold = (name: string) => name): string {
  const text = fold(typed);
  const { length } = text.replace(/^-+/, ''); // the dashes of a flag are rarely mistyped
  const maxDistance = length > SHORT_NAME_LENGTH ? 2 : 1;
  const [best] = candidates
    .map((name) => ({ name, distance: editDistance(text, fold(name)) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance);
  const name = best?.name ?? (length < PART_MIN_LENGTH ? undefined : onlyWithPart(text, candidates, fold));
  return name === undefined ? '' : ` Did you mean ${JSON.stringify(name)}?`;
}

/** A sentence about a name that does not exist, and the suggestion if there is one. */
export function withSuggestion(sentence: string, typed: string, candidates: readonly string[]): string {
  const hint = suggestion(typed, candidates);
  return hint === '' ? sentence : `${sentence}.${hint}`;
}

function onlyWithPart(text: string, candidates: readonly string[], fold: (name: string) => string): string | undefined {
  const longer = candidates.filter((name) => fold(name).startsWith(text));
  const found = longer.length > 0 ? longer : candidates.filter((name) => fold(name).endsWith(text));
  return found.length === 1 ? found[0] : undefined;
}

/** Characters to insert, delete or replace, and neighbours to swap (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (beforeLast[j - 2] ?? 0) + 1 : replaced;
      row.push(Math.min(replaced, swapped, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
